package ui

import (
	"time"

	"fantail/ui/tabs"
)

// flash is a line in the status line that stands as long as what it says holds, and
// no longer than it takes to read it.
type flash struct {
	text  string
	until time.Time   // zero: as long as it holds
	holds func() bool // whether what it says is still so; nil: nothing can change that
	keyed bool        // it answers a key: the next one ends it
}

// flashFor is how long a line stands at most that tells what has happened.
const flashFor = 3 * time.Second

// say shows a line of what has happened.
func (a *App) say(text string) { a.sayWhile(text, nil) }

// sayWhile is say of what may cease to be so.
func (a *App) sayWhile(text string, holds func() bool) {
	a.flash = flash{text: text, until: a.o.Now().Add(flashFor), holds: holds}
	a.dirty = true
}

// sayUntil shows a line for as long as it holds.
func (a *App) sayUntil(text string, holds func() bool) {
	a.flash = flash{text: text, holds: holds}
	a.dirty = true
}

// again reports whether the key came a moment ago too. If not it arms it, and says what
// a second press does for as long as it would.
func (a *App) again(key, text string, holds func() bool) bool {
	now := a.o.Now()
	if a.armed.key == key && now.Before(a.armed.until) {
		a.armed, a.flash = armed{}, flash{}
		return true
	}
	a.armed = armed{key, now.Add(twice)}
	a.sayWhile(text, holds)
	a.flash.until = a.armed.until
	return false
}

// ended reports whether the line is to go.
func (f flash) ended(now time.Time) bool {
	return f.text != "" && (!f.until.IsZero() && !now.Before(f.until) || f.holds != nil && !f.holds())
}

// keyed lets a key end what the one before it said, then handles it; what that says is
// ended by the next.
func (a *App) keyed(handle func()) {
	if a.flash.keyed {
		a.flash = flash{}
	}
	was := a.flash
	handle()
	if a.flash.text != was.text || !a.flash.until.Equal(was.until) {
		a.flash.keyed = !a.flash.until.IsZero()
	}
}

// stays reports whether a tab is still the focused one.
func (a *App) stays(t *tabs.Tab) func() bool {
	return func() bool { return a.tabs.Focus == t }
}
