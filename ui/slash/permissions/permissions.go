// Package permissions carries out what the human types about the rules under which calls run.
//
// Does: read the arguments of /permissions, do it, and say in words for people what came of it.
//
// Does not: know the screen, decide about a call.
//
// Imports: agents/permissions, tools/permit, tools/permit/toolrule, ui/frame.
package permissions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/permissions"
	"fantail/tools/permit"
	"fantail/tools/permit/toolrule"
	"fantail/ui/frame"
)

// Args are the arguments of /permissions.
const Args = "[list | test COMMAND | accept N | refuse N | revoke RULE]"

// Verbs are their first words.
func Verbs() []string { return []string{"list", "test ", "accept ", "refuse ", "revoke "} }

// Room is what carries it out.
type Room interface {
	List() (all []permissions.Entry, broken, ignored []string)
	Test(command string) (permissions.Test, error)
	Answer(ctx context.Context, number int, text string, to permissions.State) (string, error)
	Revoke(ctx context.Context, rule string) error
}

// Read returns what the arguments ask for; ok is false if they are not understood.
func Read(text string) (do func(ctx context.Context, r Room) (string, error), ok bool) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case (verb == "" || verb == "list") && rest == "":
		return func(_ context.Context, r Room) (string, error) { return list(r), nil }, true
	case verb == "test" && rest != "":
		return func(_ context.Context, r Room) (string, error) { return test(r, rest) }, true
	case verb == "revoke" && rest != "":
		return func(ctx context.Context, r Room) (string, error) {
			return "Taken back: " + frame.CleanLine(rest), r.Revoke(ctx, rest)
		}, true
	case verb == "accept" || verb == "y":
		return answer(rest, permissions.Accepted)
	case verb == "refuse" || verb == "n":
		return answer(rest, permissions.Refused)
	}
	return nil, false
}

func answer(number string, to permissions.State) (func(ctx context.Context, r Room) (string, error), bool) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, false
	}
	return func(ctx context.Context, r Room) (string, error) {
		text, err := r.Answer(ctx, n, "", to)
		if err != nil {
			return "", err
		}
		if to == permissions.Accepted {
			return "Accepted, as long as the file says it word for word: " + frame.CleanLine(text), nil
		}
		return "Refused: " + frame.CleanLine(text), nil
	}, true
}

// list is all rules, in a line each.
func list(r Room) string {
	all, broken, ignored := r.List()
	var b strings.Builder
	last, open := toolrule.List(""), 0
	for _, e := range all {
		if e.List != last {
			fmt.Fprintf(&b, "%s\n", heads[e.List])
			last = e.List
		}
		b.WriteString("  ")
		switch e.State {
		case permissions.Open:
			open++
			fmt.Fprintf(&b, "[%d] only offered: ", e.Offer)
		case permissions.Refused:
			fmt.Fprintf(&b, "[%d] refused: ", e.Offer)
		case permissions.Accepted:
			fmt.Fprintf(&b, "[%d] accepted: ", e.Offer)
		}
		b.WriteString(frame.CleanLine(e.Text))
		if e.From != "" {
			b.WriteString(" · " + frame.CleanLine(e.From))
		}
		if e.Note != "" {
			b.WriteString("\n      " + frame.CleanLine(e.Note))
		}
		b.WriteByte('\n')
	}
	if len(all) == 0 {
		b.WriteString("No rules: the mode alone decides (/mode). [permissions] in config.toml, and deny in a project's .claude/settings.json or .fantail/config.toml, make some.\n")
	}
	for _, f := range broken {
		b.WriteString("! " + frame.CleanLine(f) + "\n")
	}
	for _, f := range ignored {
		b.WriteString("not obeyed: " + frame.CleanLine(f) + "\n")
	}
	if open > 0 {
		b.WriteString("A project's file can't allow anything by itself: /permissions accept N lets its rule hold, refuse N does not.\n")
	}
	b.WriteString("/permissions test COMMAND says which rule decides.")
	return b.String()
}

var heads = map[toolrule.List]string{
	toolrule.Deny: "Denied, in every mode:", toolrule.Ask: "Asks each time, in every mode:", toolrule.Allow: "Allowed without a question:",
}

// test is what would be decided about a command.
func test(r Room, command string) (string, error) {
	t, err := r.Test(command)
	if err != nil {
		return "", err
	}
	return strings.Join(Tested(t), "\n"), nil
}

// Said is a decision in words.
func Said(d permit.Decision) string {
	switch d {
	case permit.Allow:
		return "it runs"
	case permit.Deny:
		return "it is denied"
	}
	return "it asks"
}

// Tested are the lines that say what would be decided about a command: now, which rules speak of it, and in other modes.
func Tested(t permissions.Test) (lines []string) {
	said := Said(t.Decision)
	lines = append(lines, strings.ToUpper(said[:1])+said[1:]+": "+reason(t.Verdict))
	if t.Rule != "" {
		lines = append(lines, "  yes for the session or the project would add "+frame.CleanLine(string(t.Rule)))
	}
	for _, o := range t.Others {
		lines = append(lines, "  "+frame.CleanLine(o))
	}
	for _, m := range t.Modes {
		if m.Mode == t.Mode {
			continue
		}
		text := Said(m.Decision)
		if why := reason(m.Verdict); m.Decision != t.Decision {
			text += ": " + why
		}
		lines = append(lines, "  in mode "+string(m.Mode)+" "+text)
	}
	return lines
}

// reason is why, in a line, as the human reads it: what only the model is told is left out.
func reason(v permit.Verdict) string {
	text, _, _ := strings.Cut(frame.CleanLine(v.Reason), ". ")
	return strings.TrimSuffix(text, ".")
}
