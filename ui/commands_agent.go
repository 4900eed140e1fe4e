package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// runAgent is /agent: it opens, lists, renames and closes helpers, and goes to
// any agent's tab.
func runAgent(a *App, in input) (tea.Cmd, error) {
	word, rest := firstWord(in.rest)
	words := strings.Fields(rest)
	switch word {
	case "", "list":
		if rest != "" {
			return nil, in.wrong("list takes nothing more")
		}
		a.answer(in.here, in.text, agentList(a.tabs.All, a.o.Now()), transcript.Plain)
		return nil, nil
	case "new":
		return a.newHelper(in, rest)
	case "config":
		return a.configAgent(in, words)
	case "rename":
		return a.renameHelper(in, words)
	case "close":
		if len(words) > 1 {
			return nil, in.wrong("one name is closed at a time")
		}
		name := in.t.Info.Name
		if len(words) == 1 {
			name = words[0]
		}
		return a.closeHelper(in.here, in.text, name, false), nil
	}
	if rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	t := a.tabs.ByName(word)
	if t == nil {
		return nil, fmt.Errorf("there is no agent %q; /agent lists them, /agent new %s opens a helper", word, word)
	}
	a.tabs.To(t)
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
			return nil, in.wrong("%q is not understood", w)
		}
	}
	return a.then(in.here, in.text, func() (tea.Msg, error) {
		i, err := a.pool.NewHelper(a.ctx, name, model)
		return goes{i.ID}, err
	}), nil
}

func (a *App) renameHelper(in input, words []string) (tea.Cmd, error) {
	old, to := in.t.Info.Name, ""
	switch len(words) {
	case 1:
		to = words[0]
	case 2:
		old, to = words[0], words[1]
	default:
		return nil, in.wrong("rename takes the new name, or the old and the new one")
	}
	return a.act(in.here, in.text, func() (string, error) {
		return fmt.Sprintf("%s is now %s. Mail it sent before keeps its name of then: from=%s takes it.", old, to, old),
			a.pool.RenameHelper(a.ctx, old, to)
	}), nil
}

// closeHelper closes a helper; if it is not finished it asks first.
func (a *App) closeHelper(here *tabs.Tab, back, name string, force bool) tea.Cmd {
	return a.then(here, back, func() (tea.Msg, error) {
		err := a.pool.CloseHelper(a.ctx, name, force)
		u := (*agents.Unfinished)(nil)
		if !errors.As(err, &u) {
			return done{}, err
		}
		return offered{"the question about " + name, func() {
			text := u.Error() + ". Its open tasks pass to main; its transcript and its mail are kept, and /resume " + name + " opens it again."
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
func agentList(all []*tabs.Tab, now time.Time) string {
	name := map[int64]string{}
	for _, t := range all {
		name[t.Info.ID] = t.Info.Name
	}
	var b strings.Builder
	for _, t := range all {
		i := t.Info
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
		if parent := name[i.Parent]; i.Kind.Ends() && parent != "" {
			facts = append(facts, "Parent: "+parent)
		}
		if i.Handles != 0 {
			facts = append(facts, words.Handles(i))
		}
		switch {
		case !i.Ended.IsZero():
			facts = append(facts, "Ended: "+inbox.Age(now.Sub(i.Ended))+" ago")
		case i.Kind.Ends():
			facts = append(facts, "Started: "+inbox.Age(now.Sub(i.Started))+" ago")
		default:
			facts = append(facts, "Opened: "+inbox.Age(now.Sub(i.Created))+" ago")
		}
		b.WriteString(strings.Join(append(facts, "Model: "+i.Model), " | ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostPast is how many turns /fork lists.
const mostPast = 200

// runFork is /fork: without a turn it lists those there are. It is about the tab's
// own conversation, a background agent's too: its branch can be talked to.
func runFork(a *App, in input) (tea.Cmd, error) {
	number, name := 0, ""
	for _, w := range strings.Fields(in.rest) {
		n, ok := strings.CutPrefix(w, "name=")
		turn, err := strconv.Atoi(w)
		switch {
		case ok && n != "" && name == "":
			name = n
		case err == nil && turn > 0 && number == 0:
			number = turn
		default:
			return nil, in.wrong("%q is not understood", w)
		}
	}
	of := in.here.Info
	switch {
	case of.ID == 0:
		return nil, errOpening
	case of.Kind == agents.Fork:
		return nil, fmt.Errorf("a fork is not forked: %s handles one message and closes; /fork belongs into the tab of an agent you talk to", of.Name)
	}
	fork := func(back string, number int) tea.Cmd {
		return a.then(in.here, back, func() (tea.Msg, error) {
			i, err := a.pool.Branch(a.ctx, of.ID, number, name)
			return goes{i.ID}, err
		})
	}
	if number > 0 {
		return fork(in.text, number), nil
	}
	return a.then(in.here, in.text, func() (tea.Msg, error) {
		past, err := a.pool.Turns(a.ctx, of.ID, mostPast)
		if err == nil && len(past) == 0 {
			err = fmt.Errorf("no turn of %s has ended yet: there is nothing to branch from", of.Name)
		}
		if err != nil {
			return nil, err
		}
		return offered{"the list of turns", func() {
			a.open(dialog.NewPicker(a.theme, "Branch from "+of.Name+" behind turn", pastItems(past, a.o.Now()), false), func(d dialog.Decision) tea.Cmd {
				if p, ok := d.(dialog.Picked); ok {
					n, _ := strconv.Atoi(p.Value)
					return fork("", n)
				}
				return nil
			})
		}}, nil
	}), nil
}

// pastItems list turns, the newest first: that is the one mostly meant.
func pastItems(past []agents.PastTurn, now time.Time) []dialog.Item {
	var items []dialog.Item
	for _, t := range slices.Backward(past) {
		help := inbox.Age(now.Sub(t.Ended)) + " ago"
		if t.Outcome != agents.Completed {
			help = strings.ReplaceAll(string(t.Outcome), "_", " ") + " " + help
		}
		n := strconv.Itoa(t.Number)
		items = append(items, dialog.Item{Value: n, Label: n + "  " + inbox.Label(t.Prompt), Help: help})
	}
	return items
}

// agentArguments are candidates for what follows those words of /agent.
func (a *App) agentArguments(before []string) (items []composer.Item) {
	names := func(kind agents.Kind, help string) {
		for _, t := range a.tabs.All {
			if kind == "" || t.Info.Kind == kind {
				items = append(items, composer.Item{Insert: t.Info.Name, Help: help})
			}
		}
	}
	switch {
	case len(before) == 0:
		items = []composer.Item{
			{Insert: "list", Help: "list all agents"},
			{Insert: "new", Help: "open a helper"},
			{Insert: "rename", Help: "give a helper another name"},
			{Insert: "close", Help: "close a helper"},
			{Insert: "config", Help: "how its mail is handled"},
		}
		names("", "go to its tab")
	case before[0] == "new":
		items = []composer.Item{{Insert: "model=", Help: "main's, if it is left away"}}
	case before[0] == "config" && len(before) == 1:
		items = []composer.Item{{Insert: "message-handling", Help: "what becomes of mail that arrives"}}
	case before[0] == "config" && len(before) == 2:
		items = modeItems()
	case before[0] == "config" && slices.Contains(before, string(inbox.Queue)):
		items = []composer.Item{pauseItem}
	case len(before) == 1 && (before[0] == "close" || before[0] == "rename"):
		names(agents.Helper, "")
	}
	return items
}
