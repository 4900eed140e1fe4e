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

// source is what kind of process an errand runs in.
type source int

const (
	free  source = iota // a shell, a script or another program of the human's
	below               // what a host has started, outside of a sandbox: an agent's command
	boxed               // the sandbox of an agent's command
)

// ownSource says which this process is. Who started it is asked of the system: no variable tells it, so none
// hides it. A host looks itself at whoever comes to its socket; an errand that goes past the host, to the database, has
// only this.
func ownSource(env func(string) string, data string) source {
	if env(sandbox.MailEnv) != "" {
		return boxed
	}
	datas, err := paths.Workspaces(env) // an agent's command may mean another workspace than its own
	if err != nil {
		datas = nil // the errand itself says what is wrong with the directory
	}
	if above, ok := proc.Above(os.Getpid()); !ok || workspace.Above(above, append(datas, data)) {
		return below
	}
	return free
}

// may is an error unless an errand may be run from there. An agent's command may do no more on the command line than its
// agent may with its tools: look, send mail, and push tasks that the human starts.
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

// What agents' commands may do of an errand: all of it, or what looks only.

func always(*Errand) bool { return true }

// peeks is a check that takes nothing.
func peeks(e *Errand) bool { return e.o.peek || !e.o.take && !e.tty }

// only returns a function that allows the errand without words, and with one of those in front.
func only(verbs ...string) func(e *Errand) bool {
	return func(e *Errand) bool { return len(e.words) == 0 || slices.Contains(verbs, e.words[0]) }
}
