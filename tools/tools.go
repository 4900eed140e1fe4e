// Package tools is what a model may do; one tool is one .go and one .md.
//
// Does: describe the tools to a model, turn a call's arguments into an action for the gate and then into work.
//
// Does not: decide (permit does), judge or open a file (workspace does), ask, know a model, or write to the database:
// what reaches upward goes through [Desk].
//
// Imports: tools/allowance, tools/content, tools/git, tools/offer, tools/permit, tools/permit/filenames,
// tools/permit/programs, tools/picture, tools/proc, tools/sample, tools/sandbox, tools/search, tools/secret,
// tools/spelling, tools/workspace.
package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"fantail/tools/permit"
	"fantail/tools/picture"
)

// Spec describes a tool to a model. Schema is a JSON Schema object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	ReadOnly    bool // calls may run in parallel with other read-only calls
}

// Call is a parsed call: what it would do, and how to do it. Run must not be
// called before the gate allowed Action; it runs again, with more in Leave, where
// the human gives a command what its sandbox kept it from. Start, if there is one, is called
// before it, for neighbours in their order. With Asks there is no Run: the human's
// answer is the result.
type Call struct {
	Action  permit.Action
	Leave   *Leave          // what its command may do beyond its profile; nil: it runs none
	Touches func() []string // the files and directories of the workspace that its command names, resolved; nil: Action has them
	Beside  string          // neighbours with the same word here may run side by side; "": alone
	Start   func(ctx context.Context)
	Run     func(ctx context.Context) Result
	Asks    *Question
}

// Touched are the files and directories of the workspace that it had to do with, resolved. Call it once it has run: what a
// command made is there then.
func (c *Call) Touched() []string {
	switch {
	case c.Touches != nil:
		return c.Touches()
	case c.Action.Kind == permit.Read || c.Action.Kind == permit.Write:
		return c.Action.Paths
	}
	return nil
}

// Result is what a call gives the model and the screen. A tool never returns a
// Go error: what went wrong is text for the model with Error set.
type Result struct {
	Text  string
	Error bool
	Diff  string // unified diff of an edit, for the screen
	File  string // the file with the whole output, if Text is cut
	Exit  *int   // a command's exit code
	Shows []picture.Image
	Entry int64 // for a tool that takes mail: the entry its take already appended; 0: none

	Refused *Refusal // what a command's sandbox seems to have kept it from; nil: nothing
}

// Leave is what a command may do beyond its profile.
type Leave struct {
	permit.Leave
	Free bool   // it runs as the user, in no sandbox
	Mail string // the directory through which its mail leaves; "": it has none
}

// Refusal is what a sandbox seems to have kept a command from, by the command's own words: good for
// a question to the human, and for nothing else.
type Refusal struct {
	Rule permit.Rule // what would have to be added
	Says string      // what it was kept from: "changing a/b"
}

// tool is one tool. parse gets whole JSON; title gets whatever the model sent.
type tool struct {
	name     string
	text     string // its .md
	schema   string
	readOnly bool              // its calls may run side by side
	writes   bool              // its arguments become what stands in a file
	offered  func() bool       // whether models are told of it now; nil: always
	spelt    map[string]string // other names of its arguments -> their own
	parse    func(c call) (*Call, error)
	title    func(a loose) string
}

// call is what parse works on.
type call struct {
	env   *Env
	id    string
	tool  *tool
	args  json.RawMessage
	title string
}

// action is the call's action without what it touches.
func (c call) action(k permit.Kind) permit.Action {
	return permit.Action{Tool: c.tool.name, Kind: k, Title: c.title, Dir: c.env.Root}
}

// fail is a result that tells the model what went wrong.
func fail(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}
