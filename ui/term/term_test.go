package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page shows the view it was last sent.
type page struct {
	view  tea.View
	heard []tea.Msg
	on    func(m tea.Msg) tea.Cmd
}

func (p *page) Init() tea.Cmd { return nil }

func (p *page) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	if v, ok := m.(tea.View); ok {
		p.view = v
	}
	p.heard = append(p.heard, m)
	if p.on != nil {
		return p, p.on(m)
	}
	return p, nil
}

func (p *page) View() tea.View { return p.view }

// paper records what is written to it, each write by itself.
type paper struct {
	mu     sync.Mutex
	writes []string
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes = append(p.writes, string(b))
	return len(b), nil
}

// take returns what was written since the last call.
func (p *paper) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.writes
	p.writes = nil
	return w
}

func view(lines ...string) tea.View {
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.ReportFocus = true, true
	return v
}

// play runs a program of that page in a bubble until f returns.
func play(t *testing.T, p *page, o Options, f func(prog *Program, out *paper)) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) {
		out := &paper{}
		o.Out, o.Profile = out, colorprofile.TrueColor
		if o.Size == [2]int{} {
			o.Size = [2]int{20, 5}
		}
		prog := New(context.Background(), p, o)
		ended := make(chan error)
		go func() { ended <- prog.Run() }()
		time.Sleep(time.Second) // the framework's clock is stopped
		f(prog, out)
		prog.Quit()
		err = <-ended
		time.Sleep(time.Second)
	})
	return err
}

// TestProgram_still: the framework has no ticking clock left: what it would write at its next tick is not written. The
// test fails if one ticks again.
func TestProgram_still(t *testing.T) {
	written := &paper{}
	synctest.Test(t, func(t *testing.T) {
		prog := New(t.Context(), &page{}, Options{Out: &paper{}, Size: [2]int{20, 5}})
		tea.WithOutput(written)(prog.loop)
		ended := make(chan error)
		go func() { ended <- prog.Run() }()
		time.Sleep(time.Second)
		written.take()
		prog.Send(tea.Raw("\a")()) // the framework keeps it for its next tick
		time.Sleep(time.Minute)
		if got := written.take(); len(got) > 0 {
			t.Errorf("a tick wrote %q", got)
		}
		prog.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := written.take(); !slices.Equal(got, []string{"\a"}) {
			t.Errorf("at its end the framework wrote %q: it keeps nothing for a tick, so that this test sees none", got)
		}
		time.Sleep(time.Second)
	})
}

// TestProgram_rest: a key's change is drawn at once; another change too if the last frame is old enough, otherwise
// when it is, and then only the newest.
func TestProgram_rest(t *testing.T) {
	p := &page{}
	p.on = func(m tea.Msg) tea.Cmd {
		if k, ok := m.(tea.KeyPressMsg); ok {
			p.view = view("key " + k.String())
		}
		return nil
	}
	err := play(t, p, Options{}, func(prog *Program, out *paper) {
		shows := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			got := out.take()
			if len(got) != len(want) {
				t.Fatalf("%s: written %q", what, got)
			}
			for i, w := range want {
				if !strings.Contains(ansi.Strip(got[i]), w) {
					t.Errorf("%s: written %q, which is no %q", what, got[i], w)
				}
			}
		}
		out.take()
		prog.Send(view("one"))
		shows("the first after a while", "one")
		prog.Send(view("two"))
		prog.Send(view("six"))
		shows("right after it")
		time.Sleep(Rest - time.Millisecond)
		shows("a moment before its time")
		time.Sleep(time.Millisecond)
		shows("at its time", "six")
		prog.Send(view("ten"))
		prog.Send(tea.KeyPressMsg{Code: 'x', Text: "x"})
		shows("a key", "key x")
		time.Sleep(time.Minute)
		shows("after a minute")
		prog.Send(view("key x"))
		shows("nothing new")
	})
	if err != nil {
		t.Error(err)
	}
}

