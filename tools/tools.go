// Package tools implements the tools of a model. Each is one .go file and one .md file with its description for the
// model.
//
// A tool asks package permission before it acts. The services of agents for tools (push, send, ask) come through an
// interface that agents satisfy.
package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"fantail/tools/files"
	"fantail/tools/permission"
)

// Spec describes a tool to a model. Schema is a JSON Schema object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	ReadOnly    bool // calls may run concurrently with other read-only calls
}

// Call is a parsed call: what it would do, and how to do it. Run must not be called before the gate allowed Action. It
// runs again, with more in Leave, if the human grants a command what its sandbox refused. Start, if there is one, is
// called before Run, in the order of the calls. With Asks there is no Run: the human's answer is the result.
type Call struct {
	Action  permission.Action
	Leave   *Leave          // its command's rights beyond the profile; nil: it runs none
	Touches func() []string // the files and directories of the workspace that its command names, resolved; nil: Action has them
	Beside  string          // neighbours with the same word here may run side by side; "": alone
	Start   func(ctx context.Context)
	Run     func(ctx context.Context) Result
	Asks    *Question
	Was     string // the command that the model asked for, if the human changed it; "": they did not
}

// Touched are the files and directories of the workspace that the call worked with, resolved. Call it after Run: then
// the files that a command made exist.
func (c *Call) Touched() []string {
	switch {
	case c.Touches != nil:
		return c.Touches()
	case c.Action.Kind == permission.Read || c.Action.Kind == permission.Write:
		return c.Action.Paths
	}
	return nil
}

// Result is a call's result for the model and the screen. A tool never returns a Go error: an error is text for the
// model with Error set.
type Result struct {
	Text  string
	Error bool
	Title string // what ran, if it is not what the model asked for
	Lacks string // what its sandbox kept from a command that ended with exit code 0, for the screen
	Diff  string // unified diff of an edit, for the screen
	File  string // the file with the whole output, if Text is cut
	Exit  *int   // a command's exit code
	Shows []files.Picture
	Entry int64 // for a tool that takes mail: the entry that the take appended; 0: none

	Refused *Refusal // what a command's sandbox seems to have refused; nil: nothing
}

// Leave is what a command may do beyond its profile.
type Leave struct {
	permission.Leave
	Free bool   // it runs as the user, in no sandbox
	Mail string // the directory for its outgoing mail; "": none
}

// Refusal is what a sandbox seems to have refused, according to the command's own output: it may lead to a question to
// the human, and to nothing else.
type Refusal struct {
	Rule permission.Rule // the rule that would allow it
	Says string          // what was refused: "changing a/b"
}

// tool is one tool. parse gets whole JSON; title gets whatever the model sent.
type tool struct {
	name     string
	text     string // its .md
	schema   string
	readOnly bool              // its calls may run side by side
	writes   bool              // its arguments become a file's content
	offered  func() bool       // whether models see it now; nil: always
	spelt    map[string]string // other names of its arguments -> their own
	parse    func(c call) (*Call, error)
	title    func(a loose) string
}

// call is the input of parse.
type call struct {
	env   *Runtime
	id    string
	tool  *tool
	args  json.RawMessage
	title string
}

// action is the call's action, without its paths.
func (c call) action(k permission.Kind) permission.Action {
	return permission.Action{Tool: c.tool.name, Kind: k, Title: c.title, Dir: c.env.Root}
}

// fail is an error result for the model.
func fail(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}
