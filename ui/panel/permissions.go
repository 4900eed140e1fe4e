package panel

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/approval"
	"fantail/tools/permission"
	"fantail/ui/cells"
)

// PermissionArgs are the arguments of /permissions.
const PermissionArgs = "[list | test COMMAND | accept N | refuse N | revoke RULE]"

// PermissionVerbs returns the first words of the arguments.
func PermissionVerbs() []string { return []string{"list", "test ", "accept ", "refuse ", "revoke "} }

// ReadPermissions parses the arguments of /permissions. ok is false if they are not understood.
func ReadPermissions(text string) (do func(ctx context.Context, r *approval.Rules) (string, error), ok bool) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case (verb == "" || verb == "list") && rest == "":
		return func(_ context.Context, r *approval.Rules) (string, error) { return listPermissions(r), nil }, true
	case verb == "test" && rest != "":
		return func(_ context.Context, r *approval.Rules) (string, error) { return test(r, rest) }, true
	case verb == "revoke" && rest != "":
		return func(ctx context.Context, r *approval.Rules) (string, error) {
			return "Removed: " + cells.CleanLine(rest), r.Revoke(ctx, rest)
		}, true
	case verb == "accept" || verb == "y":
		return answer(rest, approval.Accepted)
	case verb == "refuse" || verb == "n":
		return answer(rest, approval.Refused)
	}
	return nil, false
}

func answer(number string, to approval.RuleState) (func(ctx context.Context, r *approval.Rules) (string, error), bool) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, false
	}
	return func(ctx context.Context, r *approval.Rules) (string, error) {
		text, err := r.Answer(ctx, n, "", to)
		if err != nil {
			return "", err
		}
		if to == approval.Accepted {
			return "Allowed while the file says exactly this: " + cells.CleanLine(text), nil
		}
		return "Refused: " + cells.CleanLine(text), nil
	}, true
}

// listPermissions lists all rules, one a line.
func listPermissions(r *approval.Rules) string {
	all, broken, ignored := r.List()
	var b strings.Builder
	last, open := permission.List(""), 0
	for _, e := range all {
		if e.List != last {
			fmt.Fprintf(&b, "%s\n", heads[e.List])
			last = e.List
		}
		b.WriteString("  ")
		switch e.State {
		case approval.Open:
			open++
			fmt.Fprintf(&b, "[%d] proposed: ", e.Offer)
		case approval.Refused:
			fmt.Fprintf(&b, "[%d] refused: ", e.Offer)
		case approval.Accepted:
			fmt.Fprintf(&b, "[%d] allowed: ", e.Offer)
		}
		b.WriteString(cells.CleanLine(e.Text))
		if e.From != "" {
			b.WriteString(" · " + cells.CleanLine(e.From))
		}
		if e.Note != "" {
			b.WriteString("\n      " + cells.CleanLine(e.Note))
		}
		b.WriteByte('\n')
	}
	if len(all) == 0 {
		b.WriteString("No rules yet; the mode decides (/mode). Add rules under [permissions] in ~/.config/fantail/config.toml, or deny rules in the project's .claude/settings.json or .fantail/config.toml.\n")
	}
	for _, f := range broken {
		b.WriteString("! " + cells.CleanLine(f) + "\n")
	}
	for _, f := range ignored {
		b.WriteString("ignored: " + cells.CleanLine(f) + "\n")
	}
	if open > 0 {
		b.WriteString("A project file can only propose rules. /permissions accept N to allow one, refuse N to refuse it.\n")
	}
	b.WriteString("/permissions test COMMAND to see which rule decides.")
	return b.String()
}

var heads = map[permission.List]string{
	permission.DenyList: "Denied, in every mode:", permission.AskList: "Asks each time, in every mode:", permission.AllowList: "Allowed without a question:",
}

// test says what would be decided about a command.
func test(r *approval.Rules, command string) (string, error) {
	t, err := r.Test(command)
	if err != nil {
		return "", err
	}
	return strings.Join(TestedText(t), "\n"), nil
}

// DecisionText returns a decision in words.
func DecisionText(d permission.Decision) string {
	switch d {
	case permission.Allow:
		return "it runs"
	case permission.Deny:
		return "it is denied"
	}
	return "it asks"
}

// TestedText returns lines that say what would be decided about a command: in this mode, by which
// rules, and in other modes.
func TestedText(t approval.RuleTest) (lines []string) {
	said := DecisionText(t.Decision)
	lines = append(lines, strings.ToUpper(said[:1])+said[1:]+": "+reason(t.Verdict))
	if t.Rule != "" {
		lines = append(lines, "  yes for the session or the project would add "+cells.CleanLine(string(t.Rule)))
	}
	for _, o := range t.Others {
		lines = append(lines, "  "+cells.CleanLine(o))
	}
	for _, m := range t.Modes {
		if m.Mode == t.Mode {
			continue
		}
		text := DecisionText(m.Decision)
		if why := reason(m.Verdict); m.Decision != t.Decision {
			text += ": " + why
		}
		lines = append(lines, "  in mode "+string(m.Mode)+" "+text)
	}
	return lines
}

// reason returns the reason of a verdict in one line, without the part that is only for the model.
func reason(v permission.Verdict) string {
	text, _, _ := strings.Cut(cells.CleanLine(v.Reason), ". ")
	return strings.TrimSuffix(text, ".")
}
