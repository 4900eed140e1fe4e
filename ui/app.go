package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/skills"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/format"
	"fantail/ui/notify"
	"fantail/ui/panel"
	"fantail/ui/tabs"
	"fantail/ui/term"
)

// Options are what a screen needs from its caller.
type Options struct {
	In      io.Reader       // what is typed; whoever opened it closes it once [App.Run] has returned. nil: nothing
	Gone    <-chan struct{} // closed once nobody sits at the screen any more: what was typed there and has not been taken is dropped; nil: never
	Out     io.Writer
	Environ []string // without secret keys; the human's own programs get it
	// With is the context of what is done here: in which environment its commands run, who does it. nil: nobody says.
	With context.Context
	News string // what is new with this screen; "": nothing
	// Withhold returns a typed text without the secret keys in it. nil: texts are kept as typed.
	Withhold func(text string) string
	Theme    string // chosen by the human; "": by the terminal's background
	Start    string // the model and why it was chosen
	Version  string
	Root     string        // the workspace
	History  string        // the file of what was typed; "": none
	Branch   func() string // reads .git/HEAD; called in a command
	Models   func() []string
	Doubt    format.Doubt
	Skills   *skills.Catalog // what files bring; nil: nothing
	// ReadOnly is why nothing can be written here and what to do about it; the screen then only
	// shows what is there. nil: it can be written.
	ReadOnly error
	// Remember keeps a choice for the next start in this workspace. nil: nothing is kept.
	Remember func(ctx context.Context, c agents.Choice, name string) error
	// Reload reads the configuration again and says what changed. nil: it can't.
	Reload func(ctx context.Context) (string, error)
	// Sandbox says what holds the commands of agents in that mode, and how. nil: nobody knows.
	Sandbox func(mode permission.Mode) string
	// Restart ends the host once nothing goes on, and starts the next. nil: there is none.
	Restart func(ctx context.Context) error
	// Lost is told what of the human's typing may be lost when the screen has ended. nil: nobody is.
	Lost     func(err error)
	Now      func() time.Time
	Go       func(name string, f func())
	Terminal Terminal             // nil: it can be given to nobody
	Profile  colorprofile.Profile // how many colours the terminal shows; 0: found from Environ
	Size     [2]int               // of a terminal that can't be asked; zero: ask
	Plain    bool                 // no mouse
	Msgs     bool                 // the status line says `2 msgs` instead of `2 pending`
	Usual    permission.Mode      // the workspace's own: the status line may leave it out; "": none is
	Notify   string               // how to notify a human who looks elsewhere: auto osc9 osc777 osc99 bell desktop off; "": auto
}

// App is one screen. Only its own program may touch it, except through its remote.
type App struct {
	Remote Remote // for everybody else

	o      Options
	ctx    context.Context
	cancel context.CancelFunc

	up      up
	feed    feed
	actions actions
	pool    *agents.Pool // nil until attached
	human   *fleet.Human // the one at this screen, as the pool knows them; nil until attached
	tally   tally
	tabs    tabs.Tabs
	wanted  int64 // the agent whose tab to go to once it opens; 0: none

	w, h    int
	look    look
	branch  string
	welcome *Welcome
	reader  reader
	sender  sender
	layers  Stack
	asks    *Approvals
	drafts  *Drafts
	boards  boards
	flash   *notify.Flash
	notice  *notify.Notifier
	stalled bool // the terminal takes no output
	away    bool // somebody else has the terminal, or is about to
	ends    bool // the human wants the agents to end
	wheel   wheel

	dirty bool
	drawn drawn
}

// tally is what the pool told last, with the permission mode that the human wants.
type tally struct {
	event.Tally
	asked int         // modes that the pool was asked for and has not answered yet
	told  event.Tally // the last that it told, for its modes
}

// settles is how long a screen that ends waits for what was asked for on it.
const settles = 200 * time.Millisecond

// quits is how long a screen that is to end waits for it before it asks whether anybody is at work.
const quits = time.Second

// look is how the screen is drawn in any theme.
type look struct {
	chosen  bool // the theme is the human's choice
	noColor bool
	ascii   bool // no characters beyond ASCII
}

// up signals that the first frame is on the terminal.
type up struct {
	once sync.Once
	out  chan struct{}
}

func (u *up) now() { u.once.Do(func() { close(u.out) }) }

