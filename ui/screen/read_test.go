package screen

import (
	"slices"
	"testing"
)

// TestRead: the start gate acts for a prompt too, and gives it to one host only.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		args  []string
		want  []string // without the prompt
		shows bool
	}{
		{nil, nil, true},
		{[]string{"fix the tests"}, nil, true},
		{[]string{"--model", "a b", "fix the tests", "--yolo"}, []string{"--model", "a b", "--yolo"}, true},
		{[]string{"--cwd=x", "--", "--yolo", "fix"}, []string{"--cwd=x"}, true},
		{[]string{"--", "fix"}, nil, true},
		{[]string{"fix"}, nil, false}, // main says what is wrong
		{[]string{"fix the", "tests now"}, nil, false},
		{[]string{" "}, nil, false},
		{[]string{"--"}, nil, false},
		{[]string{"-p", "fix the tests"}, nil, false},
		{[]string{"--model"}, nil, false},
	} {
		s, shows := read(c.args)
		if shows != c.shows || shows && !slices.Equal(s.args, c.want) {
			t.Errorf("%q: %q, %v", c.args, s.args, shows)
		}
	}
}
