package ui

import (
	"strings"

	"fantail/ui/composer"
	"fantail/ui/notify"
	"fantail/ui/tabs"
)

// DraftOptions is what the drafts share with the rest of the screen.
type DraftOptions struct {
	Tabs  *tabs.Tabs
	Flash *notify.Flash
	// Complete returns the candidates for the word being typed. Mention returns those for a text
	// that is not a command.
	Complete, Mention composer.Source
	// Withhold returns a typed text without its secret keys. nil: texts stay as typed.
	Withhold func(text string) string
	History  string // file of the history; "": none
	ReadOnly bool   // the history is not written, and drafts are neither left nor taken
	Go       func(name string, f func())
}

// Drafts holds what was typed into the boxes of all tabs.
type Drafts struct {
	DraftOptions

	past   past
	early  []typedText // sent before the pool arrived
	store  draftStore  // nil until the pool arrived
	offer  offer
	saving saving
}

// NewDrafts returns a Drafts without drafts.
func NewDrafts(e DraftOptions) *Drafts {
	return &Drafts{DraftOptions: e, offer: newOffer(), past: past{path: e.History, shut: e.ReadOnly, read: e.History == ""}}
}

// Box makes a prompt box.
func (d *Drafts) Box() *composer.Box {
	b := composer.New(d.Tabs.Theme, d.Complete, "› ")
	b.SetHistory(d.past.texts)
	return b
}

// Tell opens the one-line box of a tab without a prompt box. Its text is an instruction for the
// agent or, if the agent has ended, a prompt to resume it with.
func (d *Drafts) Tell(t *tabs.Tab) {
	if t.Info.Kind.Handles() {
		d.Flash.While(t.Info.Name+" is a fork: it handles one message and takes no instructions", d.Tabs.Stays(t))
		return
	}
	if t.Info.Kind.Observes() {
		d.Flash.While(t.Info.Name+" is an observer: it follows its schedule and takes no instructions", d.Tabs.Stays(t))
		return
	}
	l := &tabs.Line{For: tabs.Tell, Label: "tell " + t.Info.Name + "› "}
	if t.Info.State.Terminal() {
		l.For, l.Label = tabs.Resume, "resume "+t.Info.Name+" with› "
	}
	l.Box = composer.New(d.Tabs.Theme, d.Mention, l.Label)
	t.Line = l
}

// Talk opens that line unless the tab has a box or a line already.
func (d *Drafts) Talk(t *tabs.Tab) {
	if t != nil && t.Typing() == nil {
		d.Tell(t)
	}
}

// Command opens that line for a command as main.
func (d *Drafts) Command(t *tabs.Tab) {
	l := &tabs.Line{Label: "as main› "}
	l.Box = composer.New(d.Tabs.Theme, d.Complete, l.Label)
	l.Box.Set("/")
	t.Line = l
}

// typedText is a text as it is sent.
type typedText struct {
	text   string
	starts bool // it is for a new agent
}

// typed returns the text as it was typed.
func (k typedText) typed() string {
	if k.starts {
		return "&" + k.text
	}
	return k.text
}

// Typed returns the text of a box as it is sent: without keys.
func (d *Drafts) Typed(box *composer.Box) (k typedText) {
	k.text, k.starts = box.Sent()
	k.text = d.withheld(k.text)
	return k
}

// withheld returns a typed text without its keys.
func (d *Drafts) withheld(text string) string {
	if d.Withhold == nil {
		return text
	}
	return d.Withhold(text)
}

// Keep stores the text of a box until the pool arrives.
func (d *Drafts) Keep(box *composer.Box) {
	d.early = append(d.early, d.Typed(box))
	box.Clear()
	d.Flash.Until("kept until the workspace is open", func() bool { return len(d.early) > 0 })
}

// Kept returns the stored texts in order, and forgets them.
func (d *Drafts) Kept() []typedText {
	texts := d.early
	d.early = nil
	return texts
}

// Give puts a text typed for t's agent before the draft in its box or in a line to it, else into
// main's box. It says so if that box is out of sight.
func (d *Drafts) Give(t *tabs.Tab, text string) { d.hand(t, text, (*composer.Box).Prepend) }

// Again is Give for a text for a new agent.
func (d *Drafts) Again(t *tabs.Tab, text string) { d.hand(t, text, (*composer.Box).Again) }

// Lead is Give with the cursor after the text.
func (d *Drafts) Lead(t *tabs.Tab, text string) { d.hand(t, text, (*composer.Box).Lead) }

func (d *Drafts) hand(t *tabs.Tab, text string, put func(b *composer.Box, text string)) {
	if strings.TrimSpace(text) == "" {
		return
	}
	t, open := d.placeOf(t, text)
	if t != d.Tabs.Focus {
		d.Flash.While("your text is in "+t.Info.Name+"'s box now", func() bool { return d.Tabs.Focus != t })
	}
	if t.Typing() == nil {
		open(t)
	}
	if box := t.Typing(); box.Value() == "/" {
		box.Set(text)
	} else {
		put(box, text)
	}
}

// placeOf returns the tab that can take a text for t's agent, and the function that opens a line
// there.
func (d *Drafts) placeOf(t *tabs.Tab, text string) (_ *tabs.Tab, open func(t *tabs.Tab)) {
	open, takes := d.Tell, takesWords
	if strings.HasPrefix(text, "/") {
		open, takes = d.Command, takesCommand
	}
	if t == nil || d.Tabs.ByID(t.Info.ID) != t || !takes(t) {
		t = d.Tabs.Main()
	}
	return t, open
}

// takesWords reports whether a tab has a box for its agent or can have a line to it.
func takesWords(t *tabs.Tab) bool {
	if t.Box != nil || t.Line == nil {
		return !t.Info.Kind.Fleeting()
	}
	return t.Line.For != tabs.Command || t.Line.Box.Value() == "/"
}

// takesCommand reports the same for a command.
func takesCommand(t *tabs.Tab) bool {
	return t.Box != nil || t.Line == nil || t.Line.For == tabs.Command || t.Line.Box.Value() == "/"
}

// Closed gives back what was typed in a closed tab.
func (d *Drafts) Closed(t *tabs.Tab) {
	if t.Box != nil {
		d.Give(t, t.Box.Value())
	}
	if t.Line != nil && t.Line.Box.Value() != "/" {
		d.Give(t, t.Line.Box.Value())
	}
}
