package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// sender sends what the human typed into a box, and takes back what has not entered a conversation
// yet.
type sender struct {
	tabs    *tabs.Tabs
	drafts  *Drafts
	options func() slash.Options // for commands
	pool    prompter             // nil until attached
	// starts has, by task, the answers that wait for the tab of a new agent.
	starts map[int64]func(*tabs.Tab) intent.Intent
}

// prompter gives agents what the human typed, and takes it back.
type prompter interface {
	Prompt(ctx context.Context, agent int64, text string) error
	Unprompt(ctx context.Context, id int64) (bool, error)
	Withdraw(ctx context.Context, agent int64) ([]string, error)
	Shell(ctx context.Context, agent int64, command string) error
	Stop(agent int64)
	Tell(ctx context.Context, name, text string) error
	Resume(ctx context.Context, by int64, name, prompt string) (t tasks.Task, goes bool, err error)
	Start(ctx context.Context, by int64, prompt string) (t tasks.Task, blocked string, err error)
}

// submit sends the text of a tab's box: a command, a shell command of the human's own, a prompt, or
// a task for a new agent. Before the workspace is open, it keeps the text.
func (s *sender) submit(t *tabs.Tab) intent.Intent {
	box := t.Typing()
	typed := s.drafts.Typed(box)
	if t.Line != nil {
		typed = typedText{text: s.drafts.withheld(box.Value())}
	}
	text := typed.text
	switch {
	case strings.TrimSpace(text) == "" && typed.starts:
		return intent.Say{Text: "type a task after the &, as in &run the tests"}
	case strings.TrimSpace(text) == "":
		return nil
	}
	t.At().Follow()
	t.News, s.tabs.Acting().News = false, false
	if t.Line != nil {
		return s.line(t, text)
	}
	if strings.HasPrefix(text, "/") && !typed.starts {
		i, err := slash.Run(s.options(), t, text)
		if errors.Is(err, panel.ErrOpening) {
			s.drafts.Keep(box)
			return nil
		}
		kept := s.drafts.Remember(box, text)
		box.Clear()
		if err != nil {
			i = refusal(t, text, err)
		}
		return intent.All{i, kept}
	}
	if s.pool == nil || t.Info.ID == 0 {
		s.drafts.Keep(box)
		return nil
	}
	kept := s.drafts.Remember(box, typed.typed())
	box.Clear()
	return intent.All{kept, s.send(t, typed)}
}

// send sends a prompt, or starts a new agent with it.
func (s *sender) send(t *tabs.Tab, k typedText) intent.Intent {
	if k.starts {
		return s.start(t, k.text)
	}
	return s.prompt(t, k.text)
}

// start starts a new agent with a prompt typed in a tab's box. If it can't, the text returns to the
// box.
func (s *sender) start(t *tabs.Tab, text string) intent.Intent {
	id, command, doubt := t.Info.ID, "&"+text, s.options().Doubt
	return intent.Do{Agent: id, Command: command, F: func(ctx context.Context) (intent.Intent, error) {
		task, blocked, err := s.pool.Start(ctx, id, text)
		if err != nil {
			return intent.Call(func() intent.Intent {
				s.drafts.Again(s.tabs.ByID(id), text)
				return intent.Tell{Agent: id, Command: command, Text: format.Sentence(err), Tone: transcript.Bad}
			}), nil
		}
		tell := func(said string) intent.Intent {
			return intent.Tell{Agent: id, Command: command, Text: format.Warned(said, doubt.Of(task)), Tone: transcript.Plain}
		}
		if blocked != "" {
			return tell("Queued " + task.Name + ": " + blocked + ". It starts by itself"), nil
		}
		return intent.Call(func() intent.Intent {
			began := func(x *tabs.Tab) intent.Intent { return tell(format.Started(task.Name, s.tabs.Number(x))) }
			for _, x := range s.tabs.All {
				if x.Info.Task == task.ID {
					return began(x)
				}
			}
			if s.starts == nil {
				s.starts = map[int64]func(*tabs.Tab) intent.Intent{}
			}
			s.starts[task.ID] = began
			return nil
		}), nil
	}}
}

// opened returns the answer to a start once the new agent's tab is there.
func (s *sender) opened(t *tabs.Tab) intent.Intent {
	began := s.starts[t.Info.Task]
	if began == nil {
		return nil
	}
	delete(s.starts, t.Info.Task)
	return began(t)
}

