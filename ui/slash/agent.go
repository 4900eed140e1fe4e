package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
)

// runAgent runs /agent: it opens, lists, renames and closes helpers, and goes to any agent's tab.
func runAgent(in input) (intent.Intent, error) {
	word, rest := format.FirstWord(in.rest)
	args := strings.Fields(rest)
	switch word {
	case "", "list":
		if rest != "" {
			return nil, in.wrong("list takes no arguments")
		}
		return in.tell(agentList(in.Tabs.All, in.Now())), nil
	case "new":
		return in.newHelper(rest)
	case "config":
		return in.configAgent(args)
	case "rename":
		return in.renameHelper(args)
	case "close":
		if len(args) > 1 {
			return nil, in.wrong("close takes one name")
		}
		name := in.t.Info.Name
		if len(args) == 1 {
			name = args[0]
		}
		return in.closeHelper(name), nil
	}
	if rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	t := in.Tabs.ByName(word)
	if t == nil {
		return nil, fmt.Errorf("there is no agent %q. /agent to list them, /agent new %s to open a helper", word, word)
	}
	return intent.Go{Agent: t.Info.ID}, nil
}

func (in input) newHelper(rest string) (intent.Intent, error) {
	var name, model string
	for _, w := range strings.Fields(rest) {
		m, ok := strings.CutPrefix(w, "model=")
		if vendor, is := strings.CutPrefix(w, "agent="); is && vendor != "" {
			m, ok = tools.VendorModel(vendor), true
		}
		switch {
		case ok && m != "" && model == "":
			model = m
		case !ok && name == "" && !strings.HasPrefix(w, "agent="):
			name = w
		default:
			return nil, in.wrong("unexpected %q", w)
		}
	}
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		i, err := in.Pool.NewHelper(ctx, name, model)
		return intent.Go{Agent: i.ID}, err
	}), nil
}

func (in input) renameHelper(args []string) (intent.Intent, error) {
	old, to := in.t.Info.Name, ""
	switch len(args) {
	case 1:
		to = args[0]
	case 2:
		old, to = args[0], args[1]
	default:
		return nil, in.wrong("rename takes the new name, or the old and the new one")
	}
	return in.act(func(ctx context.Context) (string, error) {
		return fmt.Sprintf("%s is now %s. Its earlier mail keeps the old name (from=%s).", old, to, old),
			in.Pool.RenameHelper(ctx, old, to)
	}), nil
}

// closeHelper closes a helper. If the helper has unfinished work, it asks first.
func (in input) closeHelper(name string) intent.Intent {
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		err := in.Pool.CloseHelper(ctx, name, false)
		u := (*agents.Unfinished)(nil)
		if !errors.As(err, &u) {
			return nil, err
		}
		text := u.Error() + ". Its open tasks pass to main. Its transcript and mail are kept. /resume " + name +
			" to reopen it."
		return intent.Open{
			Box: dialog.NewConfirm(in.Theme, "Close "+name+"?", text, []dialog.Option{
				{Key: "y", Label: "close it"}, {Key: "n", Label: "leave it open"},
			}),
			Decide: func(d dialog.Decision) intent.Intent {
				if c, _ := d.(dialog.Confirmed); c.Choice == "y" {
					return in.closeAnyway(name)
				}
				return nil
			},
			What: "the question about " + name,
		}, nil
	})
}

// closeAnyway closes a helper that has unfinished work.
func (in input) closeAnyway(name string) intent.Intent {
	return intent.Do{Agent: in.here.Info.ID, F: func(ctx context.Context) (intent.Intent, error) {
		return nil, in.Pool.CloseHelper(ctx, name, true)
	}}
}

