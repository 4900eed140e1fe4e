package panel

import (
	"context"
	"errors"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// same is a list in which nothing is new.
type same struct{ *Panel }

func (same) read(query, staleness) reading       { return nil }
func (same) touched(event.Event) bool            { return true }
func (same) do(dialog.BoardAction) intent.Intent { return nil }
func (same) about(int64) func(context.Context, *preview) error {
	return func(context.Context, *preview) error { return nil }
}

// listing is a panel with the bar on the first of two rows.
func listing(t *testing.T) *Panel {
	theme, err := themes.Load(themes.Default(true), true)
	if err != nil {
		t.Fatal(err)
	}
	box := dialog.NewBoard(theme, time.Now, "Rows", "", nil, false)
	box.Show([]dialog.Line{{ID: 1}, {ID: 2}}, false, false)
	box.Peek()
	p := open(Options{Theme: theme, Now: time.Now}, 0, "", box, nil)
	p.list = same{p}
	return p
}

// follow carries out what i says, to its end.
func follow(t *testing.T, i intent.Intent) {
	t.Helper()
	switch i := i.(type) {
	case nil:
	case intent.All:
		for _, one := range i {
			follow(t, one)
		}
	case intent.Run:
		follow(t, i.F(t.Context()))
	case intent.Call:
		follow(t, i())
	default:
		t.Fatalf("%T", i)
	}
}

// A key that asks for something in place of a row is not lost while the row's preview is being made.
func TestInstead_whileAPreviewIsMade(t *testing.T) {
	report := func(context.Context, *preview) error { return nil }
	p := listing(t)
	shows := func(want string) {
		t.Helper()
		if p.preview == nil || p.preview.what != want || p.box.Previews() != 1 {
			t.Fatalf("%+v of %d shows, want %q", p.preview, p.box.Previews(), want)
		}
	}
	first := p.Wants()
	follow(t, p.instead(1, "report", report))
	follow(t, first)
	shows("report")
	follow(t, p.instead(1, "report", report))
	follow(t, p.Wants())
	shows("")
	p.Note(nil)
	first = p.Wants()
	follow(t, p.instead(1, "report", func(context.Context, *preview) error { return errors.New("there is none") }))
	follow(t, first)
	shows("")
	first = p.Wants()
	follow(t, p.instead(1, "report", report))
	follow(t, first)
	shows("report")

	p = listing(t)
	first = p.Wants()
	follow(t, p.instead(2, "report", report))
	follow(t, first)
	shows("")
}
