package panel

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/hooks"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// TrustArgs are the arguments of /trust.
const TrustArgs = "[list | revoke]"

// TrustVerbs returns the first words of the arguments.
func TrustVerbs() []string { return []string{"list", "revoke"} }

// trustStore stores what the human agreed to.
type trustStore interface {
	Review() []hooks.TrustReview
	Agree(all ...hooks.TrustSnapshot) error
	Decline(all ...hooks.TrustSnapshot) error
}

// Trust is what /trust needs.
type Trust struct {
	Store trustStore
	Theme *themes.Theme
}

// Trust parses the arguments of /trust. ok is false if they are not understood.
func (e Trust) Trust(args string) (do func(ctx context.Context) (intent.Intent, error), ok bool) {
	switch strings.TrimSpace(args) {
	case "":
		return func(context.Context) (intent.Intent, error) { return e.screen(), nil }, true
	case "list":
		return func(context.Context) (intent.Intent, error) {
			return intent.Said{Text: listTrust(e.Store.Review())}, nil
		}, true
	case "revoke":
		return func(context.Context) (intent.Intent, error) {
			var all []hooks.TrustSnapshot
			for _, r := range e.Store.Review() {
				all = append(all, r.TrustSnapshot)
			}
			if len(all) == 0 {
				return intent.Said{Text: nothing}, nil
			}
			return intent.Said{Text: "Nothing of this repository runs now."}, e.Store.Decline(all...)
		}, true
	}
	return nil, false
}

const nothing = "This repository has no hooks, servers or commands to trust."

// screen asks about everything not agreed to, including what was declined, because the human asked
// for it.
func (e Trust) screen() intent.Intent {
	all := e.Store.Review()
	var open []hooks.TrustReview
	for _, r := range all {
		if r.Standing != hooks.Agreed {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return intent.Said{Text: listTrust(all)}
	}
	return intent.Open{
		What: "programs of this repository", Box: dialog.NewConsent(e.Theme, "Trust this repository?", trustParts(open), options(open)),
		Decide: func(d dialog.Decision) intent.Intent {
			c, _ := d.(dialog.Confirmed)
			return e.decided(open, c.Choice)
		},
	}
}

// choosable is how many parts can be answered one by one: each needs a digit.
const choosable = 9

// options returns the possible answers.
func options(open []hooks.TrustReview) (all []dialog.Option) {
	good := 0
	for n, r := range open {
		if r.Fault != nil {
			continue
		}
		good++
		if len(open) > 1 && n < choosable {
			all = append(all, dialog.Option{Key: strconv.Itoa(n + 1), Label: "trust only " + r.Name})
		}
	}
	if good > 0 {
		all = append([]dialog.Option{{Key: "y", Label: "trust all, as they are now"}}, all...)
	}
	return append(all, dialog.Option{Key: "n", Label: "trust none; the repository's texts still work"})
}

// decided carries out an answer.
func (e Trust) decided(open []hooks.TrustReview, choice string) intent.Intent {
	n, _ := strconv.Atoi(choice)
	var these []hooks.TrustSnapshot
	for i, r := range open {
		if r.Fault == nil && (choice != "n" && n == 0 || i+1 == n) || choice == "n" {
			these = append(these, r.TrustSnapshot)
		}
	}
	if choice == "" || len(these) == 0 {
		return nil
	}
	return intent.Quick(func(context.Context) (string, error) {
		if choice == "n" {
			return "None of it runs. /trust to review it again", e.Store.Decline(these...)
		}
		return "Trusted as it is now. A change asks again. /trust revoke to undo", e.Store.Agree(these...)
	})
}

// maxLines is how many lines of a file are shown.
const maxLines = 40

// trustParts returns the text that describes the parts, and how they have changed.
func trustParts(open []hooks.TrustReview) (all []dialog.Part) {
	var b strings.Builder
	b.WriteString("These programs would run on their own, in a sandbox: they can read and write the workspace, and have no network " +
		"but what /sandbox lists. Without a sandbox they run as you. Your yes covers exactly what you see here.\n")
	if len(open) > choosable {
		fmt.Fprintf(&b, "You can choose the first %d one by one. /trust again for the rest.\n", choosable)
	}
	about := ""
	for n, r := range open {
		if r.About != about {
			about = r.About
			b.WriteString("\n" + about + "\n")
		}
		fmt.Fprintf(&b, "\n%d. %s: %s, %s\n", n+1, r.Kind, r.Name, r.Standing)
		if r.Fault != nil {
			fmt.Fprintf(&b, "   It can't be trusted: %v\n", r.Fault)
		}
		if r.Diff != "" {
			b.WriteString("   What changed:\n")
			all = append(all, dialog.Part{Text: b.String()}, dialog.Part{Diff: r.Diff})
			b.Reset()
			continue
		}
		b.WriteString(indent(r.Text))
		for _, f := range r.Files {
			switch {
			case f.Out:
				fmt.Fprintf(&b, "   %s %s, outside the workspace or missing: Fantail can't see when that changes\n", f.Path, f.Sum)
			case f.Text == "":
				fmt.Fprintf(&b, "   %s is not text, or too long\n", f.Path)
			default:
				fmt.Fprintf(&b, "   %s:\n%s", f.Path, indent(head(f.Text)))
			}
		}
	}
	if b.Len() > 0 {
		all = append(all, dialog.Part{Text: b.String()})
	}
	return all
}

// head returns the beginning of a text.
func head(s string) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) <= maxLines {
		return s
	}
	return strings.Join(lines[:maxLines], "") + fmt.Sprintf("(%d more lines)\n", len(lines)-maxLines)
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n") + "\n") {
		b.WriteString("     " + line)
	}
	return b.String()
}

// listTrust lists each part and whether it may run.
func listTrust(all []hooks.TrustReview) string {
	if len(all) == 0 {
		return nothing
	}
	lines := []string{"This repository wants to run:"}
	for _, r := range all {
		line := fmt.Sprintf("%s: %s, %s", r.Kind, r.Name, r.Standing)
		if r.Fault != nil {
			line += " (" + r.Fault.Error() + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Hooks lists all hooks.
func Hooks(t *themes.Theme, lines []hooks.Line, faults, ignored []hooks.Fault) intent.Intent {
	if len(lines) == 0 && len(faults) == 0 && len(ignored) == 0 {
		return intent.Said{Text: "No hooks yet. Add one to ~/.claude/settings.json, the repository's .claude/settings.json, or ~/.config/fantail/config.toml ([[hooks.EVENT]])."}
	}
	var rows []dialog.Row
	for _, l := range lines {
		left := string(l.Event)
		if l.Matcher != "" {
			left += " (" + l.Matcher + ")"
		}
		stands := "yours"
		if !l.Source.Own {
			stands = l.Standing.String()
		}
		last := l.Last.Says()
		if !l.Last.At.IsZero() {
			last = l.Last.At.Format("15:04:05") + " " + last
		}
		rows = append(rows, dialog.Row{Left: left, Right: l.Command + "\n" + l.Place() + " · " + stands + " · " + last})
	}
	for _, f := range faults {
		rows = append(rows, dialog.Row{Left: "not used", Right: f.String()})
	}
	for _, f := range ignored {
		rows = append(rows, dialog.Row{Left: "ignored", Right: f.String()})
	}
	return intent.Open{Box: dialog.NewTable(t, "Hooks", rows), What: "the hooks"}
}