// agentList returns the output of /agent list: each agent with its kind and state, then its parent
// and age.
func agentList(all []*tabs.Tab, now time.Time) string {
	name := map[int64]string{}
	for _, t := range all {
		name[t.Info.ID] = t.Info.Name
	}
	var b strings.Builder
	for _, t := range all {
		i := t.Info
		state := string(i.State)
		if format.Awaits(i) {
			state = format.Idle(i, now)
		}
		if state != "" {
			state = strings.ToUpper(state[:1]) + state[1:]
		}
		fmt.Fprintf(&b, "• %s [%s] - %s", i.Name, i.Kind.Nature().Word, state)
		if waits := format.Waits(i.Pending, i.Asks); waits != "" {
			b.WriteString(" · " + waits)
		}
		b.WriteString("\n  ")
		var facts []string
		if parent := name[i.Parent]; i.Kind.Ends() && parent != "" {
			facts = append(facts, "Parent: "+parent)
		}
		if i.Handles != 0 {
			facts = append(facts, format.Handles(i))
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

// maxPast limits the turns that /fork lists.
const maxPast = 200

// runFork runs /fork. Without a turn it lists the turns to choose from. It branches the
// conversation of the tab it was typed in, even a background agent's: the human can talk to the
// branch.
func runFork(in input) (intent.Intent, error) {
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
			return nil, in.wrong("unexpected %q", w)
		}
	}
	of := in.here.Info
	switch {
	case of.ID == 0:
		return nil, panel.ErrOpening
	case !of.Kind.Nature().Forks:
		return nil, fmt.Errorf("you can't fork a fork: %s handles one message and closes. Use /fork in the tab of an agent you talk to", of.Name)
	}
	fork := func(command string, number int) intent.Intent {
		return intent.Do{Agent: of.ID, Command: command, F: func(ctx context.Context) (intent.Intent, error) {
			i, err := in.Pool.Branch(ctx, of.ID, number, name)
			return intent.Go{Agent: i.ID}, err
		}}
	}
	if number > 0 {
		return fork(in.text, number), nil
	}
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		past, err := in.Pool.Records.Turns(ctx, of.ID, maxPast)
		if err == nil && len(past) == 0 {
			err = fmt.Errorf("no turn of %s has ended yet, so there is nothing to branch from", of.Name)
		}
		if err != nil {
			return nil, err
		}
		box := dialog.NewPicker(in.Theme, "Branch from "+of.Name+" after turn", pastItems(past, in.Now()))
		list := picked(box, func(number string) intent.Intent {
			n, _ := strconv.Atoi(number)
			return fork("", n)
		})
		list.What = "the list of turns"
		return list, nil
	}), nil
}

// pastItems lists turns, newest first: usually the newest is meant.
func pastItems(past []agents.PastTurn, now time.Time) []dialog.Item {
	var items []dialog.Item
	for _, t := range slices.Backward(past) {
		help := inbox.Age(now.Sub(t.Ended)) + " ago"
		if t.Outcome != history.Completed {
			help = strings.ReplaceAll(string(t.Outcome), "_", " ") + " " + help
		}
		n := strconv.Itoa(t.Number)
		items = append(items, dialog.Item{Value: n, Label: n + "  " + inbox.Label(t.Prompt), Help: help})
	}
	return items
}

// agentArguments completes the arguments of /agent.
func agentArguments(e Options, before []string, _ string) []composer.Item {
	switch {
	case len(before) == 0:
		is := []composer.Item{
			{Insert: "list", Help: "list all agents"},
			{Insert: "new", Help: "open a helper"},
			{Insert: "rename", Help: "give a helper another name"},
			{Insert: "close", Help: "close a helper"},
			{Insert: "config", Help: "how its mail is handled"},
		}
		for _, t := range e.Tabs.All {
			is = append(is, composer.Item{Insert: t.Info.Name, Help: "go to its tab"})
		}
		return is
	case before[0] == "new":
		return append([]composer.Item{{Insert: "model=", Help: "main's, if it is left away"}}, e.Custom.Agents()...)
	case before[0] == "config" && len(before) == 1:
		return []composer.Item{{Insert: "message-handling", Help: "how arriving mail is handled"}}
	case before[0] == "config" && len(before) == 2:
		return modeItems()
	case before[0] == "config" && slices.Contains(before, string(policy.Queue)):
		return []composer.Item{pauseItem}
	case len(before) == 1 && (before[0] == "close" || before[0] == "rename"):
		return items(e.names(func(i event.Info) bool { return i.Kind.Nature().Opened })...)
	}
	return nil
}
