package tools

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sample"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
	"fantail/tools/workspace"
)

// Env is where one agent's tools work. One Env belongs to one agent.
type Env struct {
	Root    string                           // the workspace, absolute and resolved
	Private []string                         // directories and files no tool may open (database, sockets, configuration)
	Outputs string                           // the directory of this agent's tool-output files; readable by read_file
	Environ []string                         // for commands
	Umask   proc.Umask                       // of the files that commands and tools make
	Keys    *secret.Keys                     // what nothing is shown of; nil: none
	Desk    Desk                             // what reaches upward
	Tick    func(callID string, tail string) // a command's latest output

	// Ask puts a question of what a call runs to the human; nil: nobody is there to answer. Sample puts one to the model.
	Ask     func(ctx context.Context, callID, title string, q Question) (string, error)
	Sample  sample.Func
	Aside   func(why string) (back func(ctx context.Context) error) // lets go of the agent's slot until back; nil: it has none
	Hurry   <-chan struct{}                                         // once it is closed, commands that are to end get only a moment for it; nil: a call's end hurries
	Shelf   Shelf                                                   // what files bring that calls may name; nil: nothing
	Seen    *workspace.Seen                                         // which files were read, and how they were then
	Changes *permit.Changes                                         // where it is noted what these tools write and run; nil: nowhere
	Barred  func(path string) string                                // why searches pass over a path, absolute and without links; nil: over none

	// Box makes the sandbox for a command of these tools; nil: there is none.
	Box func(leave sandbox.Leave) (*sandbox.Box, error)

	// Check finds a command that the agent may run by its name; nil: it may run none.
	Check func(name string) (Check, error)

	// Guards says why writing the file of that path asks in every mode, beside what its name tells; nil: of none.
	Guards func(abs string) string

	Ahead *proc.Ahead // where commands wait that were started ahead; nil: nowhere

	Keep func(proc.Group) func() // has a command's group ended if this program dies; nil: nobody does

	// Started records a command before it runs; an error keeps it from running.
	Started func(ctx context.Context, callID, output string, g proc.Group) error
}

// tree is the files as this agent's tools may touch them.
func (e *Env) tree() *workspace.Tree {
	return &workspace.Tree{Root: e.Root, Private: e.Private, Outputs: e.Outputs, Home: e.home(), Umask: e.Umask, Guards: e.Guards, Barred: e.Barred}
}

// save writes a file and notes that an agent's tool did: before the write and after it, so that no decision falls in between.
func (e *Env) save(t workspace.Target, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	e.Changes.Wrote(t.Abs)
	defer e.Changes.Wrote(t.Abs)
	return e.tree().Save(t, data, old)
}

// home is the user's home directory, "" if unknown.
func (e *Env) home() string {
	for _, v := range e.Environ {
		if h, ok := strings.CutPrefix(v, "HOME="); ok && h != "" {
			return h
		}
	}
	h, _ := os.UserHomeDir()
	return h
}

// path is the list of directories that programs are looked for in.
func (e *Env) path() (dirs string) { return e.lookup("PATH") }

// lookup is a variable of the commands' environment, "" if it is not set.
func (e *Env) lookup(name string) (value string) {
	for _, v := range e.Environ {
		if n, of, _ := strings.Cut(v, "="); n == name {
			value = of
		}
	}
	return value
}
