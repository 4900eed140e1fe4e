package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/tools/permit"
	"fantail/ui/asking"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// What keys and commands mean is done here and nowhere else; what may wait for
// the disk or for an agent is done in a command and comes back as a message.

// act carries an intent out.
func (a *App) act(i intent.Intent) tea.Cmd {
	switch i := i.(type) {
	case intent.All:
		var cmds []tea.Cmd
		for _, x := range i {
			cmds = append(cmds, a.act(x))
		}
		return tea.Batch(cmds...)
	case intent.Do:
		return a.actions.do(i)
	case intent.Run:
		return func() tea.Msg { return wanted{i.F(a.ctx)} }
	case intent.Call:
		a.dirty = true
		return a.act(i())
	case intent.Go:
		a.wanted = i.Agent
		return a.goWanted()
	case intent.View:
		return a.showPane(a.tabOf(i.Agent), i.Pane)
	case intent.Question:
		if i.Agent == 0 {
			a.asks.Next(asking.Strict)
		} else {
			a.asks.Open(i.Agent, asking.Strict)
		}
		a.dirty = true
	case intent.Message:
		return a.act(panel.Letter(a.boards.Env, i, a.w))
	case intent.Inbox:
		if a.free(i.What) {
			a.boards.inbox(i.Agent, i.Name)
		}
	case intent.Queue:
		a.boards.queue(i.Agent, i.Name)
	case intent.Overview:
		a.boards.overview()
	case intent.Handle:
		return a.handleUrgent(i)
	case intent.Terminal:
		return tea.Raw(i.Sequence)
	case intent.Leave:
		return tea.Quit
	case intent.Quit:
		if a.o.ReadOnly != nil { // nobody works for this screen
			return tea.Quit
		}
		return a.act(quit(&a.tabs, a.flash, func(ctx context.Context) error { return a.pool.Settled(ctx) }))
	case intent.Copy:
		return a.copy(i.Text)
	case intent.Mode:
		return a.setMode(i.Mode)
	case intent.Edit:
		return func() tea.Msg {
			return edit(a.o.Environ, i.Name, i.Draft, func(text, path string, err error) (tea.Msg, bool) {
				then, keep := i.Then(a.ctx, text, path, err)
				return wanted{then}, keep
			})
		}
	default:
		a.show(i)
	}
	return nil
}

// show carries out what only changes the screen.
func (a *App) show(i intent.Intent) {
	switch i := i.(type) {
	case intent.Said:
		a.report(done{text: i.Text, tone: i.Tone})
	case intent.Tell:
		if t := a.tabOf(i.Agent); t != nil {
			a.answer(t, i.Command, i.Text, i.Tone)
		}
	case intent.Back:
		a.report(done{agent: i.Agent, back: i.Text})
	case intent.Say:
		a.flash.While(i.Text, i.While)
	case intent.Open:
		if !a.free(i.What) {
			return
		}
		a.layers.Open(i.Box, i.Decide)
		a.dirty = true
	case intent.Document:
		a.showDocument(i)
	case intent.Close:
		a.layers.Clear()
		a.dirty = true
	case intent.Help:
		a.layers.Open(dialog.NewTable(a.theme, "Help", slash.Help()), nil)
	case intent.Theme:
		a.look.chosen = true
		a.setTheme(i.Theme)
	}
}

// tabOf is an agent's tab, the focused one if it is closed.
func (a *App) tabOf(agent int64) *tabs.Tab {
	if t := a.tabs.ByID(agent); t != nil {
		return t
	}
	return a.tabs.Focus
}

// silent is an action that says nothing if it succeeds.
func silent(f func(ctx context.Context) error) func(ctx context.Context) (intent.Intent, error) {
	return func(ctx context.Context) (intent.Intent, error) { return nil, f(ctx) }
}

// command carries out a slash command that was typed in a tab.
func (a *App) command(here *tabs.Tab, text string) (tea.Cmd, error) {
	i, err := slash.Run(a.env(), here, text)
	if err != nil {
		return nil, err
	}
	return a.act(i), nil
}