// New makes a screen. Run starts it; Attach gives it its pool.
func New(o Options) *App {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Go == nil {
		o.Go = func(_ string, f func()) { go f() }
	}
	if o.With == nil {
		o.With = context.Background()
	}
	if o.Branch == nil {
		o.Branch = func() string { return "" }
	}
	o.Size = term.Bounded(o.Size[0], o.Size[1])
	a := &App{o: o, w: o.Size[0], h: o.Size[1], wheel: wheel{on: !o.Plain}, dirty: true}
	a.flash = notify.NewFlash(a.now)
	a.up.out = make(chan struct{})
	a.ctx, a.cancel = context.WithCancel(o.With)
	a.feed = feed{ctx: a.ctx, send: func(m tea.Msg) { a.Remote.program.Send(m) }, came: make(chan tea.Msg)}
	a.actions = actions{feed: &a.feed, start: o.Go}
	a.reader = reader{ctx: a.ctx, root: o.Root, head: o.Branch}
	a.look = lookOf(o.Environ)
	name := o.Theme
	if a.look.chosen = name != ""; !a.look.chosen {
		name = "ansi"
	}
	theme, err := themes.Load(name, a.look.noColor)
	if err != nil {
		theme, _ = themes.Load("ansi", a.look.noColor)
		a.flash.Say(err.Error())
	}
	a.tabs.Look = tabs.Look{Theme: theme, Now: a.now, ASCII: a.look.ascii, Msgs: o.Msgs}
	a.welcome = NewWelcome(WelcomeOptions{Tabs: &a.tabs, Version: o.Version, Root: o.Root, ReadOnly: o.ReadOnly, News: o.News}, o.Start)
	a.notice = notify.New(notify.Options{
		Tabs: &a.tabs, Theme: theme, Now: a.now, Width: func() int { return a.w }, Root: o.Root, Environ: o.Environ,
	}, o.Notify, environment(o.Environ))
	a.drafts = NewDrafts(DraftOptions{
		Tabs: &a.tabs, Flash: a.flash, Complete: a.complete, Mention: a.mention, Withhold: o.Withhold,
		History: o.History, ReadOnly: o.ReadOnly != nil, Go: o.Go,
	})
	a.boards = boards{
		Options: panel.Options{Tabs: &a.tabs, Theme: theme, Now: a.now, Doubt: o.Doubt, Looked: map[int64]bool{}, Environ: o.Environ},
		layers:  &a.layers, flash: a.flash, over: func(t *tabs.Tab) bool { return a.asks.OnScreen(t) },
	}
	a.sender = sender{tabs: &a.tabs, drafts: a.drafts, options: a.commandOptions}
	a.asks = NewApprovals(ApprovalOptions{Tabs: &a.tabs, Layers: &a.layers, Flash: a.flash, Drafts: a.drafts, Seen: func() bool { return fits(a.w, a.h) && !a.stalled }})
	// Until the pool comes, what is typed goes into main's tab.
	a.tabs.Add(a.newTab(event.Info{Name: "main", Kind: event.Main}))
	a.Remote = Remote{term.New(a.ctx, a, term.Options{
		In: o.In, Out: o.Out, Environ: o.Environ, Profile: o.Profile, Size: o.Size, Filter: calm(o.Now, o.Gone), Go: o.Go, Shown: a.up.now,
	})}
	return a
}

// now is the clock of all parts.
func (a *App) now() time.Time { return a.o.Now() }

// environment is an environment as a map.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}

// lookOf derives from the environment how to draw.
func lookOf(environ []string) look {
	env := environment(environ)
	locale := env["LC_ALL"]
	for _, k := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = env[k]
		}
	}
	dumb := env["TERM"] == "dumb"
	return look{
		noColor: env["NO_COLOR"] != "" || dumb,
		ascii:   dumb || locale == "C" || locale == "POSIX",
	}
}

// Run shows the screen until the human leaves it. It returns an error if the terminal can't be
// used, or if the program panicked.
func (a *App) Run() error {
	defer a.cancel()
	defer a.up.now()
	err := a.Remote.program.Run()
	a.actions.settle(settles)
	if lost := a.drafts.Leave(); lost != nil && a.o.Lost != nil {
		a.o.Lost(lost)
	}
	a.notice.Close()
	if a.human != nil {
		a.human.Leave()
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Ends reports, once Run has returned, whether the human wants the agents to end too.
func (a *App) Ends() bool { return a.ends }

// Up returns a channel that is closed once the first frame is on the terminal, or the screen has
// ended. What the first frame does not need should wait for it. Any goroutine may call it.
func (a *App) Up() <-chan struct{} { return a.up.out }