// line sends a one-line box: an instruction for the agent, a prompt to resume it with, or a command
// as main.
func (s *sender) line(t *tabs.Tab, text string) intent.Intent {
	if t.Line.For == tabs.Command {
		i, err := slash.Run(s.options(), t, text)
		if err != nil { // keep the line, so that an Esc meant for it stops no turn
			kept := s.drafts.Remember(t.Line.Box, text)
			t.Line.Box.Set("/")
			return intent.All{refusal(t, text, err), kept}
		}
		t.Line = nil
		return i
	}
	by, name, resumes := s.tabs.Main().Info.ID, t.Info.Name, t.Line.For == tabs.Resume
	t.Line = nil
	return intent.Do{Agent: t.Info.ID, Back: text, F: func(ctx context.Context) (intent.Intent, error) {
		if resumes {
			_, _, err := s.pool.Resume(ctx, by, name, text)
			return nil, err
		}
		err := s.pool.Tell(ctx, name, text)
		var ended *event.EndedError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w: press Enter to resume it with what you typed", err)
		}
		return nil, err
	}}
}

// early sends what was typed before the pool arrived, in order; nil: nothing was.
func (s *sender) early() intent.Intent {
	t := s.tabs.Main()
	if t.Info.ID == 0 {
		return nil
	}
	var all intent.All
	for _, k := range s.drafts.Kept() {
		text := k.typed()
		all = append(all, s.drafts.Remember(t.Box, text))
		if !strings.HasPrefix(text, "/") {
			all = append(all, s.send(t, k))
			continue
		}
		all = append(all, intent.Call(func() intent.Intent { // run it only after the ones before are carried out
			i, err := slash.Run(s.options(), t, text)
			if err != nil {
				return refusal(t, text, err)
			}
			return i
		}))
	}
	if all == nil {
		return nil
	}
	return all
}

// prompt sends a prompt, or runs a shell command of the human's own.
func (s *sender) prompt(t *tabs.Tab, text string) intent.Intent {
	id := t.Info.ID
	if command, ok := strings.CutPrefix(text, "!"); ok {
		return intent.Do{Agent: id, Back: text, Long: true, F: func(ctx context.Context) (intent.Intent, error) {
			return nil, s.pool.Shell(ctx, id, strings.TrimSpace(command))
		}}
	}
	return intent.Do{Agent: id, Back: text, F: func(ctx context.Context) (intent.Intent, error) {
		return nil, s.pool.Prompt(ctx, id, text)
	}}
}

// refusal says why a command can't be carried out. The box need not keep the command, because the
// history has it.
func refusal(t *tabs.Tab, command string, err error) intent.Intent {
	return intent.Tell{Agent: t.Info.ID, Command: command, Text: format.Sentence(err), Tone: transcript.Bad}
}

// stop ends only the turn or the wait of a tab's agent. Prompts queued for it go back into its box
// before the turn ends, so that they are neither sent nor lost.
func (s *sender) stop(t *tabs.Tab) intent.Intent {
	if t == nil || s.pool == nil || t.Info.State.Terminal() || s.options().ReadOnly != nil {
		return nil
	}
	id := t.Info.ID
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		texts, err := s.pool.Withdraw(ctx, id)
		s.pool.Stop(id)
		if err != nil {
			return intent.Tell{Agent: id, Text: format.Sentence(err), Tone: transcript.Bad}
		}
		return intent.Back{Agent: id, Text: strings.Join(texts, "\n")}
	}}
}

// withdraw puts a prompt queued for a tab's agent back into its box.
func (s *sender) withdraw(t *tabs.Tab, q event.Prompt) intent.Intent {
	id := t.Info.ID
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		ok, err := s.pool.Unprompt(ctx, q.ID)
		switch {
		case err != nil:
			return intent.Tell{Agent: id, Text: format.Sentence(err), Tone: transcript.Bad}
		case !ok:
			return intent.Tell{Agent: id, Text: "that prompt was already sent"}
		}
		return intent.Back{Agent: id, Text: q.Text}
	}}
}

// edit opens the external editor on a tab's draft.
func (s *sender) edit(t *tabs.Tab) intent.Intent {
	id := t.Info.ID
	return intent.Edit{Name: "prompt.md", Draft: t.Typing().Value(), Then: func(_ context.Context, text, _ string, err error) (intent.Intent, bool) {
		return intent.Call(func() intent.Intent { return s.edited(id, strings.TrimSuffix(text, "\n"), err) }), false
	}}
}

// edited applies an agent's draft as the editor left it.
func (s *sender) edited(agent int64, text string, err error) intent.Intent {
	t := s.tabs.ByID(agent)
	switch {
	case err != nil && t != nil:
		return intent.Tell{Agent: agent, Text: format.Sentence(err), Tone: transcript.Bad}
	case err != nil:
		return intent.Say{Text: format.Sentence(err)}
	case t == nil || t.Typing() == nil:
		s.drafts.Give(t, text)
	default:
		t.Typing().Set(text)
	}
	return nil
}
