package cli

import (
	"io"
	"strings"
	"testing"

	"fantail/ui/screen"
)

// Each errand says what of it an agent's command may do: no more than its agent may with its tools. A new one that does
// not say so is the human's.
func TestMay(t *testing.T) {
	const yes, no = true, false
	seen := map[string]bool{}
	for _, c := range []struct {
		words              string // as typed behind fantail; standard output of a test is no terminal
		free, below, boxed bool
	}{
		{"send main x", yes, yes, yes},
		{"send --priority urgent main x", yes, yes, yes},
		{"push x", yes, yes, no},
		{"inbox", yes, yes, no},
		{"inbox --follow", yes, yes, no},
		{"check", yes, yes, no},
		{"check --peek", yes, yes, no},
		{"check --take", yes, no, no},
		{"queue --all", yes, yes, no},
		{"agents", yes, yes, no},
		{"agents list", yes, yes, no},
		{"agents logs x", yes, yes, no},
		{"agents attach x", yes, yes, no},
		{"agents spawn --prompt x", yes, no, no},
		{"agents tell x y", yes, no, no},
		{"agents wrapup x", yes, no, no},
		{"agents end x", yes, no, no},
		{"agents kill x", yes, no, no},
		{"agents respawn x", yes, no, no},
		{"show 1", yes, yes, no},
		{"memory", yes, yes, no},
		{"memory show x", yes, yes, no},
		{"schedule", yes, yes, no},
		{"schedule list", yes, yes, no},
		{"schedule show x", yes, yes, no},
		{"schedule every 10m look", yes, no, no},
		{"schedule name=x every 10m look", yes, no, no},
		{"schedule remind 30m x", yes, no, no},
		{"schedule watch 10m until \"y\" x", yes, no, no},
		{"schedule pause x", yes, no, no},
		{"schedule resume x", yes, no, no},
		{"schedule rm x", yes, no, no},
		{"audit", yes, yes, no},
		{"audit --verify", yes, yes, no},
		{"ls", yes, yes, yes},
		{"host", yes, yes, yes},
		{"host status", yes, yes, yes},
		{"host log", yes, yes, yes},
		{"host stop --now", yes, no, no},
		{"host install", yes, no, no}, // whatever it will be
		{"doctor", yes, yes, yes},
		{"mcp", yes, no, no},
	} {
		words := strings.Fields(c.words)
		e, is, err := ParseErrand(words, io.Discard)
		if err != nil || !is {
			t.Fatalf("%s: %v, %v", c.words, is, err)
		}
		seen[words[0]] = true
		for from, want := range map[source]bool{free: c.free, below: c.below, boxed: c.boxed} {
			if err := e.may(from); (err == nil) != want {
				t.Errorf("fantail %s from %d: %v, want %v", c.words, from, err, want)
			} else if err != nil && !strings.Contains(err.Error(), "the agent has tools for the rest") {
				t.Errorf("fantail %s from %d says nothing of a way: %v", c.words, from, err)
			}
		}
	}
	for _, name := range ErrandNames() {
		if !seen[name] {
			t.Errorf("nothing is said here of fantail %s", name)
		}
	}
}

// What the start gate hands over are errands of the table.
func TestHandedOver(t *testing.T) {
	for _, name := range screen.Errands() {
		if e, _, is := find([]string{name}); !is || e.run == nil && e.apart == nil {
			t.Errorf("there is no errand %s that a host could carry out", name)
		}
	}
}
