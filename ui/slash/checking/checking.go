// Package checking carries out what the human types about checks.
//
// Does: read the arguments of /checks, do it, and say in words for people what came of it.
//
// Does not: know the screen, decide what may be a check.
//
// Imports: agents/checks, store, tools, ui/frame.
package checking

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/checks"
	"fantail/store"
	"fantail/tools"
	"fantail/ui/frame"
)

// Args are the arguments of /checks.
const Args = "[list | add NAME [net=HOST] COMMAND | rm NAME | run NAME]"

// Verbs are their first words.
func Verbs() []string { return []string{"list", "add ", "rm ", "run "} }

// Room is what carries it out.
type Room interface {
	Add(ctx context.Context, c store.Check) (replaced bool, err error)
	Remove(ctx context.Context, name string) error
	List(ctx context.Context) ([]store.Check, error)
	Run(ctx context.Context, name string) (tools.Result, error)
	Unheld() error
}

// Read returns what the arguments ask for; ok is false if they are not understood. The error says why what they ask for
// can't be.
func Read(text string) (do func(ctx context.Context, r Room) (string, error), ok bool, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case verb == "" || verb == "list" && rest == "":
		return list, true, nil
	case verb == "add" && rest != "":
		c, err := checks.Parse(rest)
		return func(ctx context.Context, r Room) (string, error) { return add(ctx, r, c) }, true, err
	case verb == "rm" && len(strings.Fields(rest)) == 1:
		return func(ctx context.Context, r Room) (string, error) {
			return "The check " + rest + " is removed", r.Remove(ctx, rest)
		}, true, nil
	case verb == "run" && len(strings.Fields(rest)) == 1:
		return func(ctx context.Context, r Room) (string, error) {
			got, err := r.Run(ctx, rest)
			return got.Text, err
		}, true, nil
	}
	return nil, false, nil
}

func add(ctx context.Context, r Room, c store.Check) (string, error) {
	replaced, err := r.Add(ctx, c)
	if err != nil {
		return "", err
	}
	said := "Added: "
	if replaced {
		said = "Changed: "
	}
	return said + line(c) + held(r), nil
}

func list(ctx context.Context, r Room) (string, error) {
	cs, err := r.List(ctx)
	if err != nil {
		return "", err
	}
	if len(cs) == 0 {
		return "No checks. /checks add test go test ./... lets observers run that, where a schedule says checks=test", nil
	}
	lines := make([]string, len(cs))
	for i, c := range cs {
		lines[i] = line(c)
	}
	return strings.Join(lines, "\n") + held(r), nil
}

// line is one check.
func line(c store.Check) string {
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
	return frame.CleanLine(text)
}

// held says if none can run here.
func held(r Room) string {
	if err := r.Unheld(); err != nil {
		return "\n" + err.Error()
	}
	return ""
}
