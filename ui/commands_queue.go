package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/tools"
)

func runPush(a *App, in input) (tea.Cmd, error) {
	task := tools.Task{}
	keys := []string{"model", "name", "timeout", "deliver", "after", "resume"}
	opts, prompt, err := leadingOptions(in.rest, keys...)
	if err == nil {
		prompt, task.Resume, err = resumed(opts, prompt, keys)
	}
	if err != nil {
		return nil, wrong("push", "%v", err)
	}
	task.Model, task.Name, task.Deliver = opts["model"], opts["name"], opts["deliver"]
	if s, ok := opts["timeout"]; ok {
		if task.Timeout, err = seconds(s); err != nil {
			return nil, wrong("push", "timeout=%s is no time (300, 90s, 5m)", s)
		}
	}
	if names, ok := opts["after"]; ok {
		task.After = strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
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
	var s tools.Start
	for _, word := range strings.Fields(in.rest) {
		n, err := strconv.Atoi(word)
		limit, timed := strings.CutPrefix(word, "timeout=")
		switch {
		case word == "--once":
			s.Once = true
		case timed:
			if s.Timeout, err = seconds(limit); err != nil {
				return nil, wrong("run", "%s is no time (300, 90s, 5m)", word)
			}
		case err != nil || n < 1 || s.Count != 0:
			return nil, wrong("run", "%q is no number of agents", word)
		default:
			s.Count = n
		}
	}
	return a.act(in.here, in.text, func() (string, error) {
		r, err := a.pool.Run(a.ctx, in.id, s)
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

func runDoctor(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, wrong("doctor", "%q is not understood", in.rest)
	}
	return a.act(in.here, in.text, func() (string, error) {
		l, err := a.pool.Ledger(a.ctx)
		return l.String(), err
	}), nil
}