// env is what slash commands may look at and ask.
func (a *App) env() slash.Env {
	p, open := slash.Pool{}, a.pool != nil
	if open {
		p = a.pool.slash
	}
	return slash.Env{
		Pool:  p,
		Open:  open,
		Tabs:  &a.tabs,
		Tally: a.tally, Files: a.reader.files, Documents: a.reader.documents, Now: a.now, Theme: a.theme, NoColor: a.look.noColor,
		Models: a.o.Models, Doubt: a.o.Doubt, Remember: a.o.Remember, ReadOnly: a.o.ReadOnly,
	}
}

// complete yields the candidates for what is being typed; mention those for a text that
// is no command.
func (a *App) complete(trigger, line, word string) []composer.Item {
	return slash.Complete(a.env(), trigger, line, word)
}

func (a *App) mention(trigger, _, word string) []composer.Item {
	return slash.Mention(a.env(), trigger, word)
}

// submit sends what the box holds: a command, a shell command of the human's
// own, mail, or a prompt.
func (a *App) submit(t *tabs.Tab) tea.Cmd {
	box := t.Typing()
	text := a.drafts.Typed(box)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	t.At().Follow()
	t.News, a.tabs.Acting().News = false, false
	if t.Line != nil {
		return a.submitLine(t, text)
	}
	if strings.HasPrefix(text, "/") {
		cmd, err := a.command(t, text)
		if errors.Is(err, slash.ErrOpening) {
			a.drafts.Keep(box)
			return nil
		}
		kept := a.drafts.Remember(box, text)
		if err != nil {
			a.refuse(t, text, err)
		}
		box.Clear()
		return tea.Batch(a.act(kept), cmd)
	}
	if a.pool == nil || t.Info.ID == 0 {
		a.drafts.Keep(box)
		return nil
	}
	kept := a.drafts.Remember(box, text)
	box.Clear()
	return tea.Batch(a.act(kept), a.send(t, text))
}

// submitLine sends a one-line box: mail to the agent, or a command as main.
func (a *App) submitLine(t *tabs.Tab, text string) tea.Cmd {
	if !t.Line.Mail {
		cmd, err := a.command(t, text)
		if err != nil { // the line stays: an Esc that is meant for it stops no turn
			kept := a.drafts.Remember(t.Line.Box, text)
			t.Line.Box.Set("/")
			a.refuse(t, text, err)
			return a.act(kept)
		}
		t.Line = nil
		return cmd
	}
	from, to := a.tabs.Main().Info.ID, t.Info.Name
	t.Line = nil
	return a.actions.do(intent.Do{Agent: t.Info.ID, Back: text, F: func(ctx context.Context) (intent.Intent, error) {
		id, err := a.pool.letters.Send(ctx, from, to, text, inbox.Normal)
		return intent.Said{Text: fmt.Sprintf("Message #%d is in the inbox of %s: %s", id, to, text)}, err
	}})
}

