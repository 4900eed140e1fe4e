// Package uitest runs the whole program in tests: keys in, screen out.
//
// Does: open a real database and a pool of agents with a provider the test
// chooses, attach a [ui.App] whose terminal is a virtual one, press keys as a
// user does ([Terminal.Type], [Session.Press], [Terminal.Paste]), wait for what
// the screen shows ([Session.See]), compare frames with files
// ([Session.Golden]), draw them as a picture ([Film]).
//
// Does not: reach into the program, or read a real terminal. In a bubble of
// testing/synctest its time is the bubble's; a child process holds that time
// still while it runs.
package uitest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/hooks"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/agents/mcpconfig"
	"fantail/agents/skills"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
	"fantail/ui"
	"fantail/ui/slash"
	"fantail/ui/workspace"
)

// Options configure a test.
type Options struct {
	W, H     int                     // size of the terminal; 0: 120 by 36
	Provider llm.Provider            // nil: the built-in engine
	Model    string                  // provider/name, as shown; "": the provider's
	Others   map[string]llm.Provider // of more models, by name
	Window   int                     // tokens that the model reads; 0: unknown
	Environ  []string                // appended to TERM, COLORTERM and LANG
	Commands *fleet.Environment      // environment of commands started from this screen; nil: the test's own
	News     string                  // the screen's news
	Ways     []ui.Way                // to a model, that were found here
	Theme    string                  // "": dark; "auto": by the terminal's background
	Mode     permission.Mode         // "": ask
	Wall     permission.Sandbox      // what the sandbox of commands is worth
	Sandbox  *sandbox.Backend        // the sandbox that /sandbox describes; nil: none is wanted
	Cap      int                     // running agents at once; 0: the pool's default
	Branch   string                  // "": main
	Why      string                  // the model is that one; "": the test chose it
	Files    map[string]string
	Skills   *skills.Catalog // skills and commands from files; nil: made of Files if some are below .claude
	Home     *Home           // of an earlier session; nil: a new one
	Late     bool            // the test calls Attach
	Real     bool            // real time: not in a bubble
	Msgs     bool            // the status line says `2 msgs`
	ReadOnly error           // why nothing can be written; nil: it can
}

// Home is what outlives a session: the workspace and its data.
type Home struct{ Root, Data string }

// Session is a running program and its user.
type Session struct {
	*Terminal
	Pool *agents.Pool
	Home *Home

	t       testing.TB
	o       Options
	app     *ui.App
	db      *store.DB
	guest   bool // the agents belong to another session
	ended   chan error
	left    bool // the screen has ended
	stopped bool
}

// patience is how long See waits, in the session's time.
const patience = 20 * time.Second

// after is how long a bubble outlasts the program, because it must be left empty. The framework's
// ticks end soon. The clock of the regular expressions that colour code ends once it has passed the
// latest time it knows of any bubble.
const after = time.Hour

// Start runs the program. It ends with the test at the latest.
func Start(t testing.TB, o Options) *Session {
	t.Helper()
	if o.W == 0 {
		o.W = 120
	}
	if o.H == 0 {
		o.H = 36
	}
	if o.Theme == "" {
		o.Theme = "dark"
	}
	if o.Theme == "auto" {
		o.Theme = ""
	}
	if o.Mode == "" {
		o.Mode = permission.Ask
	}
	if o.Branch == "" {
		o.Branch = "main"
	}
	if o.Provider == nil {
		o.Provider, o.Model = builtin.New(), builtin.Name
	}
	if o.Model == "" {
		o.Model = "test/scripted"
	}
	s := &Session{t: t, o: o, Home: o.Home, Terminal: newTerminal(o.W, o.H), ended: make(chan error, 1)}
	if s.Home == nil {
		s.Home = newHome(t)
	}
	for name, text := range o.Files {
		path := filepath.Join(s.Home.Root, name)
		s.must(os.MkdirAll(filepath.Dir(path), 0o755))
		s.must(os.WriteFile(path, []byte(text), 0o644))
	}
	if s.o.Skills == nil && slices.ContainsFunc(slices.Collect(maps.Keys(o.Files)), func(name string) bool { return strings.HasPrefix(name, ".claude/") }) {
		s.o.Skills = skills.New(skills.Options{Root: s.Home.Root, Words: slash.Words(), Vendors: []string{"claude"}})
	}
	s.show()
	if !o.Real {
		t.Cleanup(func() { time.Sleep(after) })
	}
	t.Cleanup(s.Stop)
	if !o.Late {
		s.Attach()
	}
	return s
}

