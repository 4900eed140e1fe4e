package notify

import "time"

const (
	// FlashLong is how long a line about an event is shown at most.
	FlashLong = 3 * time.Second
	// TwiceWithin is how soon a key must be pressed again to take effect.
	TwiceWithin = 2 * time.Second
)

// Flash is the line, which may be empty, and the armed key.
type Flash struct {
	now   func() time.Time
	fresh bool // changed since it was last drawn

	flashLine
	armed armed
}

type flashLine struct {
	text  string
	until time.Time   // zero: as long as holds is true
	holds func() bool // reports whether it is still true; nil: it stays true
	keyed bool        // it answers a key, and the next key ends it
}

// armed is a key that has an effect when pressed again soon.
type armed struct {
	key   string
	until time.Time
}

// NewFlash makes an empty line.
func NewFlash(now func() time.Time) *Flash { return &Flash{now: now} }

// Text returns the line; "": none.
func (l *Flash) Text() string { return l.text }

// Fresh reports whether the line changed since it was drawn.
func (l *Flash) Fresh() bool { return l.fresh }

// Say shows a line about an event.
func (l *Flash) Say(text string) { l.While(text, nil) }

// While is Say for a line that may become untrue.
func (l *Flash) While(text string, holds func() bool) {
	l.flashLine, l.fresh = flashLine{text: text, until: l.now().Add(FlashLong), holds: holds}, true
}

// Until shows a line for as long as holds is true.
func (l *Flash) Until(text string, holds func() bool) {
	l.flashLine, l.fresh = flashLine{text: text, holds: holds}, true
}

// Clear empties the line.
func (l *Flash) Clear() { l.flashLine = flashLine{} }

// Again reports whether the key was pressed a moment ago too. If not, it arms the key and shows
// text, which says what a second press does, for as long as the key is armed.
func (l *Flash) Again(key, text string, holds func() bool) bool {
	now := l.now()
	if l.armed.key == key && now.Before(l.armed.until) {
		l.armed = armed{}
		l.Clear()
		return true
	}
	l.armed = armed{key, now.Add(TwiceWithin)}
	l.While(text, holds)
	l.until = l.armed.until
	return false
}

// Key runs handle for a key. The key disarms any other key and drops the line of the key before it.
// The next key drops the line that handle shows.
func (l *Flash) Key(key string, handle func()) {
	if l.armed.key != key {
		l.armed = armed{}
	}
	if l.keyed {
		l.Clear()
	}
	was := l.flashLine
	handle()
	if l.text != was.text || !l.until.Equal(was.until) {
		l.keyed = !l.until.IsZero()
	}
}

// Draw drops the line if its time is over. It is called right before drawing.
func (l *Flash) Draw() {
	l.fresh = false
	if l.text != "" && (!l.until.IsZero() && !l.now().Before(l.until) || l.holds != nil && !l.holds()) {
		l.Clear()
	}
}

// Left returns how much longer the line is shown. ok is false if it has no time limit.
func (l *Flash) Left() (d time.Duration, ok bool) {
	return l.until.Sub(l.now()), l.text != "" && !l.until.IsZero()
}
