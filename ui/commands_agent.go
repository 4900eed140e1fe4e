package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
)

// runAgent is /agent: it opens, lists, renames and closes helpers, and goes to
// any agent's tab.
func runAgent(a *App, in input) (tea.Cmd, error) {
	word, rest := firstWord(in.rest)
	words := strings.Fields(rest)
	switch word {
	case "", "list":
		if rest != "" {
			return nil, wrong("agent", "list takes nothing more")
		}
		in.here.view.Local(agentList(a.tabs.all, a.o.Now()), transcript.Plain)
		return nil, nil
	case "new":
		return a.newHelper(in, rest)
	case "rename":
		return a.renameHelper(in, words)
	case "close":
		if len(words) > 1 {
			return nil, wrong("agent", "one name is closed at a time")
		}
		name := in.t.info.Name
		if len(words) == 1 {
			name = words[0]
		}
		return a.closeHelper(in.here, in.text, name, false), nil
	}
	if rest != "" {
		return nil, wrong("agent", "%q is not understood", in.rest)
	}
	t := a.tabs.byName(word)
	if t == nil {
		return nil, fmt.Errorf("there is no agent %q; /agent lists them, /agent new %s opens a helper", word, word)
	}
	a.tabs.to(t)
	return a.shown(), nil
}

func (a *App) newHelper(in input, rest string) (tea.Cmd, error) {
	var name, model string
	for _, w := range strings.Fields(rest) {
		m, ok := strings.CutPrefix(w, "model=")
		switch {
		case ok && m != "" && model == "":
			model = m
		case !ok && name == "":
			name = w
		default:
			return nil, wrong("agent", "%q is not understood", w)
		}
	}
	return a.then(in.here, in.text, func() (tea.Msg, error) {
		i, err := a.pool.NewHelper(a.ctx, name, model)
		return goes{i.ID}, err
	}), nil
}

func (a *App) renameHelper(in input, words []string) (tea.Cmd, error) {
	old, to := in.t.info.Name, ""
	switch len(words) {
	case 1:
		to = words[0]
	case 2:
		old, to = words[0], words[1]
	default:
		return nil, wrong("agent", "rename takes the new name, or the old and the new one")
	}
	return a.act(in.here, in.text, func() (string, error) {
		return fmt.Sprintf("%s is now %s. Mail it sent before keeps its name of then: from=%s takes it.", old, to, old),
			a.pool.RenameHelper(a.ctx, old, to)
	}), nil
}

// closeHelper closes a helper; if it is not finished it asks first.
func (a *App) closeHelper(here *tab, back, name string, force bool) tea.Cmd {
	return a.then(here, back, func() (tea.Msg, error) {
		err := a.pool.CloseHelper(a.ctx, name, force)
		u := (*agents.Unfinished)(nil)
		if !errors.As(err, &u) {
			return done{}, err
		}
		return offered{func() {
			text := u.Error() + ". Its open tasks pass to main; its transcript and its mail are kept."
			a.open(dialog.NewConfirm(a.theme, "Close "+name+"?", text, []dialog.Option{
				{Key: "y", Label: "close it"}, {Key: "n", Label: "leave it open"},
			}), func(d dialog.Decision) tea.Cmd {
				if c, _ := d.(dialog.Confirmed); c.Choice == "y" {
					return a.closeHelper(here, "", name, true)
				}
				return nil
			})
		}}, nil
	})
}

// agentList is what /agent list prints: each agent with its kind and state, and
// below it whose it is and since when.
func agentList(all []*tab, now time.Time) string {
	name := map[int64]string{}
	for _, t := range all {
		name[t.info.ID] = t.info.Name
	}
	var b strings.Builder
	for _, t := range all {
		i := t.info
		kind := map[agents.Kind]string{agents.Sub: "sub-agent"}[i.Kind]
		if kind == "" {
			kind = string(i.Kind)
		}
		state := string(i.State)
		if i.State != "" {
			state = strings.ToUpper(state[:1]) + state[1:]
		}
		fmt.Fprintf(&b, "• %s [%s] - %s", i.Name, kind, state)
		if i.Pending > 0 {
			fmt.Fprintf(&b, " · %d pending", i.Pending)
		}
		b.WriteString("\n  ")
		var facts []string
		if parent := name[i.Parent]; i.Kind == agents.Sub && parent != "" {
			facts = append(facts, "Parent: "+parent)
		}
		switch {
		case !i.Ended.IsZero():
			facts = append(facts, "Ended: "+inbox.Age(now.Sub(i.Ended))+" ago")
		case i.Kind == agents.Sub:
			facts = append(facts, "Started: "+inbox.Age(now.Sub(i.Started))+" ago")
		default:
			facts = append(facts, "Opened: "+inbox.Age(now.Sub(i.Created))+" ago")
		}
		b.WriteString(strings.Join(append(facts, "Model: "+i.Model), " | ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