// Beside returns another screen of the same size with the same agents. It ends with the test at the
// latest.
func (s *Session) Beside() *Session {
	s.t.Helper()
	b := &Session{t: s.t, o: s.o, Home: s.Home, Pool: s.Pool, guest: true, Terminal: newTerminal(s.o.W, s.o.H), ended: make(chan error, 1)}
	b.show()
	b.t.Cleanup(b.Stop)
	b.attached()
	return b
}

// show runs the screen.
func (s *Session) show() {
	o := s.o
	s.app = ui.New(ui.Options{
		In: s.Terminal.in, Out: s.Terminal, Terminal: shared{s.Terminal.in}, Environ: append([]string{
			"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8",
		}, o.Environ...),
		With: fleet.Within(context.Background(), o.Commands), News: o.News, Theme: o.Theme, Msgs: o.Msgs, Usual: o.Mode, Size: [2]int{o.W, o.H}, Now: time.Now, Root: s.Home.Root,
		History: filepath.Join(s.Home.Data, "history"), Config: "/srv/me/.config/fantail/config.toml",
		Start: o.Model + " — " + cmp.Or(o.Why, "chosen by the test"), Branch: func() string { return o.Branch },
		Models: slash.Models{Names: func() []string { return []string{o.Model, "test/other"} }}, Doubt: doubt(o.Provider), ReadOnly: o.ReadOnly, Skills: s.o.Skills,
		Sandbox: func(mode permission.Mode) string {
			return workspace.SandboxText(o.Sandbox, s.Home.Root, mode, workspace.Machine{})
		},
		Lost: func(err error) { s.t.Errorf("the screen ended: %v", err) },
	})
	go func() { s.ended <- s.app.Run() }()
}

// shared gives the terminal's input to other programs.
type shared struct{ keys io.Reader }

// Suspend implements [ui.Terminal]. There is no shell to take the terminal.
func (shared) Suspend() error { return nil }

// Run implements [ui.Terminal].
func (s shared) Run(c *exec.Cmd) error {
	c.Stdin = s.keys
	return c.Run()
}

// newHome makes a workspace whose path has the same width on every machine, so that frames with it
// can be compared. Its data is where no write waits for a disk.
func newHome(t testing.TB) *Home {
	t.Helper()
	parent := os.TempDir()
	if fi, err := os.Stat("/tmp"); err == nil && fi.IsDir() {
		parent = "/tmp"
	}
	parent, err := filepath.EvalSymlinks(parent)
	if err != nil {
		t.Fatal(err)
	}
	for {
		dir := filepath.Join(parent, fmt.Sprintf("ft%08d", rand.IntN(100_000_000)))
		if err := os.Mkdir(dir, 0o700); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		h := &Home{Root: filepath.Join(dir, "shop"), Data: storetest.Dir(t)}
		if err := os.Mkdir(h.Root, 0o700); err != nil {
			t.Fatal(err)
		}
		return h
	}
}

// Attach opens the workspace, gives it to the screen and waits until the screen has it. The
// screen's text does not show that: it names main, its model and its state before too.
func (s *Session) Attach() {
	s.t.Helper()
	gate, err := permission.NewGate(s.o.Mode, nil)
	s.must(err)
	gate.Boxes(s.o.Wall)
	ctx := context.Background()
	s.db, err = storetest.Open(ctx, filepath.Join(s.Home.Data, "fantail.db"), store.Options{ReadOnly: s.o.ReadOnly})
	s.must(err)
	said, broken := policy.ReadRules(s.Home.Root)
	for _, err := range broken {
		s.must(err)
	}
	s.Pool, err = agents.Open(ctx, agents.Options{
		DB: s.db, Tools: tools.New(), Gate: gate, Model: s.o.Model, Resolve: s.resolve,
		Root: s.Home.Root, Data: s.Home.Data, Environ: os.Environ(),
		System: func(i event.Info) string { return "You are " + i.Name }, Cap: s.o.Cap, Rules: said, Brought: s.brought(),
	})
	s.must(err)
	s.attached()
}

// brought returns what the workspace's files configure. No home directory has such files.
func (s *Session) brought() agents.Brought {
	s.t.Helper()
	room, err := hooks.OpenTrust(s.Home.Root, s.Home.Data)
	s.must(err)
	room.Add(skills.InlineSource(s.o.Skills))
	return agents.Brought{
		Hooks: hooks.New(hooks.Settings{Root: s.Home.Root, Trust: room}), Trust: room, Skills: s.o.Skills,
		Served: mcpconfig.Served{Servers: mcpconfig.New(mcpconfig.Settings{Root: s.Home.Root, Trust: room})},
	}
}

// attached gives the agents to the screen and waits until the screen has them.
func (s *Session) attached() {
	s.t.Helper()
	s.app.Remote.Attach(s.Pool)
	s.app.Remote.Ways(s.o.Ways)
	if !s.o.Real {
		synctest.Wait()
	}
	s.Until("main is there", func() bool { return s.drawn("Agent: main") && s.drawn(short(s.o.Model)) })
}

