package slash

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/schedule"
	"fantail/store"
	"fantail/ui/cells"
)

// CheckArgs are the arguments of /checks.
const CheckArgs = "[list | add NAME [net=HOST] COMMAND | rm NAME | run NAME]"

// CheckVerbs returns the first words of the arguments.
func CheckVerbs() []string { return []string{"list", "add ", "rm ", "run "} }

// ReadCheck parses the arguments of /checks. ok is false if they are not understood. The error says
// why they can't be carried out.
func ReadCheck(text string) (do func(ctx context.Context, r *schedule.Checks) (string, error), ok bool, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case verb == "" || verb == "list" && rest == "":
		return listChecks, true, nil
	case verb == "add" && rest != "":
		c, err := schedule.ParseCheck(rest)
		return func(ctx context.Context, r *schedule.Checks) (string, error) { return add(ctx, r, c) }, true, err
	case verb == "rm" && len(strings.Fields(rest)) == 1:
		return func(ctx context.Context, r *schedule.Checks) (string, error) {
			return "The check " + rest + " is removed", r.Remove(ctx, rest)
		}, true, nil
	case verb == "run" && len(strings.Fields(rest)) == 1:
		return func(ctx context.Context, r *schedule.Checks) (string, error) {
			got, err := r.Run(ctx, rest)
			return got.Text, err
		}, true, nil
	}
	return nil, false, nil
}

func add(ctx context.Context, r *schedule.Checks, c store.Check) (string, error) {
	replaced, err := r.Add(ctx, c)
	if err != nil {
		return "", err
	}
	said := "Added: "
	if replaced {
		said = "Changed: "
	}
	return said + checkLine(c) + held(r), nil
}

func listChecks(ctx context.Context, r *schedule.Checks) (string, error) {
	cs, err := r.List(ctx)
	if err != nil {
		return "", err
	}
	if len(cs) == 0 {
		return "No checks. /checks add test go test ./... to let observers run it (checks=test)", nil
	}
	lines := make([]string, len(cs))
	for i, c := range cs {
		lines[i] = checkLine(c)
	}
	return strings.Join(lines, "\n") + held(r), nil
}

// checkLine describes one check in a line.
func checkLine(c store.Check) string {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if words[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	text := c.Name + ": " + strings.Join(words, " ")
	if c.Net != "" {
		text += " · with the network, for " + c.Net
	}
	return cells.CleanLine(text)
}

// held says why no check can run here, or "".
func held(r *schedule.Checks) string {
	if err := r.Unheld(); err != nil {
		return "\n" + err.Error()
	}
	return ""
}