// sendEarly sends what was typed before the pool came, in order.
func (a *App) sendEarly() tea.Cmd {
	t := a.tabs.Main()
	if t.Info.ID == 0 {
		return nil
	}
	var cmds []tea.Cmd
	for _, text := range a.drafts.Kept() {
		cmds = append(cmds, a.act(a.drafts.Remember(t.Box, text)))
		if !strings.HasPrefix(text, "/") {
			cmds = append(cmds, a.send(t, text))
			continue
		}
		cmd, err := a.command(t, text)
		if err != nil {
			a.refuse(t, text, err)
		}
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// send sends a prompt, or a shell command of the human's own.
func (a *App) send(t *tabs.Tab, text string) tea.Cmd {
	d := intent.Do{Agent: t.Info.ID, Back: text}
	d.F = silent(func(ctx context.Context) error { return a.pool.Prompt(ctx, d.Agent, text) })
	if cmd, ok := strings.CutPrefix(text, "!"); ok {
		d.Long = true
		d.F = silent(func(ctx context.Context) error { return a.pool.Shell(ctx, d.Agent, strings.TrimSpace(cmd)) })
	}
	return a.actions.do(d)
}

// stop ends the focused agent's turn or wait, and nothing else. What is queued for it
// comes back into its box before the turn ends: neither is it sent then nor lost.
func (a *App) stop() tea.Cmd {
	t := a.tabs.Focus
	if t == nil || a.pool == nil || t.Info.State.Terminal() || a.o.ReadOnly != nil {
		return nil
	}
	id := t.Info.ID
	return func() tea.Msg {
		texts, err := a.pool.Withdraw(a.ctx, id)
		a.pool.Stop(id)
		if err != nil {
			return done{agent: id, text: words.Sentence(err), tone: transcript.Bad}
		}
		return done{agent: id, back: strings.Join(texts, "\n")}
	}
}

func (a *App) setMode(m permit.Mode) tea.Cmd {
	a.tally.Mode = m // so that the next press goes on from here
	return a.actions.do(intent.Do{F: silent(func(context.Context) error { return a.pool.SetMode(m) })})
}

// takeBack brings a queued prompt back into the box.
func (a *App) takeBack(t *tabs.Tab, q event.Prompt) tea.Cmd {
	id := t.Info.ID
	return func() tea.Msg {
		ok, err := a.pool.Unprompt(a.ctx, q.ID)
		switch {
		case err != nil:
			return done{agent: id, text: words.Sentence(err), tone: transcript.Bad}
		case !ok:
			return done{agent: id, text: "that prompt has been sent already"}
		}
		return done{agent: id, back: q.Text}
	}
}

// copy puts text on the terminal's clipboard.
func (a *App) copy(text string) tea.Cmd {
	if text == "" {
		a.flash.Say("there is nothing to copy")
		return nil
	}
	if n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; n > 1 {
		a.flash.Say(fmt.Sprintf("copied %d lines", n))
	} else {
		a.flash.Say("copied a line")
	}
	return tea.SetClipboard(text)
}

// editor opens the external editor on the draft.
func (a *App) editor(t *tabs.Tab) tea.Cmd {
	id, draft := t.Info.ID, t.Typing().Value()
	return func() tea.Msg {
		return edit(a.o.Environ, "prompt.md", draft, func(text, _ string, err error) (tea.Msg, bool) {
			return edited{agent: id, text: strings.TrimSuffix(text, "\n"), err: err}, false
		})
	}
}

// edit runs the external editor on a draft, in a file of that name. then gets what
// came of it and where it lies, and says whether the file is to be kept. It is
// called in a command.
func edit(environ []string, name, draft string, then func(text, path string, err error) (m tea.Msg, keep bool)) tea.Msg {
	fail := func(err error) tea.Msg {
		m, _ := then("", "", err)
		return m
	}
	argv, err := editorOf(environ)
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "fantail-")
	if err != nil {
		return fail(fmt.Errorf("set the draft aside for the editor: %w", err))
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(draft), 0o600); err != nil {
		os.RemoveAll(dir)
		return fail(fmt.Errorf("set the draft aside for the editor: %w", err))
	}
	cmd := exec.Command(argv[0], append(argv[1:], path)...)
	cmd.Env = environ
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		text, unread := os.ReadFile(path)
		keep := false
		switch {
		case err == nil:
			err = unread
		case unread == nil && string(text) != draft: // it ended before its time, but had saved
			keep, err = true, fmt.Errorf("run the editor %s: %w; what it saved is kept in %s", argv[0], err, path)
		default:
			err = fmt.Errorf("run the editor %s: %w", argv[0], err)
		}
		m, wanted := then(string(text), path, err)
		if !keep && !wanted {
			os.RemoveAll(dir)
		}
		return returned{m}
	})()
}

// returned says that the human is back from a program that had the terminal, with
// what came of it.
type returned struct{ with tea.Msg }

// editorOf is the human's editor and its arguments.
func editorOf(environ []string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && strings.TrimSpace(v) != "" {
				return strings.Fields(v), nil
			}
		}
	}
	for _, name := range []string{"vi", "vim", "nano"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("no editor was found: set VISUAL or EDITOR")
}
