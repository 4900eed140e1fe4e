package ui

import (
	"fmt"
	"strings"

	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Opening is what is known once the workspace is open: what it remembers, and which
// of its files steer the agents. Empty fields say nothing.
type Opening struct {
	Start        string // the model and why it was chosen
	Trouble      string // why it is not the one that was chosen here
	Theme        string // the theme that was chosen here
	Instructions string // the file main is told of
	Policy       string // the file that says how main's mail is handled
}

// opening is an Opening on a screen.
type opening struct {
	Opening
	told bool
}

// Begin tells what is known once the workspace is open. Any goroutine may call it.
func (a *App) Begin(o Opening) { a.program.Send(o) }

// begin takes it in.
func (a *App) begin(o Opening) {
	a.opening, a.dirty = opening{Opening: o}, true
	if o.Start != "" {
		a.o.Start = o.Start
	}
	if o.Theme != "" {
		if t, err := themes.Load(o.Theme, a.look.noColor); err != nil {
			a.flash.Say(words.Sentence(fmt.Errorf("the theme %s, which was chosen here, can't be had: %w", o.Theme, err)))
		} else {
			a.look.chosen = true
			a.setTheme(t)
		}
	}
	a.tellOpening()
}

// inForce names the files that steer main.
func (o Opening) inForce() string {
	var in []string
	if o.Instructions != "" {
		in = append(in, "instructions from "+o.Instructions)
	}
	if o.Policy != "" {
		in = append(in, "mail policy from "+o.Policy)
	}
	return strings.Join(in, ", ")
}

// tellOpening says in main's transcript what the start screen says where there is
// none yet.
func (a *App) tellOpening() {
	t := a.tabs.Main()
	if a.opening.told || t == nil || !t.Loaded || t.Newest == 0 {
		return
	}
	a.opening.told = true
	if a.o.ReadOnly != nil {
		t.View.Local(readOnly(a.o.ReadOnly), transcript.Bad)
		a.dirty = true
	}
	if s := a.opening.Trouble; s != "" {
		t.View.Local(s, transcript.Bad)
		a.dirty = true
	}
	if s := a.opening.inForce(); s != "" {
		t.View.Local("In force: "+s, transcript.Plain)
		a.dirty = true
	}
}

// readOnly says at the start that nothing can be written, why, and what that means.
func readOnly(why error) string {
	return fmt.Sprintf("Read-only: %s. What is there shows; nothing starts, is taken or is kept.", frame.Clean(why.Error()))
}

// welcomeRows are the rows of the start screen about the model and the workspace.
func (a *App) welcomeRows(w int) (rows []string) {
	p := a.theme.Paint
	rows = a.modelLines(w)
	add := func(text string, role themes.Role) {
		for _, l := range frame.Wrap(frame.CleanLine(text), max(10, w-14)) {
			rows = append(rows, "       "+p(role, l))
		}
	}
	if a.o.ReadOnly != nil {
		add(readOnly(a.o.ReadOnly), themes.Bad)
	}
	if s := a.opening.Trouble; s != "" {
		add(s, themes.Bad)
	}
	rows = append(rows, p(themes.Dim, "here   ")+frame.Cut(frame.CleanLine(a.o.Root), max(10, w-12)))
	if s := a.opening.inForce(); s != "" {
		add(s, themes.Text)
	}
	return rows
}