// TestProgram_size: the first frame is written once, and all of it again when a size comes, even the same: terminals
// move their content meanwhile.
func TestProgram_size(t *testing.T) {
	err := play(t, &page{view: view("once")}, Options{}, func(prog *Program, out *paper) {
		if got := strings.Join(out.take(), ""); strings.Count(got, "once") != 1 {
			t.Errorf("it began with %q", got)
		}
		for _, w := range []int{20, 30} {
			prog.Send(tea.WindowSizeMsg{Width: w, Height: 5})
			synctest.Wait()
			if got := strings.Join(out.take(), ""); strings.Count(got, "once") != 1 {
				t.Errorf("%d columns: %q", w, got)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestProgram_bounded: a model never gets a size that is too large to be drawn, or has no columns or rows, whether it
// comes at the start, from the screen, or from the terminal among its keys.
func TestProgram_bounded(t *testing.T) {
	for _, c := range []struct{ told, want [2]int }{
		{[2]int{65535, 65535}, [2]int{maxColumns, maxRows}},
		{[2]int{65535, 1}, [2]int{maxColumns, 1}},
		{[2]int{1, 65535}, [2]int{1, maxRows}},
		{[2]int{maxColumns + 1, maxRows}, [2]int{maxColumns, maxRows}},
		{[2]int{maxColumns, maxRows + 1}, [2]int{maxColumns, maxRows}},
		{[2]int{1 << 40, 1 << 40}, [2]int{maxColumns, maxRows}},
		{[2]int{80, 24}, [2]int{80, 24}},
		{[2]int{1, 1}, [2]int{1, 1}},
		{[2]int{0, 0}, [2]int{}},
		{[2]int{0, 24}, [2]int{}},
		{[2]int{80, 0}, [2]int{}},
		{[2]int{-1, 24}, [2]int{}},
		{[2]int{80, -65535}, [2]int{}},
	} {
		begun := [2]int{21, 6}
		for _, way := range []string{"start", "message", "keys"} {
			p, o := &page{view: view("x")}, Options{Size: begun}
			switch way {
			case "start":
				o.Size = c.told
			case "keys":
				o.In = strings.NewReader(fmt.Sprintf("\x1b[8;%d;%dt", c.told[1], c.told[0]))
			}
			err := play(t, p, o, func(prog *Program, _ *paper) {
				if way == "message" {
					prog.Send(tea.WindowSizeMsg{Width: c.told[0], Height: c.told[1]})
				}
				synctest.Wait()
			})
			if err != nil {
				t.Error(err)
			}
			var sizes [][2]int
			for _, m := range p.heard {
				if size, is := m.(tea.WindowSizeMsg); is {
					sizes = append(sizes, [2]int{size.Width, size.Height})
				}
			}
			want := [][2]int{begun, c.want}
			switch {
			case way == "start" && c.told == [2]int{}:
				continue // play begins with another one
			case way == "start":
				want = want[1:]
			case way == "keys" && (c.told[0] < 0 || c.told[1] < 0 || c.told[0] > 1<<31):
				want = want[:1] // a report can't express it
			}
			want = slices.DeleteFunc(want, func(size [2]int) bool { return size == [2]int{} })
			slices.SortFunc(sizes, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) // keys may be read before the first
			slices.SortFunc(want, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
			if !slices.Equal(sizes, want) {
				t.Errorf("%v by %s: the model is told %v, want %v", c.told, way, sizes, want)
			}
		}
	}
}

// TestProgram_hand: another program gets the terminal as it was before, and its output is drawn over, with what
// changed meanwhile. The loop goes on, and pending writes wait.
func TestProgram_hand(t *testing.T) {
	p := &page{view: view("before")}
	var during []string
	err := play(t, p, Options{}, func(prog *Program, out *paper) {
		first := strings.Join(out.take(), "")
		for _, set := range []string{"\x1b[?1049h", "\x1b[?2004h", "\x1b[?1004h", "\x1b[>4;2m", "\x1b[>1u"} {
			if !strings.Contains(first, set) {
				t.Errorf("%q is missing in %q", set, first)
			}
		}
		back := make(chan struct{})
		prog.Send(Hand(func() error {
			during = out.take()
			<-back
			return errors.New("it said no")
		}, func(err error) tea.Msg { return err })())
		synctest.Wait()
		prog.Send(view("after"))
		prog.Send(Raw("\a")())
		prog.Send(Clear())
		prog.Send(Retake())
		prog.Send(tea.WindowSizeMsg{Width: 30, Height: 4})
		time.Sleep(time.Second)
		if got := out.take(); len(got) > 0 {
			t.Errorf("while it is somebody else's %q is written", got)
		}
		close(back)
		synctest.Wait()
		got := strings.Join(out.take(), "")
		if !strings.Contains(got, "\x1b[?1049h") || !strings.Contains(ansi.Strip(got), "after") || !strings.HasSuffix(got, "\a") {
			t.Errorf("taken again, %q is written", got)
		}
		if !slices.ContainsFunc(p.heard, func(m tea.Msg) bool { err, ok := m.(error); return ok && err.Error() == "it said no" }) {
			t.Errorf("the model heard %v", p.heard)
		}
	})
	if err != nil {
		t.Error(err)
	}
	left := strings.Join(during, "")
	for _, reset := range []string{"\x1b[?1049l", "\x1b[?2004l", "\x1b[?1004l", "\x1b[>4m", "\x1b[<1u", "\x1b[?25h"} {
		if !strings.Contains(left, reset) {
			t.Errorf("given away, %q is missing in %q", reset, left)
		}
	}
}

// TestProgram_ends: however it ends, the terminal is restored, once.
func TestProgram_ends(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *Program)
		want error
	}{
		"quit":  {func(p *Program) { p.Quit() }, nil},
		"kill":  {func(p *Program) { p.Kill() }, tea.ErrProgramKilled},
		"panic": {func(p *Program) { p.Send("panic") }, tea.ErrProgramPanic},
	} {
		t.Run(name, func(t *testing.T) {
			p := &page{view: view("here")}
			p.view.MouseMode, p.view.WindowTitle = tea.MouseModeCellMotion, "here"
			p.on = func(m tea.Msg) tea.Cmd {
				if m == "panic" {
					panic("on purpose")
				}
				return nil
			}
			var out *paper
			err := play(t, p, Options{}, func(prog *Program, o *paper) {
				out = o
				c.end(prog)
			})
			if !errors.Is(err, c.want) {
				t.Errorf("it ended with %v", err)
			}
			got := strings.Join(out.take(), "")
			for _, reset := range []string{"\x1b[?1049l", "\x1b[?2004l", "\x1b[?1004l", "\x1b[?1002l", "\x1b[?1006l", "\x1b]2;\a"} {
				if strings.Count(got, reset) != 1 {
					t.Errorf("%q stands %d times in %q", reset, strings.Count(got, reset), got)
				}
			}
		})
	}
}

// state is the settings of a terminal: its modes by their numbers, keys by theirs, and its title.
type state map[string]string

var sets = regexp.MustCompile("\x1b\\[\\?([0-9]+)([hl])|\x1b\\[>(4)(;2)?m|\x1b\\](2);([^\a]*)\a")

// take applies what is written to it.
func (s state) take(written []string) {
	for _, m := range sets.FindAllStringSubmatch(strings.Join(written, ""), -1) {
		s[m[1]+m[3]+m[5]] = m[2] + m[4] + m[6]
	}
}

// TestRetake: whatever another program has left in the terminal, it is set as if that program had not run.
func TestRetake(t *testing.T) {
	bare, full := view("bare"), view("full")
	full.Cursor, full.MouseMode, full.WindowTitle = tea.NewCursor(1, 0), tea.MouseModeCellMotion, "ours"
	for _, v := range []tea.View{bare, full} {
		for _, whole := range []bool{false, true} {
			out := &paper{}
			h := newHands(Options{Out: out, Size: [2]int{20, 5}, Profile: colorprofile.TrueColor})
			h.show(v, 0)
			if whole {
				h.learn(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
				h.show(v, 0)
			}
			found := state{"1002": "l", "1003": "l", "1006": "l", "2027": "l", "25": "h", "2": ""}
			want := maps.Clone(found)
			want.take(out.take())
			for name, left := range map[string]state{
				"a shell":  {"1049": "l", "1004": "l", "2004": "l", "4": ""},
				"a screen": {"1002": "h", "1003": "h", "1006": "h", "25": "l", "2": "theirs"},
			} {
				got := maps.Clone(want)
				maps.Copy(got, found)
				maps.Copy(got, left)
				h.retake()
				h.show(v, 0)
				if got.take(out.take()); !maps.Equal(got, want) {
					t.Errorf("%s, whole characters %t, after %s: %v, want %v", v.Content, whole, name, got, want)
				}
			}
		}
	}
}

// TestLeaves: a terminal that treated a grapheme cluster as one character is left in that mode, and any other is left
// as it was; also after another program had it.
func TestLeaves(t *testing.T) {
	for said, want := range map[ansi.ModeSetting]string{ansi.ModeReset: "l", ansi.ModeSet: "h", ansi.ModePermanentlySet: "h"} {
		for _, given := range []bool{false, true} {
			out := &paper{}
			h := newHands(Options{Out: out, Size: [2]int{20, 5}, Profile: colorprofile.TrueColor})
			h.show(view("here"), 0)
			h.learn(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: said})
			if given {
				h.release()
				h.take()
				h.learn(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeSet}) // asked when it was set
			}
			h.close()
			got := state{}
			if got.take(out.take()); got["2027"] != want {
				t.Errorf("it said %d, given away %t: left %q, want %q", said, given, got["2027"], want)
			}
		}
	}
}

// TestHands_closed: a program that has ended writes nothing more, even if it gives the terminal away or gets it back.
func TestHands_closed(t *testing.T) {
	for name, c := range map[string]struct{ before, after func(h *hands) }{
		"gives":     {func(*hands) {}, func(h *hands) { h.release() }},
		"gets back": {func(h *hands) { h.release(); h.write("\a") }, func(h *hands) { h.take() }},
	} {
		out := &paper{}
		h := newHands(Options{Out: out, Size: [2]int{20, 5}, Profile: colorprofile.TrueColor})
		h.show(view("here"), 0)
		c.before(h)
		h.close()
		out.take()
		c.after(h)
		if got := out.take(); len(got) > 0 {
			t.Errorf("%s: written %q", name, got)
		}
	}
}

// screen is an emulated terminal that speaks with a program.
type screen struct {
	mu sync.Mutex
	em *vt.Emulator
}

func newScreen(w, h int) *screen {
	s := &screen{em: vt.NewEmulator(w, h)}
	go func() { _, _ = io.Copy(io.Discard, s.em) }() // its answers
	return s
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.Write(b)
}

func (s *screen) resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.em.Resize(w, h)
}

// cells returns the screen's content, and the cursor.
func (s *screen) cells() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for y := range s.em.Height() {
		for x := range s.em.Width() {
			if c := s.em.CellAt(x, y); c != nil {
				fmt.Fprintf(&b, "%s%s|", c.Style.String(), c.Content)
			}
		}
		b.WriteByte('\n')
	}
	at := s.em.CursorPosition()
	fmt.Fprintf(&b, "%d,%d", at.X, at.Y)
	return b.String()
}

func (s *screen) close() {
	if c, ok := s.em.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
}

// TestFramework draws the same frames with the framework's own renderer, and compares the cells after each: random
// lines that move up and down, colours, wide characters, links, other sizes and modes; and at some point the terminal
// reports that it treats a grapheme cluster as one character.
func TestFramework(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3, 4, 5, 6, 90} { // 90: some cells are left of what was drawn before the terminal's report
		r := rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			w, h := 40, 12
			ours, theirs := newScreen(w, h), newScreen(w, h)
			mine := New(t.Context(), &page{}, Options{Out: ours, Size: [2]int{w, h}, Profile: colorprofile.TrueColor, Environ: []string{"TERM=xterm-256color"}})
			other := tea.NewProgram(&page{}, tea.WithInput(nil), tea.WithOutput(newlines{theirs}), tea.WithWindowSize(w, h), tea.WithFPS(120),
				tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignalHandler(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
			ended := make(chan error, 2)
			go func() { ended <- mine.Run() }()
			go func() { _, err := other.Run(); ended <- err }()
			time.Sleep(time.Second)
			lines := make([]string, h)
			whole := r.IntN(150)
			for n := range 150 {
				if n == whole {
					m := tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}
					mine.Send(m)
					other.Send(m)
				}
				if r.IntN(25) == 0 {
					w, h = 20+r.IntN(40), 3+r.IntN(15)
					ours.resize(w, h)
					theirs.resize(w, h)
					mine.Send(tea.WindowSizeMsg{Width: w, Height: h})
					other.Send(tea.WindowSizeMsg{Width: w, Height: h})
				}
				v := view(change(r, &lines, w, h)...)
				if r.IntN(4) > 0 {
					v.Cursor = tea.NewCursor(r.IntN(w), r.IntN(h))
				}
				mine.Send(v)
				other.Send(v)
				time.Sleep(50 * time.Millisecond)
				a, b := ours.cells(), theirs.cells()
				if v.Cursor == nil { // it may be anywhere
					a, b = a[:strings.LastIndexByte(a, '\n')], b[:strings.LastIndexByte(b, '\n')]
				}
				if a != b {
					t.Fatalf("seed %d, frame %d of %dx%d: %q\nours:\n%s\ntheirs:\n%s", seed, n, w, h, v.Content, a, b)
				}
			}
			mine.Quit()
			other.Quit()
			if err := errors.Join(<-ended, <-ended); err != nil {
				t.Error(err)
			}
			ours.close()
			theirs.close()
			time.Sleep(time.Second)
		})
	}
}

