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
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/term"
)

// Options is what a screen needs from its caller.
type Options struct {
	In      io.Reader       // input; its opener closes it after [App.Run] has returned. nil: none
	Gone    <-chan struct{} // closed once the human has left; unread input is then dropped. nil: never
	Out     io.Writer
	Environ []string // without secret keys; for the human's own programs
	// With is the context of the human's actions: the environment of commands, and who acts. nil:
	// not known.
	With context.Context
	News string // what is new with this screen; "": nothing
	// Withhold returns a typed text without its secret keys. nil: texts stay as typed.
	Withhold func(text string) string
	Theme    string // chosen by the human; "": by the terminal's background
	Start    string // the model and why it was chosen
	Prompt   string // sent to main, as if typed, once the workspace is open; "": none
	Version  string
	Root     string        // the workspace's directory
	History  string        // file of the prompt history; "": none
	Config   string        // the path of the configuration file; "": unknown
	Branch   func() string // reads .git/HEAD; called in a command
	Models   slash.Models
	Doubt    format.Doubt
	Skills   *skills.Catalog // skills, commands and agents from files; nil: none
	// ReadOnly is why nothing can be written here, and what to do about it. The screen then only
	// shows what is there. nil: it can be written.
	ReadOnly error
	// Remember stores a choice for the next start in this workspace. nil: nothing is stored.
	Remember func(ctx context.Context, c agents.Choice, name string) error
	// Reload rereads the configuration and says what changed. nil: it can't.
	Reload func(ctx context.Context) (string, error)
	// Sandbox says what confines the commands of agents in that mode, and how. nil: unknown.
	Sandbox func(mode permission.Mode) string
	// Restart ends the host once all work has ended, and starts the next one. nil: there is no
	// host.
	Restart func(ctx context.Context) error
	// Lost is called at the end of the screen if typed text may be lost. nil: it is not.
	Lost     func(err error)
	Now      func() time.Time
	Go       func(name string, f func())
	Terminal Terminal             // nil: other programs can't have it
	Profile  colorprofile.Profile // the terminal's colours; 0: found from Environ
	Size     [2]int               // of a terminal that can't be asked; zero: ask
	Plain    bool                 // no mouse
	Msgs     bool                 // the status line says `2 msgs` instead of `2 pending`
	Still    bool                 // nothing moves but clocks
	Usual    permission.Mode      // the workspace's default mode, which the status line may leave out; "": none
	Notify   string               // notification of a human who looks elsewhere: auto osc9 osc777 osc99 bell desktop off; "": auto
}

// App is one screen. Only its own loop may use it; others use its Remote.
type App struct {
	Remote Remote // for other goroutines

	o      Options
	ctx    context.Context
	cancel context.CancelFunc

	up      up
	feed    feed
	actions actions
	pool    *agents.Pool // nil until attached
	human   *fleet.Human // the human at this screen, for the pool; nil until attached
	tally   tally
	tabs    tabs.Tabs
	wanted  int64 // agent whose tab to go to once it opens; 0: none

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
	rail    rail
	flash   *notify.Flash
	notice  *notify.Notifier
	stalled bool // the terminal takes no output
	away    bool // another program has the terminal, or is about to
	ends    bool // the human wants the agents to end
	wheel   wheel

	dirty bool
	drawn drawn
}

// tally is the pool's last tally, with the permission mode that the human wants.
type tally struct {
	event.Tally
	asked int         // changes of mode that the pool has not answered yet
	told  event.Tally // the pool's last one, for its modes
}

// settles is how long an ending screen waits for the actions requested on it.
const settles = 200 * time.Millisecond

// quits is how long quitting waits for the actions requested before, until it asks what to do with
// working agents.
const quits = time.Second

// look is how the screen is drawn, whatever the theme.
type look struct {
	chosen  bool // the human chose the theme
	noColor bool
	ascii   bool                 // only ASCII characters
	profile colorprofile.Profile // how many colours the terminal shows
}

// fit returns a theme in colours that the terminal shows as they are.
func (l look) fit(t *themes.Theme) *themes.Theme {
	switch l.profile {
	case colorprofile.ANSI256:
		return t.In256()
	case colorprofile.ANSI:
		if few, err := themes.Load("ansi", l.noColor); err == nil {
			return few
		}
	}
	return t
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
	if a.look.profile = o.Profile; o.Profile == colorprofile.Unknown && o.Out != nil {
		a.look.profile = colorprofile.Detect(o.Out, o.Environ)
	}
	name := o.Theme
	if a.look.chosen = name != ""; !a.look.chosen {
		name = "ansi"
	}
	theme, err := themes.Load(name, a.look.noColor)
	if err != nil {
		theme, _ = themes.Load("ansi", a.look.noColor)
		a.flash.Say(err.Error())
	}
	theme = a.look.fit(theme)
	a.tabs.Look = tabs.Look{Theme: theme, Now: a.now, ASCII: a.look.ascii, Msgs: o.Msgs, Still: o.Still}
	a.welcome = NewWelcome(WelcomeOptions{Tabs: &a.tabs, Version: o.Version, Root: o.Root, ReadOnly: o.ReadOnly, News: o.News, Config: o.Config}, o.Start)
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
	// Until the pool arrives, main's tab takes what is typed.
	a.tabs.Add(a.newTab(event.Info{Name: "main", Kind: event.Main}))
	if o.Prompt != "" {
		box := a.tabs.Main().Box
		box.Set(o.Prompt)
		a.drafts.Keep(box)
	}
	a.Remote = Remote{term.New(a.ctx, a, term.Options{
		In: o.In, Out: o.Out, Environ: o.Environ, Profile: a.look.profile, Size: o.Size, Filter: calm(o.Now, o.Gone), Go: o.Go, Shown: a.up.now,
	})}
	return a
}

// now returns the time on the clock of all parts.
func (a *App) now() time.Time { return a.o.Now() }

// environment returns an environment as a map.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}

// lookOf returns how to draw according to the environment.
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

// Run shows the screen until the human leaves it. It returns an error if the terminal can't be used
// or the program panicked.
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

// Ends reports, after Run has returned, whether the human wants the agents to end too.
func (a *App) Ends() bool { return a.ends }

// Up returns a channel that is closed once the first frame is on the terminal or the screen has
// ended. Work that the first frame does not need should wait for it. It is safe for concurrent use.
func (a *App) Up() <-chan struct{} { return a.up.out }
