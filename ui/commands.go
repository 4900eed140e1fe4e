package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
)

// command is one slash command. The table of them feeds the parser, the
// completion, the help and the README.
type command struct {
	name    string
	aliases []string
	args    string
	help    string
	run     func(a *App, in input) (tea.Cmd, error)
	alone   bool // it needs no workspace
}

var errOpening = errors.New("the workspace is still being opened; try again in a moment")

// input is what a command was given.
type input struct {
	t    *tab   // whom it acts for
	id   int64  // of that agent: what runs beside the screen must not look into a tab
	here *tab   // where it was typed and where its answer shows
	text string // the whole line
	rest string // behind the name
}

func (c command) usage() string {
	if c.args == "" {
		return "/" + c.name
	}
	return "/" + c.name + " " + c.args
}

// commands is that table.
func commands() []command {
	return []command{
		{"push", nil, "[model=] [name=] [timeout=] [deliver=] PROMPT", "queue a task for an agent of its own", runPush, false},
		{"run", nil, "[N]", "start the queue, at most N at once", runRun, false},
		{"queue", nil, "[--all]", "show what is queued, runs and has finished", runQueue, false},
		{"send", nil, "NAME [--priority=P] TEXT", "mail an agent", runSend, false},
		{"receive", nil, "[from=NAME] [--lifo]", "take one message, waiting for it", runReceive, false},
		{"check", nil, "[from=NAME] [--lifo]", "take all messages that are ready", runCheck, false},
		{"inbox", nil, "", "list the messages that wait", runInbox, false},
		{"messages", nil, "next [N] | show [N]", "start a turn with the most urgent message; only show", runMessages, false},
		{"kill", nil, "NAME", "end an agent now, or remove a queued task", runKill, false},
		{"close", nil, "[NAME | --all]", "close the tab of an agent that ended, or all such tabs", runClose, false},
		{"model", []string{"models"}, "[PROVIDER/NAME]", "show or change the model", runModel, false},
		{"mode", []string{"permissions"}, "[ask|accept-edits|plan|yolo]", "show or change what may happen without a question", runMode, false},
		{"theme", nil, "[NAME]", "change the colours", runTheme, true},
		{"new", []string{"clear", "reset"}, "", "begin a new conversation; the old one is kept", runNew, false},
		{"copy", nil, "", "copy the last answer", runCopy, false},
		{"help", nil, "", "this list", runHelp, true},
		{"quit", []string{"exit"}, "", "leave; asks when agents are at work", runQuit, true},
	}
}

// command runs a slash command. An error leaves the text in the box.
func (a *App) command(here *tab, text string) (tea.Cmd, error) {
	name, rest := firstWord(strings.TrimPrefix(text, "/"))
	c, ok := find(name)
	if !ok {
		if strings.Contains(name, "/") {
			return nil, fmt.Errorf("there is no command /%s; a space in front sends it as a prompt", name)
		}
		if near := nearest(name); near != "" {
			return nil, fmt.Errorf("there is no command /%s; did you mean /%s?", name, near)
		}
		return nil, fmt.Errorf("there is no command /%s; /help lists them", name)
	}
	agent := a.commandAgent()
	in := input{t: agent, id: agent.info.ID, here: here, text: text, rest: rest}
	if (a.pool == nil || in.id == 0) && !c.alone {
		return nil, errOpening
	}
	return c.run(a, in)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
		for _, x := range c.aliases {
			if x == name {
				return c, true
			}
		}
	}
	return command{}, false
}

// wrong is the error of a command that was given what it can't take.
func wrong(name, format string, args ...any) error {
	c, _ := find(name)
	return fmt.Errorf("/%s: %s; it is %s", name, fmt.Sprintf(format, args...), c.usage())
}

func runPush(a *App, in input) (tea.Cmd, error) {
	task := tools.Task{}
	opts, prompt, err := leadingOptions(in.rest, "model", "name", "timeout", "deliver")
	if err != nil {
		return nil, wrong("push", "%v", err)
	}
	task.Model, task.Name, task.Deliver = opts["model"], opts["name"], opts["deliver"]
	if s, ok := opts["timeout"]; ok {
		if task.Timeout, err = seconds(s); err != nil {
			return nil, wrong("push", "timeout=%s is no time (300, 90s, 5m)", s)
		}
	}
	if task.Prompt = unquote(prompt); task.Prompt == "" {
		return nil, wrong("push", "the prompt is missing")
	}
	return a.act(in.here, in.text, func() (string, error) {
		t, err := a.pool.Push(a.ctx, in.id, task)
		return fmt.Sprintf("Queued %s; /run starts it", t.Name), err
	}), nil
}

