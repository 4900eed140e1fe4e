// Package term does the terminal input and output of the Bubble Tea program.
//
// Does: run the framework as an event loop alone, without its input, its renderer and its clock; turn the bytes of a
// terminal into messages; draw the model's view after each Update, at once after a key, a paste or a size, otherwise
// at most every 8 ms, and only the changed lines; set what a full screen sets in a terminal and restore it; write to
// the clipboard, ask for the background, hand the terminal to another program for a while.
//
// Does not: know what is shown; open a terminal or set its line discipline; wake up while nothing changes.
package term

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Rest is how long a frame that no key caused stays before the next such frame is drawn.
const Rest = 8 * time.Millisecond

// Options are what a program needs from its caller.
type Options struct {
	In      io.Reader // the terminal's input; its opener closes it once Run has returned. nil: none
	Out     io.Writer
	Environ []string
	Profile colorprofile.Profile // how many colours the terminal shows; 0: found from Environ
	Size    [2]int               // of the terminal, as [Bounded] returns it; zero: nothing is drawn until a size comes
	Filter  func(tea.Model, tea.Msg) tea.Msg
	Go      func(name string, f func()) // starts a goroutine
	Shown   func()                      // called when the first frame is written
}

// Program is a model on a terminal. Any goroutine may use it.
type Program struct {
	o     Options
	loop  *tea.Program
	hands *hands
}

// The largest screen that is drawn: the cost of a frame grows with its size, and a terminal may report any. The rest
// of a larger one stays empty.
const maxColumns, maxRows = 1000, 500

// Bounded returns the part of a terminal of that size that is drawn: zero if it has no columns or no rows.
func Bounded(columns, rows int) [2]int {
	if columns <= 0 || rows <= 0 {
		return [2]int{}
	}
	return [2]int{min(columns, maxColumns), min(rows, maxRows)}
}

// bounded returns a filter before f that limits each size, from the screen or from the terminal among its keys.
func bounded(f func(tea.Model, tea.Msg) tea.Msg) func(tea.Model, tea.Msg) tea.Msg {
	return func(m tea.Model, msg tea.Msg) tea.Msg {
		if size, is := msg.(tea.WindowSizeMsg); is {
			b := Bounded(size.Width, size.Height)
			if b == [2]int{} {
				return nil
			}
			msg = tea.WindowSizeMsg{Width: b[0], Height: b[1]}
		}
		if f == nil {
			return msg
		}
		return f(m, msg)
	}
}

