// Package term is the eyes and hands of the Bubble Tea program.
//
// Does: run the framework as an event loop alone, without its input, its renderer and its clock; turn the bytes of a
// terminal into messages; draw the model's view after each Update, at once after a key, a paste or a size, else at most
// every 8 ms, and only the lines that are others; set what a full screen sets in a terminal and put it back; write to the
// clipboard, ask for the background, hand the terminal to somebody else for a while.
//
// Does not: know what is shown; open a terminal or set its line discipline; wake up while nothing changes.
//
// Imports: nothing of ours.
package term

import (
	"context"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Rest is how long a frame that no key asked for stands at least before another such follows.
const Rest = 8 * time.Millisecond

// Options are what a program needs from its caller.
type Options struct {
	In      io.Reader // what is typed; whoever opened it closes it once Run has returned. nil: nothing
	Out     io.Writer
	Environ []string
	Profile colorprofile.Profile // how many colours the terminal shows; 0: found from Environ
	Size    [2]int               // of the terminal; zero: nothing is drawn until a size is told
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
	p := &Program{o: o, hands: newHands(o)}
	p.loop = tea.NewProgram(&model{Model: m, p: p},
		tea.WithContext(ctx), tea.WithInput(strings.NewReader("")), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignalHandler(), tea.WithEnvironment(o.Environ), tea.WithColorProfile(o.Profile),
		tea.WithWindowSize(o.Size[0], o.Size[1]), tea.WithFilter(o.Filter),
	)
	return p
}

// Run shows the program until it is quit. Its error is the framework's.
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

// Kill ends the program at once and gives the terminal back.
func (p *Program) Kill() {
	p.loop.Kill()
	p.hands.close()
}

// read sends what is typed until there is no more. The framework's own reader would wait half a second for a read to
// return when the program ends, then close the descriptor under it, whose number another screen of the process may have
// by then.
func (p *Program) read() {
	events, in := make(chan uv.Event), newPastes(p.o.In)
	p.o.Go("read keys", func() {
		defer close(events)
		kind := uv.Environ(p.o.Environ).Getenv("TERM")
		_ = uv.NewTerminalReader(in, kind).StreamEvents(context.Background(), events)
	})
	p.o.Go("send keys", func() {
		for e := range events {
			if paste, is := e.(uv.PasteEvent); is {
				e = uv.PasteEvent{Content: in.paste(paste.Content)}
			}
			p.loop.Send(e)
		}
	})
}

// What a model may have done with the terminal: commands.
type (
	raw     struct{ sequence string }
	cleared struct{}
	retaken struct{}
	handing struct {
		do   func() error
		then func(error) tea.Msg
	}
)

// drawn is due when a frame was held back and its time has come.
type drawn struct{}

// Raw writes bytes as they are.
func Raw(sequence string) tea.Cmd { return func() tea.Msg { return raw{sequence} } }

// Copy puts a text on the terminal's clipboard.
func Copy(text string) tea.Cmd { return Raw(ansi.SetSystemClipboard(text)) }

// AskBackground has the terminal say its background; the answer is a [tea.BackgroundColorMsg].
func AskBackground() tea.Msg { return raw{ansi.RequestBackgroundColor} }

// Clear has all of the screen drawn anew: somebody else wrote there.
func Clear() tea.Msg { return cleared{} }

// Retake has all that a full screen sets in a terminal set anew, and all of it drawn: the terminal was somebody else's,
// who was not asked to leave it so.
func Retake() tea.Msg { return retaken{} }

// Hand gives the terminal to do until that returns, which must not be called while it is given away. The model gets what
// then returns; meanwhile it goes on, unseen.
func Hand(do func() error, then func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg { return handing{do, then} }
}

// model is the caller's, with the terminal's part of each message taken care of.
type model struct {
	tea.Model
	p     *Program
	sized bool // a size was told
}

// Init stops the framework's clock, which ticks whether or not anything is to be drawn. To release the terminal is how:
// there is none to release. It waits for the framework's reader, which has nothing to read; for one that there is not it
// would wait half a second.
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
		if m.sized || [2]int{msg.Width, msg.Height} != m.p.o.Size { // the framework begins with what it was told
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

// rest is how long the last frame that no key asked for must have stood: not at all if a human waits for what follows from m.
func rest(m tea.Msg) time.Duration {
	switch m.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.WindowSizeMsg, cleared, retaken:
		return 0
	}
	return Rest
}

// asks reports whether a terminal is to be asked what it can do: the answer of one far away may come when nobody reads it
// any more.
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
