package term

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// What a terminal sends before and after what is pasted.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// oneKey is how soon after a piece of what begins a paste the next must come for the framework's reader to take both for
// one; it waits twice as long.
const oneKey = uv.DefaultEscTimeout / 2

// pastes reads what is typed, and keeps aside what is pasted there: the framework's reader, which comes behind it, reads
// that as keys too. So it would drop what is no key, look again and again at what may become one, and hear no key for good
// where the end of a paste comes in two pieces. To it each paste is a number.
type pastes struct {
	in    io.Reader
	ready []byte    // to be read
	last  time.Time // when something came
	soon  bool      // after what had come before
	begun int       // how much of pasteBegins the last bytes outside of a paste are
	open  bool      // in a paste
	told  bool      // the framework's reader was told where it begins
	text  []byte    // of that, so far

	mu   sync.Mutex // guards the rest
	made int
	kept map[int]string // by number
}

func newPastes(in io.Reader) *pastes { return &pastes{in: in, kept: map[int]string{}} }

// Read reads all but what is pasted.
func (p *pastes) Read(to []byte) (int, error) {
	for len(p.ready) == 0 {
		chunk := make([]byte, len(to))
		n, err := p.in.Read(chunk)
		now := time.Now()
		p.last, p.soon = now, now.Sub(p.last) < oneKey
		p.sift(chunk[:n])
		switch {
		case err == nil:
		case p.open: // of one that is cut, what came is there
			p.close(p.text)
		case len(p.ready) == 0:
			return 0, err
		}
	}
	n := copy(to, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// sift takes in what was read.
func (p *pastes) sift(chunk []byte) {
	for len(chunk) > 0 {
		if !p.open {
			chunk = p.outside(chunk)
			continue
		}
		from := max(0, len(p.text)-len(pasteEnds)+1)
		p.text = append(p.text, chunk...)
		at := bytes.Index(p.text[from:], []byte(pasteEnds))
		if at < 0 {
			return
		}
		at += from
		chunk = p.text[at+len(pasteEnds):]
		p.close(p.text[:at])
	}
}

// outside passes on what is typed, and returns what is beyond the beginning of a paste. That may come in pieces, if they
// come soon, or else in two: more are a human's, who types what looks like it.
func (p *pastes) outside(chunk []byte) (rest []byte) {
	due := pasteBegins[p.begun:]
	switch {
	case p.begun > 0 && bytes.HasPrefix(chunk, []byte(due)):
		if p.open, p.told, p.begun = true, p.soon, 0; p.soon {
			p.ready = append(p.ready, due...)
		}
		return chunk[len(due):]
	case p.begun > 0 && p.soon && strings.HasPrefix(due, string(chunk)):
		p.begun += len(chunk)
		p.ready = append(p.ready, chunk...)
		return nil
	}
	typed, rest, found := bytes.Cut(chunk, []byte(pasteBegins))
	p.ready = append(p.ready, typed...)
	p.open, p.told, p.begun = found, false, 0
	for n := len(pasteBegins) - 1; n > 0 && !found && p.begun == 0; n-- {
		if bytes.HasSuffix(typed, []byte(pasteBegins[:n])) {
			p.begun = n
		}
	}
	return rest
}

// close ends a paste.
func (p *pastes) close(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	p.kept[p.made] = strings.ToValidUTF8(string(text), "\uFFFD")
	if !p.told {
		p.ready = append(p.ready, pasteBegins...)
	}
	p.ready = append(p.ready, strconv.Itoa(p.made)+pasteEnds...)
	p.open, p.text = false, nil
}

// paste is what was pasted that the framework's reader read as such: a number, or less if it missed the beginning. What it
// found by itself is that.
func (p *pastes) paste(read string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == 0 {
		return read
	}
	n, _ := strconv.Atoi(read)
	if _, ok := p.kept[n]; !ok {
		n = slices.Min(slices.Collect(maps.Keys(p.kept)))
	}
	text := p.kept[n]
	maps.DeleteFunc(p.kept, func(k int, _ string) bool { return k <= n }) // what was missed in whole is no later one's text
	return text
}
