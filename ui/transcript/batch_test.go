package transcript

import (
	"strings"
	"testing"

	"fantail/agents/history"
)

// read is a call that reads, and its result.
func read(id, tool, title string) []history.Entry {
	return []history.Entry{called(id, tool, title), gave(history.Result{ID: id, Name: tool, Text: "text of " + id + "\n"})}
}

// Neighbouring calls that only read are one line until they are unfolded.
func TestBatch(t *testing.T) {
	var es []history.Entry
	for _, c := range [][3]string{
		{"a", "read_file", "read login.go:1-80"},
		{"b", "read_file", "read login.go:81-90"},
		{"c", "grep", "grep err in ."},
		{"d", "read_file", "read main.go"},
		{"e", "list_files", "list ."},
	} {
		es = append(es, read(c[0], c[1], c[2])...)
	}
	const line = "✓ read 2 files, searched 1 pattern, listed 1 directory · ctrl+o"
	v, _ := view(t)
	v.Append(script(es...))
	v.Append(script(said("done")))
	if s := plain(settled(v, 80, 12)); strings.TrimSpace(s) != line+"\n\n  done" {
		t.Errorf("it shows\n%s", s)
	}
	press(v, "ctrl+o")
	s := plain(settled(v, 80, 30))
	for _, want := range []string{"✓ read login.go:1-80", "text of a", "✓ grep err in .", "text of e"} {
		if !strings.Contains(s, want) {
			t.Errorf("unfolded it lacks %q:\n%s", want, s)
		}
	}
	press(v, "ctrl+o")
	v.SelectPrev()
	v.SelectPrev()
	if s := plain(settled(v, 80, 30)); strings.Count(s, "✓")+strings.Count(s, "▎") != 1 || !strings.Contains(s, line[len("✓ "):]) {
		t.Errorf("folded and selected it shows\n%s", s)
	}
	press(v, "ctrl+o", "down", "ctrl+o")
	if s := plain(settled(v, 80, 30)); !strings.Contains(s, "▎ read 2 files") {
		t.Errorf("folded from within it shows\n%s", s)
	}
}

// What fails or still runs shows by itself, and other calls end a batch.
func TestBatch_whatStandsAlone(t *testing.T) {
	v, _ := view(t)
	es := append(read("a", "read_file", "read a.go"), called("b", "read_file", "read b.go"), gave(history.Result{ID: "b", Name: "read_file", Text: "no such file", Error: true}))
	es = append(es, read("c", "read_file", "read c.go")...)
	es = append(es, called("d", "read_file", "read d.go"), called("e", "bash", "bash ls"))
	es = append(es, read("f", "read_file", "read f.go")...)
	v.Append(script(es...))
	s := plain(settled(v, 80, 30))
	for _, want := range []string{"✓ read 2 files · ctrl+o", "✗ read b.go", "no such file", "○ read d.go", "○ bash ls", "✓ read f.go · 1 line"} {
		if strings.Count(s, want) != 1 {
			t.Errorf("it does not show %q once:\n%s", want, s)
		}
	}
	v.Append(script(gave(history.Result{ID: "d", Name: "read_file", Text: "x"})))
	if s := plain(settled(v, 80, 30)); !strings.Contains(s, "✓ read 3 files · ctrl+o") {
		t.Errorf("once the last has ended it shows\n%s", s)
	}
}