func runRun(a *App, in input) (tea.Cmd, error) {
	n := 0
	if in.rest != "" {
		var err error
		if n, err = strconv.Atoi(in.rest); err != nil || n < 1 {
			return nil, wrong("run", "%q is no number of agents", in.rest)
		}
	}
	return a.act(in.here, in.text, func() (string, error) {
		r, err := a.pool.Run(a.ctx, in.id, n)
		return r.String(), err
	}), nil
}

func runQueue(a *App, in input) (tea.Cmd, error) {
	most := 10
	switch in.rest {
	case "":
	case "--all":
		most = 0
	default:
		return nil, wrong("queue", "%q is not understood", in.rest)
	}
	return a.act(in.here, in.text, func() (string, error) {
		ts, err := a.pool.Queue(a.ctx, in.id)
		return agents.QueueText(ts, a.o.Now(), most), err
	}), nil
}

func runSend(a *App, in input) (tea.Cmd, error) {
	to, rest := firstWord(in.rest)
	pr := inbox.Normal
	if p, ok := strings.CutPrefix(rest, "--priority="); ok {
		word, text := firstWord(p)
		pr, rest = inbox.Priority(word), text
		if pr != inbox.Low && pr != inbox.Normal && pr != inbox.High && pr != inbox.Urgent {
			return nil, wrong("send", "the priority %q is unknown", word)
		}
	}
	if to == "" || rest == "" {
		return nil, wrong("send", "a name and a text are needed")
	}
	return a.act(in.here, in.text, func() (string, error) {
		id, err := a.pool.Send(a.ctx, in.id, to, unquote(rest), pr)
		return fmt.Sprintf("Message #%d is in the inbox of %s", id, to), err
	}), nil
}

// selection reads what /check and /receive take.
func selection(name, rest string) (inbox.Query, error) {
	var q inbox.Query
	for _, w := range strings.Fields(rest) {
		from, ok := strings.CutPrefix(w, "from=")
		switch {
		case ok && from != "":
			q.From = from
		case w == "--lifo":
			q.LIFO = true
		default:
			return q, wrong(name, "%q is not understood", w)
		}
	}
	return q, nil
}

func runCheck(a *App, in input) (tea.Cmd, error) {
	q, err := selection("check", in.rest)
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return a.act(in.here, in.text, func() (string, error) {
		ms, left, err := a.pool.Check(a.ctx, in.id, q)
		switch {
		case err != nil:
			return "", err
		case len(ms) == 0:
			return "No messages ready.", nil
		case left > 0:
			return strings.TrimPrefix(taken(len(ms), elsewhere)+fmt.Sprintf("\n%d more: /check again", left), "\n"), nil
		}
		return taken(len(ms), elsewhere), nil
	}), nil
}

func runReceive(a *App, in input) (tea.Cmd, error) {
	q, err := selection("receive", in.rest)
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return a.start(in.here, "", func() (string, error) {
		_, err := a.pool.Receive(a.ctx, in.id, q)
		return taken(1, elsewhere), err
	}), nil
}

// elsewhere names the agent whose tab shows what the command brings, if that is
// not the tab it was typed in.
func (in input) elsewhere() string {
	if in.here == in.t {
		return ""
	}
	return in.t.info.Name
}

// taken says that n messages were taken, if only the tab of the named agent
// shows them.
func taken(n int, elsewhere string) string {
	switch {
	case elsewhere == "":
		return ""
	case n == 1:
		return "1 message taken; the tab of " + elsewhere + " shows it"
	}
	return fmt.Sprintf("%d messages taken; the tab of %s shows them", n, elsewhere)
}

