package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/composer"
	"fantail/ui/tabs"
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

// input is a command and what it was given.
type input struct {
	command

	t    *tabs.Tab // whom it acts for
	id   int64     // of that agent: what runs beside the screen must not look into a tab
	here *tabs.Tab // where it was typed and where its answer shows
	text string    // the whole line
	rest string    // behind the name
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
		{"push", nil, "[model=] [name=] [timeout=] [deliver=] [after=A,B] [resume] PROMPT | !CMD", "queue a task for an agent of its own", runPush, false},
		{"run", nil, "[N] [--once] [timeout=]", "start the queue, at most N at once; --once: only N", runRun, false},
		{"queue", nil, "[--all | --panel] | rm NAME | move NAME N | edit NAME", "show what is queued, runs and has finished; change what is queued", runQueue, false},
		{"retry", nil, "NAME [HINT]", "push a task that ended again, with how it ended and a hint", runRetry, false},
		{"send", nil, "NAME[,NAME…] [--priority=P] [--tag=T] TEXT", "mail an agent, or several", runSend, false},
		{"receive", nil, "[from=NAME] [--lifo] [timeout=] [--wait] [--show-only]", "take one message, waiting for it; --show-only: the model does not read it", runReceive, false},
		{"check", nil, "[from=NAME] [--lifo] [--one] [--peek | --show-only]", "take all messages that are ready; --peek: take none; --show-only: the model does not read them", runCheck, false},
		{"inbox", nil, "[NAME] [--list | --all [before=N]] | undo | archive N… | snooze N WHEN | restore N… | pin N [off] | archived | snoozed | search WORDS", "the inbox of this agent or another on the whole screen; list what waits, or all; put those taken last back; put messages away and bring them back; find them", runInbox, false},
		{"messages", nil, "next [N] [--fifo] | wait | show [N] | why N | mute N [off] | mode [MODE] | from NAME MODE | quiet [until 14:00 | for 2h] | resume", "a turn with the most urgent message, or one turn each; show one, say why it waits; hold its thread silently; how mail is handled", runMessages, false},
		{"reply", nil, "N TEXT", "answer a message in the name of the agent that got it", runReply, false},
		{"answer", nil, "[N | NAME [yes|session|no [REASON] | OPTION | TEXT]]", "answer what an agent asks, by its message or its name; alone: show the oldest question", runAnswer, false},
		{"fire", nil, "[#N…] [TEXT]", "start one turn with all messages that wait, or with these", runFire, false},
		{"memory", nil, "[list | show NAME [VERSION] | edit NAME | log NAME | rm NAME]", "the workspace's documents, which #mem-NAME brings into a conversation", runMemory, false},
		{"kill", nil, "NAME [--cascade | --orphan]", "end an agent now, with or without those below it, or remove a queued task", runKill, false},
		{"agent", nil, "[list | NAME | new [NAME] [model=] | rename [OLD] NEW | close [NAME] | config message-handling MODE [--idle-after=30s]]", "list agents, go to one; open, rename, close a helper; how its mail is handled", runAgent, false},
		{"resume", nil, "NAME [PROMPT]", "let an ended agent go on; reopen a closed tab or helper", runResume, false},
		{"fork", []string{"branch"}, "[TURN] [name=]", "go on behind an earlier turn in a branch of the conversation, a helper", runFork, false},
		{"agents", nil, "", "the overview of all agents: open, peek, wrap up, kill, close", runAgents, false},
		{"view", nil, "prompt|transcript|output|info", "show another view of this tab", runView, false},
		{"why", nil, "[NAME]", "what an agent does or waits for right now", runWhy, false},
		{"wrapup", nil, "NAME", "ask an agent to finish with what it has", runWrapUp, false},
		{"close", nil, "[NAME | --finished]", "close the tab of an agent that ended, or all such tabs", runClose, false},
		{"doctor", nil, "", "balance the books: what became of every task and message", runDoctor, false},
		{"model", []string{"models"}, "[PROVIDER/NAME]", "show or change the model", runModel, false},
		{"mode", []string{"permissions"}, "[ask|accept-edits|plan|yolo]", "show or change what may happen without a question", runMode, false},
		{"theme", nil, "[NAME]", "change the colours", runTheme, true},
		{"new", []string{"clear", "reset"}, "", "begin a new conversation; the old one is kept", runNew, false},
		{"compact", []string{"summarize"}, "[HINT]", "have the model summarise the conversation; the rest is kept and no longer sent", runCompact, false},
		{"context", nil, "", "show what the conversation consists of and how full the model's window is", runContext, false},
		{"copy", nil, "", "copy the last answer", runCopy, false},
		{"help", nil, "", "this list", runHelp, true},
		{"quit", []string{"exit"}, "", "leave; asks when agents are at work", runQuit, true},
	}
}

