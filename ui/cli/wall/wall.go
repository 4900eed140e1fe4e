// Package wall is the sandbox under the commands of agents, as the configuration wants it, told to people.
//
// Does: find the wall that the configuration asks for; say what it holds, why it is no better one, and what would make
// one work.
//
// Does not: put a command into a sandbox, or say what one stands on.
//
// Imports: store/config, store/config/paths, tools/git, tools/permit, tools/permit/filenames, tools/sandbox,
// ui/cli/place.
package wall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/store/config"
	"fantail/tools/permit"
	"fantail/tools/sandbox"
)

// Find is the wall that the configuration's key sandbox asks for, the best that works or the one it names; nil: it is off.
func Find(ctx context.Context, asked string) *sandbox.Wall {
	switch asked {
	case config.SandboxOff:
		return nil
	case config.SandboxOn, "":
		return sandbox.Find(ctx)
	}
	return sandbox.Find(ctx, sandbox.Kind(asked))
}

// Missing is an error if the configuration names a kind of sandbox and that does not work here: nothing stands in for it.
func Missing(w *sandbox.Wall, asked string, m Machine) error {
	if w == nil || w.Level() != sandbox.None || asked == config.SandboxOn || asked == "" {
		return nil
	}
	next := m.Next(w)
	if next != "" {
		next += ", or "
	}
	return fmt.Errorf("the configuration wants the sandbox %s and no other, which does not work here (%s): %ssay sandbox = %q for the best that works",
		asked, why(w), next, config.SandboxOn)
}

// why is why there is no better wall; it always says something.
func why(w *sandbox.Wall) string {
	if text := w.Why(); text != "" {
		return text
	}
	return "this system has none of that kind"
}

// Worth is what the wall is worth to who judges commands.
func Worth(w *sandbox.Wall) permit.Wall {
	switch w.Level() {
	case sandbox.Prevents:
		return permit.Prevents
	case sandbox.Detects:
		return permit.Detects
	}
	return permit.NoWall
}

// Brief is what the start screen says in a line; "" where the wall holds all it should.
func Brief(w *sandbox.Wall) string {
	switch {
	case w == nil:
		return "No sandbox, as configured: commands run as you"
	case w.Level() == sandbox.None:
		return "No sandbox works here: commands run as you; /sandbox says why"
	case w.Level() == sandbox.Detects:
		return "Sandbox: it only detects changes of git's hooks and the like; /sandbox"
	}
	return ""
}

// Summary is what there is to say about the wall, in a line for each thing.
func Summary(w *sandbox.Wall, m Machine) (lines []string, holds bool) {
	switch {
	case w == nil:
		return []string{"there is none, as configured (sandbox = \"off\"): commands run as you; sandbox = \"on\" takes the best that works"}, false
	case w.Level() == sandbox.None:
		lines = []string{"none works here: commands run as you"}
	default:
		lines = append([]string{w.Word(), guards(w), network(w)}, w.Facts...)
	}
	for _, f := range w.Faults {
		lines = append(lines, "not "+f)
	}
	if next := m.Next(w); next != "" {
		lines = append(lines, "to do: "+next+"; then /restart")
	}
	return lines, w.Level() != sandbox.None
}

// guards says what the wall does about what is protected inside of the workspace.
func guards(w *sandbox.Wall) string {
	return "it " + string(w.Level()) + " changes of git's hooks, .envrc, AGENTS.md and the like"
}

// network says what of one a command has.
func network(w *sandbox.Wall) string {
	switch {
	case w.Kind == sandbox.Seatbelt:
		return "no network, but this machine's loopback with its servers"
	case w.Loopback():
		return "no network, but a loopback of its own"
	}
	return "no network, and no loopback either"
}

// Text is the answer of /sandbox: what holds in the workspace at root, in that permission mode.
func Text(w *sandbox.Wall, root string, mode permit.Mode, m Machine) string {
	lines, holds := Summary(w, m)
	if !holds {
		return "Sandbox: " + strings.Join(lines, "\n  ")
	}
	lines = slices.Insert(lines, 3, "writing in "+root+", in its temporary directory, in build caches")
	return "Sandbox: " + strings.Join(lines, "\n  ") + "\n" + moded(mode)
}

// moded says what the permission mode makes of the sandbox.
func moded(mode permit.Mode) string {
	lead := "Mode " + string(mode) + ": "
	switch mode {
	case permit.Yolo:
		return lead + "commands run outside of it"
	case permit.Auto:
		return lead + "commands run in it without a question"
	case permit.Plan:
		return lead + "only commands that read run, in it"
	}
	return lead + "a command that does more than read asks, and then runs in it"
}