// drawn reports whether the screen shows text, where that can be expected: narrow screens drop
// parts of the status line, and odd characters are replaced.
func (s *Session) drawn(text string) bool {
	odd := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	return odd || s.o.W < 70 || strings.Contains(s.Screen(), text)
}

func short(model string) string {
	if _, s, ok := strings.Cut(model, "/"); ok {
		return s
	}
	return model
}

func (s *Session) resolve(name string) (llm.Model, error) {
	if p := s.o.Others[name]; p != nil {
		return llm.Model{Name: name, Provider: p, ID: short(name)}, nil
	}
	if name != s.o.Model && name != "test/other" {
		return llm.Model{}, fmt.Errorf("there is no model %q; known are %s and test/other", name, s.o.Model)
	}
	return llm.Model{Name: name, Provider: s.o.Provider, ID: short(name), Window: s.o.Window}, nil
}

// Left waits until the screen has ended by itself.
func (s *Session) Left() {
	s.t.Helper()
	if s.left {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-s.ended:
		s.left = true
		if err != nil {
			s.t.Errorf("the screen ended with: %v", err)
		}
	case <-late.C:
		s.t.Fatalf("the screen did not end:\n%s", s.Screen())
	}
}

// Kill ends the screen at once, as when its process is killed.
func (s *Session) Kill() {
	s.t.Helper()
	s.app.Remote.Kill()
	if err := <-s.ended; !errors.Is(err, tea.ErrProgramKilled) {
		s.t.Errorf("the screen ended with: %v", err)
	}
	s.left = true
}

// Stop ends the program in order, unless it has ended. Start with the same Home starts it again.
func (s *Session) Stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	if !s.left {
		// Keys in transit would wait for ever for a program that has ended.
		s.Wait(100 * time.Millisecond)
		s.app.Remote.Quit()
		s.Left()
	}
	if s.Pool != nil && !s.guest {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Pool.Close(ctx); err != nil {
			s.t.Error(err)
		}
	}
	if s.db != nil {
		if err := s.db.Close(); err != nil && !store.Stopped(err) { // otherwise the screen reported it
			s.t.Error(err)
		}
	}
	s.Terminal.close()
}

func (s *Session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Script is a provider written as a function. say yields a part and reports whether the program
// wants more. If the script returns nil, the reply has ended in order; it asks for tools if the
// script yielded calls.
type Script func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error

var _ llm.Provider = Script(nil)

// Stream implements [llm.Provider].
func (f Script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		reason, gone := llm.EndTurn, false
		err := f(ctx, req, func(p llm.Part) bool {
			if _, ok := p.(llm.ToolCall); ok {
				reason = llm.ToolUse
			}
			if !gone {
				gone = !yield(p, nil)
			}
			return !gone
		})
		switch {
		case gone:
		case ctx.Err() != nil:
			yield(nil, &llm.Error{Kind: llm.Cancelled, Err: ctx.Err()})
		case err != nil:
			var e *llm.Error
			if !errors.As(err, &e) {
				e = &llm.Error{Kind: llm.Cut, Err: err}
			}
			yield(nil, e)
		default:
			yield(llm.Stop{Reason: reason}, nil)
		}
	}
}

// Prompt returns the text of the last prompt in a request, and the number of tool results after it.
func Prompt(req *llm.Request) (text string, results int) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				if p.From == llm.FromPrompt {
					text, results = p.Text, 0
				}
			case llm.ToolResult:
				results++
			}
		}
	}
	return text, results
}

// Pause waits d or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// typed is the program's input. It is unbounded, so that the terminal's replies never wait for a
// program that waits for the terminal.
type typed struct {
	mu      sync.Mutex
	more    sync.Cond
	buf     []byte
	readers int // number that wait
	closed  bool
}

func (k *typed) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.buf = append(k.buf, p...)
	k.more.Signal() // wake the one that waits longest
	return len(p), nil
}

func (k *typed) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.readers++; len(k.buf) == 0 && !k.closed; {
		k.more.Wait()
	}
	if k.readers--; len(k.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, k.buf)
	if k.buf = k.buf[n:]; len(k.buf) > 0 {
		k.more.Signal()
	}
	return n, nil
}

func (k *typed) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.more.Broadcast()
}

// doubt returns why the built-in engine can't carry out a prompt.
func doubt(p llm.Provider) func(model, prompt string) string {
	engine, ok := p.(builtin.Provider)
	if !ok {
		return nil
	}
	return func(model, prompt string) string {
		if model != builtin.Name {
			return ""
		}
		return engine.Doubt(prompt)
	}
}