// New makes a program that ends with ctx. Run starts it.
func New(ctx context.Context, m tea.Model, o Options) *Program {
	if o.Go == nil {
		o.Go = func(_ string, f func()) { go f() }
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Profile == colorprofile.Unknown {
		o.Profile = colorprofile.Detect(o.Out, o.Environ)
	}
	o.Size = Bounded(o.Size[0], o.Size[1])
	p := &Program{o: o, hands: newHands(o)}
	p.loop = tea.NewProgram(&model{Model: m, p: p},
		tea.WithContext(ctx), tea.WithInput(strings.NewReader("")), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignalHandler(), tea.WithEnvironment(o.Environ), tea.WithColorProfile(o.Profile),
		tea.WithWindowSize(o.Size[0], o.Size[1]), tea.WithFilter(bounded(o.Filter)),
	)
	return p
}

// Run shows the program until it quits. It returns the framework's error.
func (p *Program) Run() error {
	if p.o.In != nil {
		p.read()
	}
	defer p.hands.close()
	_, err := p.loop.Run()
	return err
}

// Send gives the model a message.
func (p *Program) Send(m tea.Msg) { p.loop.Send(m) }

// Quit ends the program in an orderly way.
func (p *Program) Quit() { p.loop.Quit() }

// Kill ends the program at once and restores the terminal.
func (p *Program) Kill() {
	p.loop.Kill()
	p.hands.close()
}

// late is how late a timer must fire to show that the whole machine was slow: then bytes that came in time may not
// have been read yet.
const late = 20 * time.Millisecond

// read sends the terminal's input until it ends. The framework's own reader would wait half a second for a read to
// return when the program ends, then close the descriptor under it, whose number another screen of the process may
// have by then.
func (p *Program) read() {
	chunks := make(chan []byte)
	p.o.Go("read keys", func() {
		defer close(chunks)
		for buf := make([]byte, 4096); ; {
			n, err := p.o.In.Read(buf)
			if n > 0 {
				chunks <- bytes.Clone(buf[:n])
			}
			if err != nil {
				return
			}
		}
	})
	p.o.Go("send keys", func() { p.send(chunks) })
}

// send sends the events of the bytes, until there are no more.
func (p *Program) send(chunks <-chan []byte) {
	var in input
	clock := time.NewTimer(0)
	defer clock.Stop()
	for again := false; ; {
		var events []uv.Event
		select {
		case chunk, more := <-chunks:
			if !more {
				p.sendAll(in.end())
				return
			}
			events, again = in.feed(chunk, time.Now()), false
		case <-clock.C:
			now, due := time.Now(), in.due()
			if again = !again && !due.IsZero() && now.Sub(due) > late; again {
				clock.Reset(late)
				continue
			}
			events = in.expire(now)
		}
		p.sendAll(events)
		clock.Stop()
		if due := in.due(); !due.IsZero() {
			clock.Reset(time.Until(due))
		}
	}
}

func (p *Program) sendAll(events []uv.Event) {
	for _, e := range events {
		p.loop.Send(e)
	}
}

// Commands for the terminal that a model may return.
type (
	raw     struct{ sequence string }
	cleared struct{}
	retaken struct{}
	handing struct {
		do   func() error
		then func(error) tea.Msg
	}
)

// drawn is sent when a delayed frame is due.
type drawn struct{}

// Raw writes bytes as they are.
func Raw(sequence string) tea.Cmd { return func() tea.Msg { return raw{sequence} } }

// Copy puts a text on the terminal's clipboard.
func Copy(text string) tea.Cmd { return Raw(ansi.SetSystemClipboard(text)) }

// AskBackground asks the terminal for its background; the answer is a [tea.BackgroundColorMsg].
func AskBackground() tea.Msg { return raw{ansi.RequestBackgroundColor} }

// Clear makes the next frame redraw the whole screen: another program wrote to it.
func Clear() tea.Msg { return cleared{} }

// Retake sets everything again that a full screen sets in a terminal, and redraws it: another program had the terminal
// and may have changed it.
func Retake() tea.Msg { return retaken{} }

// Hand gives the terminal to do until it returns; do must not be called while the terminal is given away already. The
// model gets the result of then; meanwhile it goes on, unseen.
func Hand(do func() error, then func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg { return handing{do, then} }
}

// model is the caller's model; it carries out each message's effect on the terminal.
type model struct {
	tea.Model
	p     *Program
	sized bool // a size has come
}

// Init stops the framework's clock, which ticks even if nothing is to be drawn. Releasing the terminal does that, and
// nothing else, since the framework has none. The call waits for the framework's reader, which has nothing to read;
// without a reader it would wait half a second.
func (m *model) Init() tea.Cmd {
	m.p.o.Go("stop the framework's clock", func() { _ = m.p.loop.ReleaseTerminal() })
	return m.Model.Init()
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	h := m.p.hands
	switch msg := msg.(type) {
	case raw:
		h.write(msg.sequence)
		return m, nil
	case drawn:
		h.draw()
		return m, nil
	case handing:
		return m, m.hand(msg)
	case cleared:
		h.clear()
	case retaken:
		h.retake()
	case tea.WindowSizeMsg:
		if m.sized || [2]int{msg.Width, msg.Height} != m.p.o.Size { // the framework's first size is the one it was given
			h.resize(msg.Width, msg.Height)
		}
		m.sized = true
	case tea.ModeReportMsg:
		h.learn(msg)
	}
	var cmd tea.Cmd
	m.Model, cmd = m.Model.Update(msg)
	if wait := h.show(m.Model.View(), rest(msg)); wait > 0 {
		time.AfterFunc(wait, func() { m.p.loop.Send(drawn{}) })
	}
	return m, cmd
}

// View is what the framework would draw.
func (*model) View() tea.View { return tea.View{} }

// hand gives the terminal away.
func (m *model) hand(msg handing) tea.Cmd {
	h := m.p.hands
	h.release()
	return func() tea.Msg {
		err := msg.do()
		h.take()
		return msg.then(err)
	}
}

// rest returns how old the last frame that no key caused must be: 0 if a human waits for the effect of m.
func rest(m tea.Msg) time.Duration {
	switch m.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.WindowSizeMsg, cleared, retaken:
		return 0
	}
	return Rest
}

// asks reports whether to ask a terminal what it can do: the answer of a remote one may come when it is no longer
// read.
func asks(environ []string) bool {
	env := uv.Environ(environ)
	kind := env.Getenv("TERM")
	for _, known := range []string{"ghostty", "wezterm", "alacritty", "kitty", "rio"} {
		if strings.Contains(kind, known) {
			return true
		}
	}
	if _, windows := env.LookupEnv("WT_SESSION"); windows {
		return true
	}
	_, remote := env.LookupEnv("SSH_TTY")
	return !remote && !strings.Contains(env.Getenv("TERM_PROGRAM"), "Apple")
}
