package slash

import (
	"strings"
	"testing"

	"fantail/agents/history"
	"fantail/ui/transcript"
)

// TestKept: what the editor made of a document is written, unless it was
// changed meanwhile: then the human's text stays in its file.
//
// Spec: M-10.
func TestKept(t *testing.T) {
	l := world(t).Pool.Memory
	if _, err := l.Write(t.Context(), "notes/today", "one\n", nil); err != nil {
		t.Fatal(err)
	}
	was := history.Document{Name: "notes", Part: "today", Version: 1, Text: "one\n"}
	for _, c := range []struct {
		was  history.Document
		text string
		says string
		tone transcript.Tone
		keep bool
	}{
		{was, "one\n", "#mem-notes/today was not changed", transcript.Plain, false},
		{history.Document{Name: "new"}, " \n", "#mem-new was not changed", transcript.Plain, false},
		{was, "two\n", "#mem-notes/today is at version 2, 4 B", transcript.Good, false},
		{was, "three\n", "#mem-notes/today: it was changed meanwhile", transcript.Bad, true},
		{history.Document{Name: "notes", Part: "today", Version: 2, Text: "two\n"}, "", "#mem-notes/today was removed. /memory log", transcript.Good, false},
	} {
		says, tone, keep := kept(t.Context(), l, c.was, c.text, "/x/notes.md")
		if !strings.HasPrefix(says, c.says) || keep != strings.HasSuffix(says, ". Your text is kept in /x/notes.md") || tone != c.tone || keep != c.keep {
			t.Errorf("%q: %q, %v, %v", c.text, says, tone, keep)
		}
	}
	if vs, err := l.Versions(t.Context(), "notes/today"); err != nil || len(vs) != 3 {
		t.Errorf("%+v, %v", vs, err)
	}
}
