package tools

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// Runtime is where one agent's tools work. One Env belongs to one agent.
type Runtime struct {
	Root    string                           // the workspace, absolute and resolved
	Private []string                         // directories and files no tool may open (database, sockets, configuration)
	Outputs string                           // the directory of this agent's tool-output files; readable by read_file
	Environ []string                         // for commands
	Umask   proc.Umask                       // of the files that commands and tools make
	Keys    *secret.Keys                     // keys that are removed from results; nil: none
	Agents  Agents                           // the agents
	Tick    func(callID string, tail string) // a command's latest output

	// Ask puts a call's question to the human; nil: no one can answer. Sample puts one to the model.
	Ask     func(ctx context.Context, callID, title string, q Question) (string, error)
	Sample  Sampler
	Aside   func(why string) (back func(ctx context.Context) error) // releases the slot until back; nil: none
	Hurry   <-chan struct{}                                         // once closed, ending commands get only a moment
	Skills  Skills                                                  // skills and agents from files; nil: none
	Seen    *files.Seen                                             // which files were read, and how they were then
	Changes *permission.Changes                                     // records writes and commands; nil: none
	Barred  func(path string) string                                // why searches pass over a path, absolute and without links; nil: over none

	// Box makes the sandbox for a command of these tools; nil: there is none.
	Box func(leave sandbox.Leave) (*sandbox.Box, error)

	// Check finds a command that the agent may run by its name; nil: it may run none.
	Check func(name string) (Check, error)

	// Guards says why writing the file of that path asks in every mode, besides the reasons in its name; nil: there are
	// none.
	Guards func(abs string) string

	Ahead *proc.Ahead // where commands wait that were started ahead; nil: nowhere

	Keep func(proc.Group) func() // has a command's group ended if this program dies; nil: it is not

	// Started records a command before it runs; after an error it does not run.
	Started func(ctx context.Context, callID, output string, g proc.Group) error
}

// tree is the files as this agent's tools may touch them.
func (e *Runtime) tree() *files.Tree {
	return &files.Tree{Root: e.Root, Private: e.Private, Outputs: e.Outputs, Home: e.home(), Umask: e.Umask, Guards: e.Guards, Barred: e.Barred}
}

// save writes a file and records that an agent's tool did: before the write and after it, so that no decision falls in
// between.
func (e *Runtime) save(t files.Target, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	e.Changes.Wrote(t.Abs)
	defer e.Changes.Wrote(t.Abs)
	return e.tree().Save(t, data, old)
}

// home is the user's home directory, "" if unknown.
func (e *Runtime) home() string {
	for _, v := range e.Environ {
		if h, ok := strings.CutPrefix(v, "HOME="); ok && h != "" {
			return h
		}
	}
	h, _ := os.UserHomeDir()
	return h
}

// path is the list of directories with programs.
func (e *Runtime) path() (dirs string) { return e.lookup("PATH") }

// lookup is a variable of the commands' environment, "" if it is not set.
func (e *Runtime) lookup(name string) (value string) {
	for _, v := range e.Environ {
		if n, of, _ := strings.Cut(v, "="); n == name {
			value = of
		}
	}
	return value
}