// command runs a slash command.
func (a *App) command(here *tabs.Tab, text string) (tea.Cmd, error) {
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
	agent := a.tabs.Acting()
	in := input{command: c, t: agent, id: agent.Info.ID, here: here, text: text, rest: rest}
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
func (c command) wrong(format string, args ...any) error {
	return fmt.Errorf("/%s: %s; it is %s", c.name, fmt.Sprintf(format, args...), c.usage())
}

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
	if trigger == "#" {
		return a.mention(trigger, line, word)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	return a.arguments(name, line, word)
}

// arguments are candidates for a command's argument.
func (a *App) arguments(name, line, word string) []composer.Item {
	var items []composer.Item
	add := func(s string) { items = append(items, composer.Item{Insert: s}) }
	switch name {
	case "why":
		for _, t := range a.tabs.Open {
			add(t.Info.Name)
		}
	case "view":
		for _, p := range tabs.Order {
			add(strings.ToLower(p.String()))
		}
	case "kill", "send", "close", "resume", "wrapup":
		if words := strings.Fields(strings.TrimSuffix(line, word)); name != "kill" && len(words) > 1 && !strings.HasPrefix(words[len(words)-1], "--") {
			return nil // what follows the name is text
		}
		for _, t := range a.tabs.All {
			if ended := t.Info.State.Terminal(); ended == (name == "close" || name == "resume") && (name == "send" || name == "wrapup" || t.Info.Kind != agents.Main) {
				add(t.Info.Name)
			}
		}
		switch {
		case name == "kill":
			for _, n := range append(slices.Clone(a.tally.Names), "--cascade", "--orphan") {
				add(n)
			}
		case name == "close" && len(items) > 1:
			add("--finished")
		case name == "send":
			for _, p := range []inbox.Priority{inbox.Low, inbox.High, inbox.Urgent} {
				add("--priority=" + string(p))
			}
			add("--tag=")
		}
	case "check", "receive":
		for _, t := range a.tabs.All {
			if t != a.tabs.Acting() {
				add("from=" + t.Info.Name)
			}
		}
		add("--lifo")
		more := []string{"--show-only", "--one", "--peek"}
		if name == "receive" {
			more = []string{"--show-only", "timeout=", "--wait"}
		}
		for _, s := range more {
			add(s)
		}
	case "inbox":
		if words := strings.Fields(strings.TrimSuffix(line, word))[1:]; len(words) > 0 {
			return shelfArguments(words)
		}
		items = append(items, shelfVerbs[:]...)
		add("--list")
		add("--all")
		for _, t := range a.tabs.All {
			add(t.Info.Name)
		}
	case "agent":
		return a.agentArguments(strings.Fields(strings.TrimSuffix(line, word))[1:])
	case "fork":
		add("name=")
	case "answer":
		return a.answerArguments(strings.Fields(strings.TrimSuffix(line, word))[1:])
	case "push", "run", "queue", "retry":
		for _, s := range a.queueArguments(name, line, word) {
			add(s)
		}
	case "messages":
		return a.messagesArguments(strings.Fields(strings.TrimSuffix(line, word))[1:])
	case "memory":
		return a.memoryArguments(strings.Fields(strings.TrimSuffix(line, word))[1:])
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
