package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/roster"
	"fantail/tools"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

func runPush(a *App, in input) (tea.Cmd, error) {
	task := tools.Task{}
	keys := []string{"model", "name", "timeout", "deliver", "after", "resume"}
	opts, prompt, err := leadingOptions(in.rest, keys...)
	if err == nil {
		prompt, task.Resume, err = resumed(opts, prompt, keys)
	}
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	task.Model, task.Name, task.Deliver = opts["model"], opts["name"], opts["deliver"]
	if s, ok := opts["timeout"]; ok {
		if task.Timeout, err = seconds(s); err != nil {
			return nil, in.wrong("timeout=%s is no time (300, 90s, 5m)", s)
		}
	}
	if names, ok := opts["after"]; ok {
		if strings.HasSuffix(names, ",") {
			return nil, in.wrong("after=%s ends with a comma; the names stand without spaces", names)
		}
		task.After = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	}
	if task.Prompt = unquote(prompt); task.Prompt == "" {
		return nil, in.wrong("the prompt is missing")
	}
	return a.act(in.here, in.text, func() (string, error) {
		t, err := a.pool.Push(a.ctx, in.id, task)
		if err != nil {
			return "", err
		}
		return a.queued(t, "", "/run"), nil
	}), nil
}

func runRun(a *App, in input) (tea.Cmd, error) {
	var s tools.Start
	for _, word := range strings.Fields(in.rest) {
		n, err := strconv.Atoi(word)
		limit, timed := strings.CutPrefix(word, "timeout=")
		switch {
		case word == "--once":
			s.Once = true
		case timed:
			if s.Timeout, err = seconds(limit); err != nil {
				return nil, in.wrong("%s is no time (300, 90s, 5m)", word)
			}
		case err != nil || n < 1:
			return nil, in.wrong("%q is no number of agents", word)
		case s.Count != 0:
			return nil, in.wrong("one number is enough, not %d and %d", s.Count, n)
		default:
			s.Count = n
		}
	}
	return a.act(in.here, in.text, func() (string, error) {
		doubts := a.doubts(in.id)
		r, err := a.pool.Run(a.ctx, in.id, s)
		return warned(r.String(), doubts), err
	}), nil
}

func runQueue(a *App, in input) (tea.Cmd, error) {
	sub, rest := firstWord(in.rest)
	name, text := firstWord(rest)
	switch {
	case in.rest == "":
		return a.listQueue(in, 10), nil
	case in.rest == "--all":
		return a.listQueue(in, 0), nil
	case in.rest == "--panel":
		return a.queuePanel(in.id, in.t.Info.Name), nil
	case sub != "rm" && sub != "move" && sub != "edit":
		return nil, in.wrong("%q is not understood", in.rest)
	case name == "":
		return nil, in.wrong("the name of a queued task is missing")
	}
	switch sub {
	case "rm":
		if text != "" {
			return nil, in.wrong("rm takes one name")
		}
		return a.act(in.here, in.text, func() (string, error) {
			return "Removed " + name, a.pool.Remove(a.ctx, name)
		}), nil
	case "move":
		to, err := strconv.Atoi(text)
		if err != nil || to < 1 {
			return nil, in.wrong("%q is no position: 1 is the first", text)
		}
		return a.act(in.here, in.text, func() (string, error) {
			at, err := a.pool.Move(a.ctx, name, to)
			return fmt.Sprintf("%s is number %d of the queue now", name, at), err
		}), nil
	}
	if text == "" {
		return a.fetchPrompt(in, name), nil
	}
	return a.act(in.here, in.text, func() (string, error) {
		if err := a.pool.Edit(a.ctx, name, text); err != nil {
			return "", err
		}
		return a.edited(in.id, name), nil
	}), nil
}

func (a *App) listQueue(in input, most int) tea.Cmd {
	return a.act(in.here, in.text, func() (string, error) {
		q, err := a.pool.Queue(a.ctx, in.id)
		return roster.QueueText(q, a.o.Now(), most), err
	})
}

// fetchPrompt brings the prompt of a queued task into the box, as the command
// that changes it.
func (a *App) fetchPrompt(in input, name string) tea.Cmd {
	id := in.here.Info.ID
	return func() tea.Msg {
		text, err := a.pool.Typed(a.ctx, name)
		if err != nil {
			return done{agent: id, text: words.Sentence(err), tone: transcript.Bad, command: in.text}
		}
		return done{agent: id, back: "/queue edit " + name + " " + text}
	}
}

func runRetry(a *App, in input) (tea.Cmd, error) {
	name, hint := firstWord(in.rest)
	if name == "" {
		return nil, in.wrong("the name of a task that ended is missing")
	}
	return a.act(in.here, in.text, func() (string, error) {
		t, before, err := a.pool.Retry(a.ctx, in.id, name, unquote(hint))
		how := ""
		if before == agents.Completed {
			how = ", which had completed,"
		}
		if err != nil {
			return "", err
		}
		return a.queued(t, how+" again", "/run"), nil
	}), nil
}

