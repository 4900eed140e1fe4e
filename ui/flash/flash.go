// Package flash has the line that the status line shows for a moment.
//
// Does: keep the line while it holds true and for the time it takes to read, drop it at the next
// key if it answered one, and tell whether a key that means more when pressed twice was.
//
// Does not: draw it (that is package tabs), or start a timer: [Line.Left] says when to look again.
//
// Imports: nothing of Fantail.
package flash

import "time"

const (
	// Long is how long a line about what has happened shows at most.
	Long = 3 * time.Second
	// Twice is how soon a key must be pressed again to mean more.
	Twice = 2 * time.Second
)

// Line is the line, empty or not, and the key that is armed.
type Line struct {
	now   func() time.Time
	fresh bool // changed since it was last drawn

	line
	armed armed
}

type line struct {
	text  string
	until time.Time   // zero: as long as it holds
	holds func() bool // whether it is still true; nil: it stays true
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

// Fresh reports whether there is something not drawn yet.
func (l *Line) Fresh() bool { return l.fresh }

// Say shows a line about what has happened.
func (l *Line) Say(text string) { l.While(text, nil) }

// While is Say of what may stop being true.
func (l *Line) While(text string, holds func() bool) {
	l.line, l.fresh = line{text: text, until: l.now().Add(Long), holds: holds}, true
}

// Until shows a line for as long as it is true.
func (l *Line) Until(text string, holds func() bool) {
	l.line, l.fresh = line{text: text, holds: holds}, true
}

// Clear empties it.
func (l *Line) Clear() { l.line = line{} }

// Again reports whether the key was pressed a moment ago too. If not, it arms the key and shows
// text, which says what a second press does, for as long as it would.
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

// Key runs handle for a key, which disarms any other key and drops what the key before it said.
// What handle says is dropped by the next key.
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

// Draw drops the line if its time is up, right before drawing.
func (l *Line) Draw() {
	l.fresh = false
	if l.text != "" && (!l.until.IsZero() && !l.now().Before(l.until) || l.holds != nil && !l.holds()) {
		l.Clear()
	}
}

// Left is how much longer the line shows; ok is false if that is not a matter of time.
func (l *Line) Left() (d time.Duration, ok bool) {
	return l.until.Sub(l.now()), l.text != "" && !l.until.IsZero()
}