func runInbox(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, wrong("inbox", "%q is not understood", in.rest)
	}
	return a.act(in.here, in.text, func() (string, error) {
		ms, err := a.pool.Inbox(a.ctx, in.id)
		return inbox.Listing(ms, a.o.Now()), err
	}), nil
}

func runMessages(a *App, in input) (tea.Cmd, error) {
	words := strings.Fields(in.rest)
	if len(words) == 0 || len(words) > 2 {
		return nil, wrong("messages", "say which")
	}
	id := int64(0)
	if len(words) == 2 {
		var err error
		if id, err = strconv.ParseInt(strings.TrimPrefix(words[1], "#"), 10, 64); err != nil || id < 1 {
			return nil, wrong("messages", "%q is no number of a message", words[1])
		}
	}
	agent := in.id
	switch words[0] {
	case "next":
		if working(in.t.info.State) {
			a.say("it is taken when this turn ends")
		}
		return a.start(in.here, in.text, func() (string, error) {
			_, ok, err := a.pool.Next(a.ctx, agent, id)
			if err == nil && !ok {
				return "No messages ready.", nil
			}
			return "", err
		}), nil
	case "show":
		return a.act(in.here, in.text, func() (string, error) {
			if id == 0 {
				ms, err := a.pool.Inbox(a.ctx, agent)
				return inbox.Listing(ms, a.o.Now()), err
			}
			m, ok, err := a.pool.Message(a.ctx, id)
			if err == nil && !ok {
				err = fmt.Errorf("there is no message #%d", id)
			}
			return messageText(m, a.o.Now()), err
		}), nil
	}
	return nil, wrong("messages", "%q is not understood", words[0])
}

// messageText is a message as /messages show prints it, whole.
func messageText(m inbox.Message, now time.Time) string {
	state := "pending"
	if !m.Taken.IsZero() {
		state = "taken by " + m.TakenBy
	}
	s := fmt.Sprintf("Message #%d from %s, %s ago, %s, %s", m.ID, m.From, inbox.Age(now.Sub(m.Created)), m.Kind, state)
	if m.Outcome != "" {
		s += ", " + m.Outcome
	}
	for _, part := range []string{m.Subject, m.Error, m.Body, m.Partial} {
		if part != "" {
			s += "\n\n" + part
		}
	}
	return s
}

// oneName is the single argument of a command.
func oneName(name, rest string) (string, error) {
	words := strings.Fields(rest)
	if len(words) != 1 {
		return "", wrong(name, "one name is needed")
	}
	return words[0], nil
}

func runKill(a *App, in input) (tea.Cmd, error) {
	name, err := oneName("kill", in.rest)
	if err != nil {
		return nil, err
	}
	return a.start(in.here, in.text, func() (string, error) {
		return "Ended " + name, a.pool.Kill(a.ctx, name)
	}), nil
}

