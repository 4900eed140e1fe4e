package cli

import (
	"fmt"
	"os"
	"slices"

	"fantail/store/paths"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/ui/workspace"
)

// source says what started the process of a sub-command.
type source int

const (
	free  source = iota // a shell, a script or another program of the human's
	below               // a host, outside of a sandbox: it is an agent's command
	boxed               // a host, in the sandbox of an agent's command
)

// ownSource returns the source of this process. It asks the system for the parent processes,
// because a program could change an environment variable. A host checks its callers itself; only an
// errand that goes to the database directly relies on this.
func ownSource(env func(string) string, data string) source {
	if env(sandbox.MailEnv) != "" {
		return boxed
	}
	datas, err := paths.Workspaces(env) // an agent's command may name another workspace than its own
	if err != nil {
		datas = nil // the errand itself reports what is wrong with the directory
	}
	if above, ok := proc.Above(os.Getpid()); !ok || workspace.Above(above, append(datas, data)) {
		return below
	}
	return free
}

// may returns an error unless an errand may run from that source. An agent's command may do on the
// command line only what its agent may do with tools: look, send mail, and push tasks for the human
// to start.
func (e *Errand) may(from source) error {
	switch {
	case from == free, from == boxed && (e.name == "send" || e.o.mine):
		return nil
	case from == boxed && (e.apart == nil || e.agents == nil || !e.agents(e)):
		return fmt.Errorf("%s reaches nobody: this command runs in an agent's sandbox, out of which only fantail send comes; the agent has tools for the rest", e.name)
	case from == below && (e.agents == nil || !e.agents(e)):
		return fmt.Errorf("this is the human's to do: what a host started (an agent's command) looks with fantail %s, or not at all; the agent has tools for the rest", e.name)
	}
	return nil
}

// The checks of what agents' commands may run of an errand.

func always(*Errand) bool { return true }

// peeks allows an errand that takes nothing.
func peeks(e *Errand) bool { return e.o.peek || !e.o.take && !e.tty }

// only returns a check that allows the errand without arguments or with one of those verbs first.
func only(verbs ...string) func(e *Errand) bool {
	return func(e *Errand) bool { return len(e.words) == 0 || slices.Contains(verbs, e.words[0]) }
}
