package panel

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools"
	"fantail/tools/mcp"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// LoginWanted returns the server that the arguments of /mcp ask to log in to.
func LoginWanted(args string) (name string, is bool) {
	verb, name := format.NamedServer(args)
	return name, verb == "login" && name != ""
}

// ServerLogin logs in to MCP servers.
type ServerLogin struct {
	Servers format.Servers
	Theme   *themes.Theme
	Environ []string // for the browser; nil: the host's
}

// Login has the human log in to the server of that name. then shows the result.
func (e ServerLogin) Login(name string, then func(text string, err error) intent.Intent) intent.Intent {
	t := &talk{theme: e.Theme, name: name, asks: make(chan tools.Question), says: make(chan string), over: make(chan struct{})}
	return intent.All{
		intent.Run{F: func(ctx context.Context) intent.Intent {
			text, err := e.Servers.Login(ctx, name, mcp.LoginWaiter{Ask: t.ask, Environ: e.Environ})
			close(t.over)
			return intent.Call(func() intent.Intent {
				all := intent.All{then(text, err)}
				if t.box != nil {
					all = intent.All{intent.Shut{Box: t.box}, then(text, err)}
				}
				return all
			})
		}},
		t.next(),
	}
}

// LoginTells returns a function that shows the result of a login in an agent's tab, below its
// command.
func LoginTells(agent int64, command string) func(text string, err error) intent.Intent {
	return func(text string, err error) intent.Intent {
		if err != nil {
			return intent.Tell{Agent: agent, Command: command, Text: format.Sentence(err), Tone: transcript.Bad}
		}
		return intent.Tell{Agent: agent, Command: command, Text: text}
	}
}

// errAside is the error of a login whose question the human closed.
var errAside = errors.New("you were not logged in: you closed the question")

// talk passes questions and answers between a login and the human.
type talk struct {
	theme *themes.Theme
	name  string
	asks  chan tools.Question
	says  chan string
	over  chan struct{} // closed at the end of the login

	box dialog.Box // the open dialog
}

// ask opens a question and waits for its answer.
func (t *talk) ask(ctx context.Context, q tools.Question) (string, error) {
	select {
	case t.asks <- q:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case said := <-t.says:
		if said == "" {
			return "", errAside
		}
		return said, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// next waits for the next question and opens it.
func (t *talk) next() intent.Intent {
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		var q tools.Question
		select {
		case q = <-t.asks:
		case <-t.over:
			return nil
		case <-ctx.Done():
			return nil
		}
		return intent.Call(func() intent.Intent {
			d := dialog.Asked{Name: t.name, Text: q.Text}
			for _, o := range q.Options {
				d.Options = append(d.Options, dialog.Offer{Label: o.Label, Why: o.Why})
			}
			t.box = box{dialog.NewAsk(t.theme, d)}
			return intent.Open{Box: t.box, Decide: t.answered}
		})
	}}
}

// answered passes on the human's answer and waits for the next question.
func (t *talk) answered(d dialog.Decision) intent.Intent {
	said, _ := d.(dialog.Said)
	t.box = nil
	return intent.All{
		intent.Run{F: func(ctx context.Context) intent.Intent {
			select {
			case t.says <- said.Text:
			case <-t.over:
			case <-ctx.Done():
			}
			return nil
		}},
		t.next(),
	}
}

// box is the question as a dialog. Esc answers it with an empty text.
type box struct{ dialog.Question }

// Key returns an empty answer for Esc, else the question's decision.
func (b box) Key(k tea.KeyPressMsg) dialog.Decision {
	d := b.Question.Key(k)
	if _, gone := d.(dialog.Cancelled); gone {
		return dialog.Said{}
	}
	return d
}
