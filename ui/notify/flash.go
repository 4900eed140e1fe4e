package notify

import "time"

const (
	// FlashLong is how long a line about what has happened shows at most.
	FlashLong = 3 * time.Second
	// TwiceWithin is how soon a key must be pressed again to mean more.
	TwiceWithin = 2 * time.Second
)

// Flash is the line, empty or not, and the key that is armed.
type Flash struct {
	now   func() time.Time
	fresh bool // changed since it was last drawn

	flashLine
	armed armed
}

type flashLine struct {
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

// NewFlash makes an empty line.
func NewFlash(now func() time.Time) *Flash { return &Flash{now: now} }

// Text is what it says; "": nothing.
func (l *Flash) Text() string { return l.text }

// Fresh reports whether there is something not drawn yet.
func (l *Flash) Fresh() bool { return l.fresh }

// Say shows a line about what has happened.
func (l *Flash) Say(text string) { l.While(text, nil) }

// While is Say of what may stop being true.
func (l *Flash) While(text string, holds func() bool) {
	l.flashLine, l.fresh = flashLine{text: text, until: l.now().Add(FlashLong), holds: holds}, true
}

// Until shows a line for as long as it is true.
func (l *Flash) Until(text string, holds func() bool) {
	l.flashLine, l.fresh = flashLine{text: text, holds: holds}, true
}

// Clear empties it.
func (l *Flash) Clear() { l.flashLine = flashLine{} }

// Again reports whether the key was pressed a moment ago too. If not, it arms the key and shows
// text, which says what a second press does, for as long as it would.
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

// Key runs handle for a key, which disarms any other key and drops what the key before it said.
// What handle says is dropped by the next key.
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

// Draw drops the line if its time is up, right before drawing.
func (l *Flash) Draw() {
	l.fresh = false
	if l.text != "" && (!l.until.IsZero() && !l.now().Before(l.until) || l.holds != nil && !l.holds()) {
		l.Clear()
	}
}

// Left is how much longer the line shows; ok is false if that is not a matter of time.
func (l *Flash) Left() (d time.Duration, ok bool) {
	return l.until.Sub(l.now()), l.text != "" && !l.until.IsZero()
}
