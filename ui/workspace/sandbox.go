package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fantail/store/config"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// FindSandbox returns the sandbox that the configuration's key sandbox asks for: the best that works or the named one;
// nil: it is off. It tries what works.
func FindSandbox(ctx context.Context, asked string) *sandbox.Backend {
	if asked == config.SandboxOff {
		return nil
	}
	return sandbox.Find(ctx, kinds(asked)...)
}

// FindSandboxKept is FindSandbox. It takes the verdict of an earlier start where that still holds, and keeps its own in
// the workspace's data.
func FindSandboxKept(ctx context.Context, asked, data string) *sandbox.Backend {
	if asked == config.SandboxOff {
		return nil
	}
	return sandbox.FindKept(ctx, filepath.Join(data, "sandbox.json"), kinds(asked)...)
}

// kinds are those that the configuration's key asks for; none: any.
func kinds(asked string) []sandbox.Kind {
	if asked == config.SandboxOn || asked == "" {
		return nil
	}
	return []sandbox.Kind{sandbox.Kind(asked)}
}

// SandboxMissing returns an error if the configuration names a kind of sandbox that does not work here: no other
// replaces it.
func SandboxMissing(w *sandbox.Backend, asked string, m Machine) error {
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

// why says why there is no better sandbox; it is never empty.
func why(w *sandbox.Backend) string {
	if text := w.Why(); text != "" {
		return text
	}
	return "this system has none of that kind"
}

// SandboxWorth returns how much the sandbox prevents, for the gate that judges commands.
func SandboxWorth(w *sandbox.Backend) permission.Sandbox {
	switch w.Level() {
	case sandbox.Prevents:
		return permission.Prevents
	case sandbox.Detects:
		return permission.Detects
	}
	return permission.NoSandbox
}

// SandboxBrief returns a line for the start screen; "" if the sandbox does all it should.
func SandboxBrief(w *sandbox.Backend) string {
	switch {
	case w == nil:
		return "No sandbox, as configured: commands run as you"
	case w.Level() == sandbox.None:
		return "No sandbox works here: commands run as you. /sandbox to see why"
	case w.Level() == sandbox.Detects:
		return "Sandbox: it only detects changes of git's hooks and the like; /sandbox"
	}
	return ""
}

// SandboxSummary describes the sandbox, a line for each fact.
func SandboxSummary(w *sandbox.Backend, m Machine) (lines []string, holds bool) {
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

// guards says what the sandbox does about protected files in the workspace.
func guards(w *sandbox.Backend) string {
	return "it " + string(w.Level()) + " changes of git's hooks, .envrc, AGENTS.md and the like"
}

// network describes a command's access to the network.
func network(w *sandbox.Backend) string {
	switch {
	case w.Kind == sandbox.Seatbelt:
		return "no network, but this machine's loopback with its servers"
	case w.Loopback():
		return "no network, but a loopback of its own"
	}
	return "no network, and no loopback either"
}

// SandboxText returns the answer of /sandbox: the rules for commands in the workspace at root, in that permission
// mode.
func SandboxText(w *sandbox.Backend, root string, mode permission.Mode, m Machine) string {
	lines, holds := SandboxSummary(w, m)
	if !holds {
		return "Sandbox: " + strings.Join(lines, "\n  ")
	}
	lines = slices.Insert(lines, 3, "writing in "+root+", in its temporary directory, in build caches")
	return "Sandbox: " + strings.Join(lines, "\n  ") + "\n" + moded(mode)
}

// moded describes the effect of the permission mode with the sandbox.
func moded(mode permission.Mode) string {
	lead := "Mode " + string(mode) + ": "
	switch mode {
	case permission.Yolo:
		return lead + "commands run outside of it"
	case permission.Auto:
		return lead + "commands run in it without a question"
	case permission.Plan:
		return lead + "only commands that read run, in it"
	}
	return lead + "a command that does more than read asks, and then runs in it"
}
