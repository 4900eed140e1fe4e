package documents

import (
	"context"
	"strings"
	"testing"

	"fantail/agents/memory"
	"fantail/ui/slash/facets"
	"fantail/ui/transcript"
)

// library keeps one document.
type library struct {
	facets.Memory
	version int
	text    string
}

func (l *library) Write(_ context.Context, _, text string, expect *int) (int, error) {
	if *expect != l.version {
		return 0, memory.ErrChanged
	}
	l.version++
	l.text = text
	return l.version, nil
}

// TestKept: what the editor made of a document is written, unless it was
// changed meanwhile: then the human's text stays in its file.
//
// Spec: M-10.
func TestKept(t *testing.T) {
	l := &library{version: 1, text: "one\n"}
	was := memory.Document{Name: "notes", Part: "today", Version: 1, Text: "one\n"}
	for _, c := range []struct {
		was  memory.Document
		text string
		says string
		tone transcript.Tone
		keep bool
	}{
		{was, "one\n", "#mem-notes/today was not changed", transcript.Plain, false},
		{memory.Document{Name: "new"}, " \n", "#mem-new was not changed", transcript.Plain, false},
		{was, "two\n", "#mem-notes/today is at version 2, 4 B", transcript.Good, false},
		{was, "three\n", "It was changed meanwhile. Your text is kept in /x/notes.md", transcript.Bad, true},
		{memory.Document{Name: "notes", Part: "today", Version: 2, Text: "two\n"}, "", "#mem-notes/today was removed; /memory log", transcript.Good, false},
	} {
		says, tone, keep := kept(t.Context(), l, c.was, c.text, "/x/notes.md")
		if !strings.HasPrefix(says, c.says) || tone != c.tone || keep != c.keep {
			t.Errorf("%q: %q, %v, %v", c.text, says, tone, keep)
		}
	}
	if l.text != "" || l.version != 3 {
		t.Errorf("%+v", l)
	}
}
