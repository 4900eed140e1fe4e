package history_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

// TestNamedIn: a valid title is found in a text, whatever ends the sentence.
func TestNamedIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		titles := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z]([A-Za-z0-9._-]{0,38}[A-Za-z0-9])?(/[A-Za-z]([A-Za-z0-9._-]{0,38}[A-Za-z0-9])?)?`), 1, 4, rapid.ID[string]).Draw(t, "titles")
		text := ""
		for _, title := range titles {
			name, part, err := history.ParseTitle(title)
			if err != nil || history.TitleOf(history.Document{Name: name, Part: part}) != title {
				t.Fatalf("%q is %q, part %q, %v", title, name, part, err)
			}
			text += rapid.SampledFrom([]string{"see ", "(", "\n", "“"}).Draw(t, "before") + "#mem-" + title + rapid.SampledFrom([]string{"", ".", "._-", ") ", ", "}).Draw(t, "behind") + " #mem-" + titles[0] + "\n"
		}
		if got := history.NamedIn(text, text); !slices.Equal(got, titles) {
			t.Fatalf("%q names %q, want %q", text, got, titles)
		}
	})
}

// TestWriteAs: a version follows the one its writer knows; only the human removes, and a removed document is gone, but
// its version numbers continue.
func TestWriteAs(t *testing.T) {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var agent int64
	if err := db.Write(t.Context(), "make an agent", func(tx *store.Tx) (err error) {
		agent, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", State: "idle"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	v := func(n int) *int { return &n }
	for _, c := range []struct {
		by     int64
		title  string
		text   string
		expect *int
		want   int
		err    string
	}{
		{agent, "a", "one", v(1), 0, "#mem-a: it was changed meanwhile: it is not there, not at version 1"},
		{agent, "a", "one", v(0), 1, ""},
		{agent, "a", "two", v(0), 0, "it is at version 1, by main, "},
		{0, "#mem-a", "two", nil, 2, ""},
		{agent, "a", "three", v(1), 0, "it is at version 2, by the user, "},
		{agent, "a/part", "one", v(0), 1, ""},
		{agent, "a", " \n", v(2), 0, "#mem-a: the text is empty; only the user removes a document"},
		{0, "a", " \n", v(2), 3, ""},
		{0, "a", "", nil, 0, "#mem-a: the text is empty, and there is no such document"},
		{agent, "a", "anew", v(2), 0, "it was changed meanwhile: it is not there"},
		{agent, "a", "anew", v(0), 4, ""},
		{0, "a", "", nil, 5, ""},
		{agent, "a", "again", v(5), 6, ""}, // the writer knows that it was removed
		{agent, "a b", "x", nil, 0, `"a b" names no memory document`},
		{agent, "b", "\xff", nil, 0, "#mem-b: the text is no UTF-8"},
		{agent, "b", strings.Repeat("x", inbox.MaxBody+1), nil, 0, "#mem-b would have 1048577 bytes; a memory document has at most 1 MiB: divide it into parts (b/PART)"},
	} {
		got := 0
		err := db.Write(t.Context(), "write", func(tx *store.Tx) (err error) {
			got, err = history.WriteDocumentAs(tx, history.Document{Agent: c.by, Text: c.text}, c.title, c.expect)
			return err
		})
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || errors.Is(err, history.ErrChanged) != strings.Contains(c.err, "it is ") {
			t.Errorf("%s by %d: version %d, %v; want %d %s", c.title, c.by, got, err, c.want, c.err)
		}
	}
}
