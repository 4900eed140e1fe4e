package term

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// What a terminal sends before and after a pasted text.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// How long to wait for the rest of an incomplete sequence. What a terminal sends as one may arrive in pieces.
const (
	escAlt     = 50 * time.Millisecond   // until a key after ESC is not held with Alt
	escKey     = 100 * time.Millisecond  // until ESC alone is the key; reports have arrived 60 ms after their ESC
	escReport  = 250 * time.Millisecond  // the same after a report, and until `ESC [` or the like is a key held with Alt
	reportsFor = time.Second             // how old a report may be for that
	restWithin = time.Second             // after passing on a key that may have been the start of a report
	torn       = 1200 * time.Millisecond // until what can only be a part of a report is dropped
	slowest    = 5 * time.Second         // for the whole of a report
	pasteStops = 1500 * time.Millisecond // until a paste without an end mark is over
	pasteRests = 100 * time.Millisecond  // until Ctrl+C or Esc in a paste is a key
)

// The most bytes stored of an endless sequence, and the length from which bytes that came at once were not typed.
const (
	maxSequence = 8 << 10
	noHuman     = 32
)

// input turns a terminal's bytes into events, however they are split. It has no clock: feed gets the time at which
// bytes came, and expire must be called at the time that due returns.
type input struct {
	decoder uv.EventDecoder
	events  []uv.Event // for the caller

	buf   []byte    // bytes that are no event yet
	waits waits     // what they may become
	began time.Time // when its first byte came
	came  time.Time // when the last byte came
	burst bool      // all of it came as fast as a machine sends
	over  bool      // it was so long that its middle was dropped
	heard time.Time // when the terminal last sent bytes that are not typed
	x10   bool      // it sends the mouse in the old form

	before string    // bytes before buf that are, or were taken for, a key: the rest of a report may follow. "": none
	owed   bool      // that key was not passed on
	until  time.Time // from then on before is ""

	open    bool   // in a paste
	text    []byte // of that, so far
	escaped bool   // its last byte is an ESC that came alone
	lost    bool   // the last paste ended without its mark: more of it may follow
}

// feed adds bytes that came at that time.
func (in *input) feed(chunk []byte, now time.Time) []uv.Event {
	pause := now.Sub(in.came)
	in.came = now
	if in.goesOn(chunk) {
		chunk = in.pasted(chunk, pause)
	}
	if len(chunk) > 0 {
		in.typed(chunk, pause)
	}
	return in.taken()
}

// taken returns the events since it was last asked.
func (in *input) taken() []uv.Event {
	events := in.events
	in.events = nil
	return events
}

// typed adds bytes outside of a paste.
func (in *input) typed(chunk []byte, pause time.Duration) {
	if in.before != "" && len(in.buf) == 0 && !in.came.Before(in.until) {
		in.before = ""
	}
	if len(in.buf) > 0 && in.came.Sub(in.began) > slowest {
		in.drop(len(in.buf))
	}
	if len(in.buf) == 0 {
		in.began, in.burst = in.came, true
	} else if pause >= escAlt {
		in.burst = false
		in.cutBehindEsc()
	}
	in.buf = append(in.buf, chunk...)
	in.take()
	if len(in.buf) > maxSequence {
		last := in.buf[len(in.buf)-1]
		in.buf, in.over = in.buf[:16], true
		if last == ansi.ESC { // of what ends it, the first half
			in.buf = append(in.buf, last)
		}
	}
}

// cutBehindEsc separates an ESC that was alone so long that what follows is not held with Alt: it is the rest of a
// report, or was typed after the key.
func (in *input) cutBehindEsc() {
	if in.before != "" || strings.Trim(string(in.buf), "\x1b") != "" {
		return
	}
	for range len(in.buf) - 1 {
		in.event([]byte{ansi.ESC})
	}
	in.buf, in.before, in.owed, in.until = nil, "\x1b", true, in.came.Add(restWithin)
	in.began, in.burst = in.came, true
}

