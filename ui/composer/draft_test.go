package composer

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestDraft_fromBoxToBox: an unsent text goes from box to box byte for byte, its pastes as pastes.
func TestDraft_fromBoxToBox(t *testing.T) {
	paste := strings.Repeat("a line\r\n\xff\x00", 500)
	b := box(t)
	typed(b, "before ")
	b.Paste(paste)
	typed(b, " between ")
	b.Paste(strings.ToUpper(paste))
	typed(b, " after")
	ds := Unsent(b)
	if len(ds) != 1 || ds[0].Text != b.Value() || !reflect.DeepEqual(ds[0].Pastes, []string{paste, strings.ToUpper(paste)}) {
		t.Fatalf("%d drafts of %d pastes", len(ds), len(ds[0].Pastes))
	}
	c := box(t)
	ds[0].Into(c)
	if again := Unsent(c); !reflect.DeepEqual(again, ds) || c.Value() != b.Value() {
		t.Errorf("%d bytes became %d", len(b.Value()), len(c.Value()))
	}
	if got := strings.Join(c.Lines(80, 10), "\n"); !strings.Contains(got, "#1") || !strings.Contains(got, "#2") || strings.Contains(got, "a line") {
		t.Errorf("it shows as\n%s", got)
	}
}

// TestUnsent_onAWalk: a draft hidden by a walk through the history is unsent; an unchanged recalled entry is not.
func TestUnsent_onAWalk(t *testing.T) {
	texts := func(b *Box) (all []string) {
		for _, d := range Unsent(b) {
			all = append(all, d.Text)
		}
		return all
	}
	b := box(t)
	if got := texts(b); got != nil {
		t.Errorf("in an empty box: %q", got)
	}
	typed(b, " ")
	if got := texts(b); got != nil {
		t.Errorf("of a blank: %q", got)
	}
	b.Clear()
	b.SetHistory([]string{"one", "two"})
	keys(b, "up")
	if got := texts(b); got != nil {
		t.Errorf("of a recalled entry: %q", got)
	}
	keys(b, "down")
	typed(b, "draft")
	keys(b, "up")
	if got := texts(b); !reflect.DeepEqual(got, []string{"draft"}) {
		t.Errorf("with the draft out of sight: %q", got)
	}
	typed(b, "!")
	if got := texts(b); !reflect.DeepEqual(got, []string{"draft", "two!"}) {
		t.Errorf("with an edited entry: %q", got)
	}
}

func typed(b *Box, text string) {
	for _, r := range text {
		b.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}
