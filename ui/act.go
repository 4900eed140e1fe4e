package ui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/tools/permission"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/term"
	"fantail/ui/transcript"
)

// Only this file carries out what keys and commands mean. Whatever may wait for the disk or for an
// agent runs in a command, and its result comes back as a message.

// act carries out an intent.
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
	case intent.Press:
		return a.key(i.Key)
	case intent.Go:
		a.wanted = i.Agent
		return a.goWanted()
	case intent.View:
		return a.showPane(a.tabOf(i.Agent), i.Pane)
	case intent.Question:
		if i.Agent == 0 {
			a.asks.Next(Strict)
		} else {
			a.asks.Open(i.Agent, Strict)
		}
		a.dirty = true
	case intent.Help:
		p, err := slash.HelpPage(a.commandOptions().Custom, i.Page)
		if err != nil {
			return a.act(intent.Tell{Command: i.Command, Text: format.Sentence(err), Tone: transcript.Bad})
		}
		return a.act(p.Show(a.tabs.Theme, a.w))
	case intent.Message:
		return a.act(panel.Letter(a.boards.Options, i, a.w))
	case intent.Inbox:
		if a.free(i.What) {
			a.boards.inbox(i.Agent, i.Name)
		}
	case intent.Queue:
		a.boards.queue(i.Agent, i.Name)
	case intent.Schedules:
		a.boards.schedules(i.Agent, i.Name)
	case intent.Servers:
		a.boards.servers(i.Agent, i.Name)
	case intent.Permissions:
		a.boards.rules(i.Agent, i.Name)
	case intent.Fan:
		a.boards.wall()
	case intent.Timeline:
		a.boards.timeline()
	case intent.Overview:
		a.boards.overview()
	case intent.Handle:
		return a.handleUrgent(i)
	case intent.Terminal:
		return term.Raw(i.Sequence)
	case intent.Leave:
		a.ends = i.End
		return tea.Quit
	case intent.Quit:
		if a.o.ReadOnly != nil { // no agents run for this screen
			return tea.Quit
		}
		asks := intent.Call(func() intent.Intent {
			return quit(&a.tabs, a.flash, a.others(), func(ctx context.Context) error { return a.pool.Settled(ctx) })
		})
		if a.actions.last == nil {
			return a.act(asks)
		}
		return a.actions.then(asks, quits) // quitting right after sending a task asks about that task
	case intent.Copy:
		return a.copy(i.Text)
	case intent.Mode:
		return a.setMode(i.Mode)
	case intent.Edit:
		if a.away {
			a.flash.Say(i.Name + " was not opened: another program has the terminal")
			return nil
		}
		a.away = true
		return func() tea.Msg {
			return edit(a.o.Terminal, a.o.Environ, i.Name, i.Draft, func(text, path string, err error) (tea.Msg, bool) {
				then, keep := i.Then(a.ctx, text, path, err)
				return wanted{then}, keep
			})
		}
	default:
		a.show(i)
	}
	return nil
}

// show carries out an intent that changes only the screen.
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
	case intent.Type:
		a.drafts.Lead(a.tabs.ByID(i.Agent), i.Text)
		a.dirty = true
	case intent.Talk:
		a.drafts.Talk(a.tabs.ByID(i.Agent))
		a.dirty = true
	case intent.Say:
		a.flash.While(i.Text, i.While)
	case intent.Open:
		if !a.free(i.What) {
			return
		}
		a.layers.Open(i.Box, i.Decide)
		a.dirty = true
	case intent.Shut:
		if a.layers.Top() == i.Box {
			a.layers.Shut()
			a.dirty = true
		}
	case intent.Document:
		a.showDocument(i)
	case intent.Close:
		a.layers.Clear()
		a.dirty = true
	case intent.Theme:
		a.look.chosen = true
		a.setTheme(i.Theme)
	}
}

// tabOf returns an agent's tab, or the focused one if that is closed.
func (a *App) tabOf(agent int64) *tabs.Tab {
	if t := a.tabs.ByID(agent); t != nil {
		return t
	}
	return a.tabs.Focus
}

// commandOptions returns what slash commands may use.
func (a *App) commandOptions() slash.Options {
	files := slash.CustomCommands{Skills: a.o.Skills}
	if a.pool != nil {
		files.Served = a.pool.Brought().MCP
	}
	return slash.Options{
		Pool:  a.pool,
		Tabs:  &a.tabs,
		Tally: a.tally.Tally, Files: a.reader.files, Documents: a.reader.documents, Now: a.now, Theme: a.tabs.Theme, NoColor: a.look.noColor,
		Models: a.o.Models, Doubt: a.o.Doubt, Remember: a.o.Remember, Reload: a.o.Reload, Restart: a.o.Restart, ReadOnly: a.o.ReadOnly,
		Sandbox: a.o.Sandbox, Custom: files,
	}
}

// complete returns the candidates for the word being typed. mention returns those for a text that
// is not a command.
func (a *App) complete(trigger, line, word string) []composer.Item {
	return slash.Complete(a.commandOptions(), trigger, line, word)
}

func (a *App) mention(trigger, _, word string) []composer.Item {
	return slash.Mention(a.commandOptions(), trigger, word)
}

// setMode changes the permission mode.
func (a *App) setMode(m permission.Mode) tea.Cmd {
	return a.moded(m, "", func(ctx context.Context) error { return a.pool.SetMode(ctx, m) })
}

// stepMode goes to the permission mode after the one shown. A looser mode does not hold at once.
func (a *App) stepMode() tea.Cmd {
	was := a.tally.Mode
	m := cmp.Or(a.tally.Coming, was).Cycle(a.tally.Wall)
	holds, coming := was.Tighter(m), m
	if holds == m {
		coming = ""
	}
	return a.moded(holds, coming, func(ctx context.Context) error { return a.pool.StepMode(ctx, m) })
}

// moded shows other modes and has the pool change to them. The next key press starts from the modes
// shown, whatever the pool reports about earlier ones.
func (a *App) moded(holds, coming permission.Mode, change func(ctx context.Context) error) tea.Cmd {
	a.tally.Mode, a.tally.Coming = holds, coming
	a.tally.asked++
	return a.actions.do(intent.Do{F: func(ctx context.Context) (intent.Intent, error) {
		err := change(ctx)
		return intent.Call(func() intent.Intent {
			if a.tally.asked--; a.tally.asked == 0 {
				a.tally.Mode, a.tally.Coming = a.tally.told.Mode, a.tally.told.Coming
			}
			if err != nil {
				return intent.Said{Text: format.Sentence(err), Tone: transcript.Bad}
			}
			return nil
		}), nil
	}})
}

// copy puts text on the terminal's clipboard.
func (a *App) copy(text string) tea.Cmd {
	if text == "" {
		a.flash.Say("nothing to copy")
		return nil
	}
	if n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; n > 1 {
		a.flash.Say(fmt.Sprintf("copied %d lines", n))
	} else {
		a.flash.Say("copied a line")
	}
	return term.Copy(text)
}