// take turns complete sequences into events.
func (in *input) take() {
	for len(in.buf) > 0 && !in.open {
		b, given := in.buf, 0
		var n int
		if in.before == "" {
			n, in.waits = sequence(b)
		} else {
			given = len(in.before)
			b = append([]byte(in.before), b...)
			n, in.waits = in.rest(b)
		}
		switch in.waits {
		case whole:
			seq := bytes.Clone(b[:n])
			over := in.over
			if in.drop(n - given); !over {
				in.event(seq)
			}
		case garbage:
			in.drop(n - given)
			in.heard = in.came
		case text:
			in.give()
		case some, report:
			return
		}
	}
	if in.open && len(in.buf) > 0 { // a paste began
		rest := in.buf
		in.drop(len(rest))
		if rest = in.pasted(rest, 0); len(rest) > 0 {
			in.buf = rest
			in.take()
		}
	}
}

// drop removes n bytes from buf, and those before it.
func (in *input) drop(n int) {
	in.buf = in.buf[n:]
	in.before, in.owed, in.over = "", false, false
}

// give passes on the key that was taken for the start of a report.
func (in *input) give() {
	before, owed := in.before, in.owed
	if in.drop(0); owed {
		in.event([]byte(before))
	}
}

// due returns when expire must be called; zero: not before more bytes come.
func (in *input) due() time.Time {
	switch {
	case in.open && in.escaped:
		return in.came.Add(escReport)
	case in.open:
		return in.came.Add(pasteStops)
	case len(in.buf) == 0:
		return time.Time{}
	case in.waits == report:
		return in.came.Add(torn)
	case in.before == "\x1b" && in.buf[0] == 'O':
		return in.came.Add(escAlt)
	case in.before != "":
		return in.came.Add(escReport)
	case in.buf[0] != ansi.ESC:
		return in.came.Add(torn)
	case strings.Trim(string(in.buf), "\x1b") == "" && in.came.Sub(in.heard) > reportsFor:
		return in.came.Add(escKey)
	case len(in.buf) <= 2 || in.buf[1] == ansi.ESC:
		return in.came.Add(escReport)
	}
	return in.came.Add(torn)
}

// expire ends the waits that are over by then.
func (in *input) expire(now time.Time) []uv.Event {
	for {
		due := in.due()
		if due.IsZero() || now.Before(due) {
			return in.taken()
		}
		switch b := in.buf; {
		case in.open:
			in.stopPaste(now)
		case in.waits == report:
			in.drop(len(b))
			in.heard = now
		case in.before != "":
			in.give()
			in.take()
		case len(b) > 1 && b[0] == ansi.ESC && b[1] == ansi.ESC:
			in.drop(1)
			in.event(b[:1])
			in.take()
		case len(b) <= 2 && b[0] == ansi.ESC && (len(b) == 1 || b[1] < utf8.RuneSelf):
			in.drop(len(b))
			in.event(b)
			in.before, in.until = string(b), now.Add(restWithin)
		default:
			in.drop(len(b))
			in.heard = now
		}
	}
}

// end returns the remaining events when the terminal is gone: of an unfinished paste, what has come. A key that may be
// the start of a report is dropped.
func (in *input) end() []uv.Event {
	if in.open {
		in.closePaste(in.text)
	}
	return in.taken()
}

// event adds what a whole sequence means.
func (in *input) event(seq []byte) {
	switch {
	case string(seq) == "\uFFFD": // to the decoder a byte that is no character
		in.events = append(in.events, uv.KeyPressEvent{Code: utf8.RuneError, Text: "\uFFFD"})
		return
	case len(seq) == 4 && string(seq[:3]) == "\x1b[[": // the Linux console's F1 to F5
		in.events = append(in.events, uv.KeyPressEvent{Code: uv.KeyF1 + rune(seq[3]-'A')})
		return
	case len(seq) == 6 && string(seq[:3]) == "\x1b[M":
		in.x10 = true
	}
	_, e := in.decoder.Decode(seq)
	all, several := e.(uv.MultiEvent)
	if !several {
		all = uv.MultiEvent{e}
	}
	for _, e := range all {
		switch e := e.(type) {
		case uv.KeyPressEvent:
			in.events = append(in.events, uv.KeyPressEvent(typing(uv.Key(e), seq)))
		case uv.KeyReleaseEvent:
			in.events = append(in.events, e)
		case uv.PasteStartEvent:
			in.open, in.lost, in.text = true, false, nil
		case uv.PasteEndEvent:
			in.lost = false
		case nil, uv.UnknownEvent, uv.UnknownCsiEvent, uv.UnknownSs3Event, uv.UnknownOscEvent, uv.UnknownDcsEvent, uv.UnknownApcEvent, uv.UnknownPmEvent, uv.UnknownSosEvent:
			in.heard = in.came
		default:
			in.heard = in.came
			in.events = append(in.events, e)
		}
	}
}

