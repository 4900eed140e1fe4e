// Package flash has the line that the status line shows for a moment.
//
// Does: keep the line for as long as what it says holds and it takes to read it, end it
// with the next key if it answers one, and tell whether a key that means more the second
// time comes for the second time.
//
// Does not: draw it (that is package tabs), start a timer: [Line.Left] says when to look
// again.
//
// Imports: nothing of Fantail.
package flash

import "time"

const (
	// Long is how long a line that tells what has happened shows at most.
	Long = 3 * time.Second
	// Twice is how soon a key must come again to mean more.
	Twice = 2 * time.Second
)

// Line is the line, empty or not, and the key that is armed.
type Line struct {
	now   func() time.Time
	fresh bool // it changed since it was last drawn

	line
	armed armed
}

type line struct {
	text  string
	until time.Time   // zero: as long as it holds
	holds func() bool // whether what it says is still so; nil: nothing can change that
	keyed bool        // it answers a key: the next one ends it
}

// armed is a key that means more when pressed again soon.
type armed struct {
	key   string
	until time.Time
}

// New makes an empty line.
func New(now func() time.Time) *Line { return &Line{now: now} }

// Text is what it says; "": nothing.
func (l *Line) Text() string { return l.text }

// Fresh reports whether it says something that was not drawn yet.
func (l *Line) Fresh() bool { return l.fresh }

// Say shows a line of what has happened.
func (l *Line) Say(text string) { l.While(text, nil) }

// While is Say of what may cease to be so.
func (l *Line) While(text string, holds func() bool) {
	l.line, l.fresh = line{text: text, until: l.now().Add(Long), holds: holds}, true
}

// Until shows a line for as long as it holds.
func (l *Line) Until(text string, holds func() bool) {
	l.line, l.fresh = line{text: text, holds: holds}, true
}

// Clear empties it.
func (l *Line) Clear() { l.line = line{} }

// Again reports whether the key came a moment ago too. If not it arms it, and says what
// a second press does for as long as it would.
func (l *Line) Again(key, text string, holds func() bool) bool {
	now := l.now()
	if l.armed.key == key && now.Before(l.armed.until) {
		l.armed = armed{}
		l.Clear()
		return true
	}
	l.armed = armed{key, now.Add(Twice)}
	l.While(text, holds)
	l.until = l.armed.until
	return false
}

// Key lets a key disarm any other and end what the one before it said, then handles it;
// what that says is ended by the next.
func (l *Line) Key(key string, handle func()) {
	if l.armed.key != key {
		l.armed = armed{}
	}
	if l.keyed {
		l.Clear()
	}
	was := l.line
	handle()
	if l.text != was.text || !l.until.Equal(was.until) {
		l.keyed = !l.until.IsZero()
	}
}

// Draw empties the line if it is to go, just before it is drawn.
func (l *Line) Draw() {
	l.fresh = false
	if l.text != "" && (!l.until.IsZero() && !l.now().Before(l.until) || l.holds != nil && !l.holds()) {
		l.Clear()
	}
}

// Left is how long it shows yet; ok: its end is a matter of time.
func (l *Line) Left() (d time.Duration, ok bool) {
	return l.until.Sub(l.now()), l.text != "" && !l.until.IsZero()
}
