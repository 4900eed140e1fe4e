package uitest

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// Terminal is a virtual terminal. The program's output becomes cells, and its queries are answered
// as by a real terminal.
type Terminal struct {
	in    *typed
	piped chan struct{} // closed when the emulator's answers are no longer copied
	wrote chan struct{} // a token: the cells may have changed

	mu   sync.Mutex
	em   *vt.Emulator
	raw  bytes.Buffer
	text string // of the cells; "": not read since they changed
}

func newTerminal(w, h int) *Terminal {
	t := &Terminal{in: &typed{}, piped: make(chan struct{}), wrote: make(chan struct{}, 1), em: vt.NewEmulator(max(w, 1), max(h, 1))}
	t.in.more.L = &t.in.mu
	// A region below the last row is invalid. It may be in output that was in transit when the
	// terminal shrank, and the emulator would scroll in it.
	t.em.RegisterCsiHandler('r', func(params ansi.Params) bool {
		bottom, _, _ := params.Param(1, 0)
		return bottom > t.em.Height()
	})
	go func() {
		defer close(t.piped)
		_, _ = io.Copy(t.in, t.em)
	}()
	return t
}

// close ends the terminal after the program has ended. The emulator's own Close must not be called
// during a Read.
func (t *Terminal) close() {
	t.in.close()
	if c, ok := t.em.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	<-t.piped
}

// Write takes the program's output.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw.Write(p)
	t.text = ""
	n, err := t.em.Write(p)
	select {
	case t.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// Readers returns how many reads wait for input.
func (t *Terminal) Readers() int {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	return t.in.readers
}

// Raw returns all that the program wrote.
func (t *Terminal) Raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.raw.Bytes())
}

// Screen returns the text of the cells, without blanks at the ends of lines.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text != "" {
		return t.text
	}
	var b strings.Builder
	w, h := t.em.Width(), t.em.Height()
	for y := range h {
		blanks := 0
		for x := 0; x < w; x++ {
			c := t.em.CellAt(x, y)
			if c == nil || c.Content == "" || c.Content == " " {
				blanks++
				continue
			}
			for ; blanks > 0; blanks-- {
				b.WriteByte(' ')
			}
			b.WriteString(c.Content)
			x += max(c.Width, 1) - 1
		}
		b.WriteByte('\n')
	}
	t.text = b.String()
	return t.text
}

// cell is one cell of the screen. The second half of a wide character has no text.
type cell struct {
	text   string
	sgr    string // its style as an escape sequence; "" is plain
	fg, bg color.Color
	attrs  uint8
	under  bool
}

// The bits of a cell's attrs.
const (
	bold = 1 << iota
	faint
	italic
	_
	_
	reverse
)

// grid returns a copy of the cells.
func (t *Terminal) grid() [][]cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, h := t.em.Width(), t.em.Height()
	rows := make([][]cell, h)
	for y := range rows {
		rows[y] = make([]cell, w)
		for x := 0; x < w; x++ {
			c := t.em.CellAt(x, y)
			if c == nil || c.Content == "" {
				rows[y][x] = cell{text: " "}
				continue
			}
			st := c.Style
			at := cell{text: c.Content, fg: st.Fg, bg: st.Bg, attrs: st.Attrs, under: st.Underline != 0}
			if !st.IsZero() {
				at.sgr = st.String()
			}
			rows[y][x] = at
			for i := 1; i < c.Width && x+1 < w; i++ {
				x++
				at.text = ""
				rows[y][x] = at
			}
		}
	}
	return rows
}

// Cursor returns the position of the cursor.
func (t *Terminal) Cursor() (x, y int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.em.CursorPosition()
	return p.X, p.Y
}

// Resize makes the terminal w by h and tells the program, as terminals with in-band reports do.
func (t *Terminal) Resize(w, h int) {
	t.mu.Lock()
	t.em.Resize(max(w, 1), max(h, 1))
	t.text = ""
	t.mu.Unlock()
	fmt.Fprintf(t.in, "\x1b[48;%d;%d;0;0t", h, w)
}

// Send sends bytes to the program unchanged.
func (t *Terminal) Send(s string) { _, _ = io.WriteString(t.in, s) }

// Type types text; a line feed in it is Ctrl+J, a new line in the box.
func (t *Terminal) Type(text string) { t.Send(text) }

// Paste pastes text in brackets.
func (t *Terminal) Paste(text string) { t.Send("\x1b[200~" + text + "\x1b[201~") }

// letters end the key sequences that have one. numbers are in those that have none.
var (
	letters = map[string]string{"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
	numbers = map[string]int{"insert": 2, "delete": 3, "pgup": 5, "pgdown": 6, "pgdn": 6, "f5": 15, "f6": 17}
	codes   = map[string]int{"enter": 13, "tab": 9, "esc": 27, "space": 32, "backspace": 127}
)

// bytesOf returns what a terminal sends for a key.
func bytesOf(name string) string {
	parts := strings.Split(name, "+")
	key := parts[len(parts)-1]
	mod := 1
	for _, m := range parts[:len(parts)-1] {
		switch m {
		case "shift":
			mod++
		case "alt":
			mod += 2
		case "ctrl":
			mod += 4
		default:
			panic("there is no key " + name)
		}
	}
	if len(key) == 2 && key[0] == 'f' && key >= "f1" && key <= "f4" && mod == 1 {
		return "\x1bO" + string('P'+rune(key[1]-'1'))
	}
	if l, ok := letters[key]; ok {
		if mod == 1 {
			return "\x1b[" + l
		}
		return fmt.Sprintf("\x1b[1;%d%s", mod, l)
	}
	if n, ok := numbers[key]; ok {
		if mod == 1 {
			return fmt.Sprintf("\x1b[%d~", n)
		}
		return fmt.Sprintf("\x1b[%d;%d~", n, mod)
	}
	code, named := codes[key]
	switch {
	case named && mod == 1:
		return string(rune(code))
	case name == "shift+tab":
		return "\x1b[Z"
	case name == "ctrl+space":
		return "\x00"
	case named && mod == 3:
		return "\x1b" + string(rune(code))
	case named:
		return fmt.Sprintf("\x1b[%d;%du", code, mod)
	case len(key) == 1 && mod == 1:
		return key
	case len(key) == 1 && mod == 3:
		return "\x1b" + key
	case len(key) == 1 && mod == 5 && key >= "a" && key <= "z":
		return string(rune(key[0] & 0x1f))
	}
	panic("there is no key " + name)
}