// typing returns the key as the text that it types, if it types any. Terminals that send keys as sequences report
// AltGr as Ctrl and Alt; the typed text may be in the report, or be the key itself.
func typing(k uv.Key, seq []byte) uv.Key {
	const altGr = tea.ModCtrl | tea.ModAlt
	if k.Text == "" && k.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == altGr && len(seq) > 1 && seq[1] == '[' &&
		unicode.IsPrint(k.Code) && !(k.Code < utf8.RuneSelf && (unicode.IsLetter(k.Code) || unicode.IsDigit(k.Code) || k.Code == ' ')) {
		k.Text = string(k.Code)
	}
	if k.Text != "" && k.Mod&altGr != 0 && strings.IndexFunc(k.Text, unicode.IsControl) < 0 {
		k.Mod &^= altGr
	}
	return k
}

// goesOn reports whether the bytes belong to a paste: to an open one, or to one whose end mark did not come, if they
// are too many to be typed or contain the mark.
func (in *input) goesOn(chunk []byte) bool {
	if in.open || !in.lost || len(in.buf) > 0 {
		return in.open
	}
	end, begin := bytes.Index(chunk, []byte(pasteEnds)), bytes.Index(chunk, []byte(pasteBegins))
	in.open = end > 0 && (begin < 0 || begin > end) || len(chunk) >= noHuman && bytes.IndexByte(chunk, ansi.ESC) < 0
	return in.open
}

// pasted adds bytes to a paste, and returns those after its end.
func (in *input) pasted(chunk []byte, pause time.Duration) (rest []byte) {
	if pause >= pasteRests && in.isCtrlC(chunk) {
		in.closePaste(in.text)
		in.lost = true
		return chunk
	}
	in.escaped = pause >= pasteRests && string(chunk) == "\x1b"
	from := max(0, len(in.text)-len(pasteEnds)+1)
	in.text = append(in.text, chunk...)
	at := bytes.Index(in.text[from:], []byte(pasteEnds))
	if at < 0 {
		return nil
	}
	at += from
	rest = bytes.Clone(in.text[at+len(pasteEnds):])
	in.closePaste(in.text[:at])
	return rest
}

// stopPaste ends a paste whose end mark does not come; an ESC that came alone in it is the key.
func (in *input) stopPaste(now time.Time) {
	escaped := in.escaped
	if escaped {
		in.text = in.text[:len(in.text)-1]
	}
	in.closePaste(in.text)
	if in.lost = true; escaped {
		in.event([]byte{ansi.ESC})
		in.before, in.until = "\x1b", now.Add(restWithin)
	}
}

func (in *input) closePaste(text []byte) {
	in.events = append(in.events, uv.PasteEvent{Content: strings.ToValidUTF8(string(text), "\uFFFD")})
	in.open, in.escaped, in.lost, in.text = false, false, false, nil
}

// isCtrlC reports whether bytes are nothing but presses of Ctrl+C.
func (in *input) isCtrlC(b []byte) bool {
	for len(b) > 0 {
		n, w := sequence(b)
		if w != whole {
			return false
		}
		_, e := in.decoder.Decode(bytes.Clone(b[:n]))
		if k, is := e.(uv.KeyPressEvent); !is || k.Keystroke() != "ctrl+c" {
			return false
		}
		b = b[n:]
	}
	return true
}