// TestProgram_wholeCharacters: text drawn before the terminal reports that it treats clusters as one character is gone
// from the next frame, also on a line that is empty there.
func TestProgram_wholeCharacters(t *testing.T) {
	shown := newScreen(20, 5)
	err := play(t, &page{}, Options{}, func(prog *Program, out *paper) {
		prog.Send(view("first", "second"))
		prog.Send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}) // within the rest of that frame
		prog.Send(view("first", ""))
		time.Sleep(time.Second)
		for _, b := range out.take() {
			_, _ = shown.Write([]byte(b))
		}
		if got := ansi.Strip(shown.cells()); !strings.Contains(got, "f|i|r|s|t|") || strings.Contains(got, "s|e|c") {
			t.Errorf("it shows\n%s", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
	shown.close()
}

// newlines handles a line feed as a terminal's line discipline does, where the framework expects that.
type newlines struct{ io.Writer }

func (n newlines) Write(b []byte) (int, error) {
	_, err := n.Writer.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// change makes the next frame from the one before.
func change(r *rand.Rand, lines *[]string, w, h int) []string {
	for len(*lines) < h {
		*lines = append(*lines, "")
	}
	*lines = (*lines)[:h]
	ls := *lines
	switch r.IntN(5) {
	case 0: // it scrolls
		n := 1 + r.IntN(h)
		copy(ls, ls[n:])
		for i := h - n; i < h; i++ {
			ls[i] = line(r, w)
		}
	case 1: // a line comes in between
		at := r.IntN(h)
		copy(ls[at+1:], ls[at:])
		ls[at] = line(r, w)
	case 2: // all are others
		for i := range ls {
			ls[i] = line(r, w)
		}
	default: // one grows
		ls[r.IntN(h)] = line(r, w)
	}
	return slices.Clone(ls)
}

// line returns a line of at most w cells.
func line(r *rand.Rand, w int) string {
	var b strings.Builder
	for width := r.IntN(w + 1); width > 0; {
		word := []string{
			"a", "go test ./...", "日本", "é", "└─", "👍", "❤️", "👨‍👩‍👧", "🇩🇪", "e\u0301", " ", "      ", "zzzzzzzz", "\x1b[1mbold\x1b[m", "\x1b[38;2;9;99;200mblue\x1b[39m", "\x1b[48;5;52m bg \x1b[m",
			"\x1b]8;;https://example.org\alink\x1b]8;;\a", "\x1b[7m!\x1b[27m",
		}[r.IntN(18)]
		if width -= ansi.StringWidth(word); width >= 0 {
			b.WriteString(word)
		}
	}
	return b.String() + "\x1b[m"
}

// BenchmarkShow is the cost of a frame of a growing reply, and of one without changes.
func BenchmarkShow(b *testing.B) {
	for _, size := range [][2]int{{120, 36}, {200, 60}} {
		r := rand.New(rand.NewPCG(1, 1))
		lines := make([]string, size[1])
		for i := range lines {
			lines[i] = line(r, size[0])
		}
		h := newHands(Options{Out: io.Discard, Size: size, Profile: colorprofile.TrueColor})
		b.Run(fmt.Sprintf("grows-%dx%d", size[0], size[1]), func(b *testing.B) {
			for n := range b.N {
				lines[size[1]-4] = strings.Repeat("word ", n%20)
				h.show(view(lines...), 0)
			}
		})
		b.Run(fmt.Sprintf("same-%dx%d", size[0], size[1]), func(b *testing.B) {
			v := view(lines...)
			for range b.N {
				h.show(v, 0)
			}
		})
	}
}