// oneName is the single argument of a command.
func (c command) oneName(rest string) (string, error) {
	words := strings.Fields(rest)
	if len(words) != 1 {
		return "", c.wrong("one name is needed")
	}
	return words[0], nil
}

func runKill(a *App, in input) (tea.Cmd, error) {
	words := strings.Fields(in.rest)
	how := ""
	if n := len(words); n > 0 && (words[n-1] == "--cascade" || words[n-1] == "--orphan") {
		how, words = words[n-1], words[:n-1]
	}
	name, err := in.oneName(strings.Join(words, " "))
	if err != nil {
		return nil, err
	}
	queued := slices.Contains(a.tally.Names, name)
	kill := func(cascade bool) tea.Cmd {
		return a.start(in.here, in.text, func() (string, error) {
			text := "Ended " + name
			switch {
			case queued:
				text = "Removed " + name + ", which had not started"
			case cascade:
				text += " and all below it"
			}
			return text, a.pool.Kill(a.ctx, name, cascade)
		})
	}
	below := a.liveBelow(name)
	if how != "" || len(below) == 0 {
		return kill(how == "--cascade"), nil
	}
	a.killDialog(name, below, kill)
	return nil, nil
}

// killDialog asks whether an agent shall end, and if some live below it whether
// those shall.
func (a *App) killDialog(name string, below []string, kill func(cascade bool) tea.Cmd) {
	text := "What it has goes into the inbox of who dispatched it."
	options := []dialog.Option{{Key: "k", Label: "end it"}, {Key: "c", Label: "let it work"}}
	if n := len(below); n > 0 {
		live := " live"
		if n == 1 {
			live = " lives"
		}
		text = strings.Join(below, ", ") + live + " below it."
		options = []dialog.Option{
			{Key: "o", Label: "end only " + name + "; their results go to the nearest agent above it"},
			{Key: "a", Label: "end all of them"},
			{Key: "c", Label: "end none"},
		}
	}
	a.open(dialog.NewConfirm(a.theme, "End "+name+"?", text, options), func(d dialog.Decision) tea.Cmd {
		switch c, _ := d.(dialog.Confirmed); c.Choice {
		case "k", "o":
			return kill(false)
		case "a":
			return kill(true)
		}
		return nil
	})
}

// liveBelow names the agents below that one that live, as the last events told.
func (a *App) liveBelow(name string) []string {
	t := a.tabs.ByName(name)
	if t == nil || t.Info.State.Terminal() {
		return nil
	}
	in, names := map[int64]bool{t.Info.ID: true}, []string(nil)
	for grew := true; grew; {
		grew = false
		for _, b := range a.tabs.All {
			if in[b.Info.Parent] && !in[b.Info.ID] {
				in[b.Info.ID], grew = true, true
				if !b.Info.State.Terminal() {
					names = append(names, b.Info.Name)
				}
			}
		}
	}
	return names
}

// queueArguments are candidates for the arguments of the queue's commands.
func (a *App) queueArguments(name, line, word string) []string {
	words := strings.Fields(strings.TrimSuffix(line, word))
	switch {
	case name == "run":
		return []string{"--once", "timeout="}
	case name == "retry" && len(words) == 1:
		return a.tasks(true)
	case name == "queue" && len(words) == 1:
		return []string{"rm", "move", "edit", "--all", "--panel"}
	case name == "queue" && len(words) == 2 && !strings.HasPrefix(words[1], "--"):
		return a.tally.Names
	case name != "push" || !options(words[1:]):
		return nil // a word of a prompt or a hint is nothing to be completed
	case strings.HasPrefix(word, "after="):
		before := word[:strings.LastIndexAny(word, "=,")+1]
		var names []string
		for _, n := range append(slices.Clone(a.tally.Names), a.tasks(false)...) {
			names = append(names, before+n)
		}
		return names
	}
	return []string{"name=", "model=", "timeout=", "deliver=hold", "deliver=next", "deliver=wake", "after="}
}

// options reports whether all words are of the form key=value.
func options(words []string) bool {
	for _, w := range words {
		if !strings.Contains(w, "=") {
			return false
		}
	}
	return true
}

// tasks names the background agents, only those that ended if ended says so.
func (a *App) tasks(ended bool) []string {
	var names []string
	for _, t := range a.tabs.All {
		if t.Info.Kind.Ends() && (!ended || t.Info.State.Terminal()) {
			names = append(names, t.Info.Name)
		}
	}
	return names
}

func runDoctor(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return a.act(in.here, in.text, func() (string, error) {
		l, err := a.pool.Ledger(a.ctx)
		return l.String(), err
	}), nil
}