func runClose(a *App, in input) (tea.Cmd, error) {
	names := []string{in.rest}
	switch in.rest {
	case "":
		names[0] = in.here.info.Name
	case "--all":
		names = nil
		for _, t := range a.tabs.all {
			if t.info.State.Terminal() {
				names = append(names, t.info.Name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no agent has ended")
		}
	}
	return a.act(in.t, in.text, func() (string, error) {
		for _, name := range names {
			if err := a.pool.CloseTab(a.ctx, name); err != nil {
				return "", err
			}
		}
		return "", nil
	}), nil
}

func runModel(a *App, in input) (tea.Cmd, error) {
	set := func(name string) tea.Cmd {
		return a.act(in.here, in.text, func() (string, error) {
			return "The model is " + name, a.pool.SetModel(a.ctx, in.id, name)
		})
	}
	if in.rest != "" {
		return set(in.rest), nil
	}
	var items []dialog.Item
	if a.o.Models != nil {
		for _, m := range a.o.Models() {
			items = append(items, dialog.Item{Value: m, Label: m, Chosen: m == in.t.info.Model})
		}
	}
	if len(items) == 0 {
		in.here.view.Local("The model is "+in.t.info.Model, transcript.Plain)
		return nil, nil
	}
	a.open(dialog.NewPicker(a.theme, "Model (now "+in.t.info.Model+")", items, true), func(d dialog.Decision) tea.Cmd {
		if p, ok := d.(dialog.Picked); ok {
			return set(p.Value)
		}
		return nil
	})
	return nil, nil
}

func runMode(a *App, in input) (tea.Cmd, error) {
	if in.rest == "" {
		var items []dialog.Item
		for _, m := range modes {
			items = append(items, dialog.Item{Value: string(m.mode), Label: string(m.mode), Help: m.help, Chosen: m.mode == a.tally.Mode})
		}
		a.open(dialog.NewPicker(a.theme, "Mode (now "+string(a.tally.Mode)+")", items, false), func(d dialog.Decision) tea.Cmd {
			if p, ok := d.(dialog.Picked); ok {
				return a.setMode(permit.Mode(p.Value))
			}
			return nil
		})
		return nil, nil
	}
	m, err := permit.ParseMode(in.rest)
	if err != nil {
		return nil, err
	}
	return a.setMode(m), nil
}

func runTheme(a *App, in input) (tea.Cmd, error) {
	set := func(name string) error {
		t, err := themes.Load(name, a.look.noColor)
		if err == nil {
			a.chosen = true
			a.setTheme(t)
		}
		return err
	}
	if in.rest != "" {
		return nil, set(in.rest)
	}
	var items []dialog.Item
	for _, n := range themes.Names() {
		items = append(items, dialog.Item{Value: n, Label: n, Chosen: n == a.theme.Name})
	}
	a.open(dialog.NewPicker(a.theme, "Theme (now "+a.theme.Name+")", items, false), func(d dialog.Decision) tea.Cmd {
		if p, ok := d.(dialog.Picked); ok {
			if err := set(p.Value); err != nil {
				a.say(sentence(err))
			}
		}
		return nil
	})
	return nil, nil
}

func runNew(a *App, in input) (tea.Cmd, error) {
	return a.start(in.here, in.text, func() (string, error) { return "", a.pool.Clear(a.ctx, in.id) }), nil
}

func runCopy(a *App, in input) (tea.Cmd, error) { return a.copy(in.here.view.LastAnswer()), nil }

func runHelp(a *App, _ input) (tea.Cmd, error) {
	a.help()
	return nil, nil
}

func runQuit(a *App, _ input) (tea.Cmd, error) { return a.quit(), nil }

// complete yields the candidates for what is being typed. It only looks at
// what is in memory.
func (a *App) complete(trigger, line, word string) []composer.Item {
	switch trigger {
	case "/":
		var items []composer.Item
		for _, c := range commands() {
			items = append(items, composer.Item{Insert: c.name, Label: c.usage(), Help: c.help})
		}
		return items
	case "@":
		if a.files == nil {
			return nil
		}
		var items []composer.Item
		for _, p := range a.files.Find(word, 500) {
			items = append(items, composer.Item{Insert: p})
		}
		return items
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	return a.arguments(name)
}

// arguments are candidates for a command's argument.
func (a *App) arguments(name string) []composer.Item {
	var items []composer.Item
	add := func(s string) { items = append(items, composer.Item{Insert: s}) }
	switch name {
	case "kill", "send", "close":
		for _, t := range a.tabs.all {
			if ended := t.info.State.Terminal(); ended == (name == "close") && (name == "send" || t.info.Kind != agents.Main) {
				add(t.info.Name)
			}
		}
		switch {
		case name == "close" && len(items) > 1:
			add("--all")
		case name == "send":
			for _, p := range []inbox.Priority{inbox.Low, inbox.High, inbox.Urgent} {
				add("--priority=" + string(p))
			}
		}
	case "check", "receive":
		for _, t := range a.tabs.all {
			if t.info.Kind == agents.Sub {
				add("from=" + t.info.Name)
			}
		}
		add("--lifo")
	case "push":
		for _, s := range []string{"name=", "model=", "timeout=", "deliver=hold", "deliver=next", "deliver=wake"} {
			add(s)
		}
	case "messages":
		add("next")
		add("show")
	case "theme":
		for _, n := range themes.Names() {
			add(n)
		}
	case "mode":
		for _, m := range modes {
			items = append(items, composer.Item{Insert: string(m.mode), Help: m.help})
		}
	case "model":
		if a.o.Models != nil {
			for _, m := range a.o.Models() {
				add(m)
			}
		}
	}
	return items
}
