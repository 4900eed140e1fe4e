package slash

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
)

func runPush(in input) (intent.Intent, error) {
	task := tools.Task{}
	opts, prompt, err := format.PushOptions(in.rest)
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	_, task.Resume = opts["resume"]
	if task.Interactive, task.Idle, err = format.InteractiveOption(opts); err != nil {
		return nil, in.wrong("%v", err)
	}
	task.Model, task.Name, task.Deliver = opts["model"], opts["name"], opts["deliver"]
	task.To(opts["agent"])
	if s, ok := opts["timeout"]; ok {
		if task.Timeout, err = format.Seconds(s); err != nil {
			return nil, in.wrong("timeout=%s is not a time (300, 90s, 5m)", s)
		}
	}
	if s, ok := opts["budget"]; ok {
		if task.Budget, err = tools.ParseAmount(s); err != nil {
			return nil, in.wrong("budget=: %v", err)
		}
	}
	if names, ok := opts["after"]; ok {
		if strings.HasSuffix(names, ",") {
			return nil, in.wrong("after=%s ends with a comma; the names stand without spaces", names)
		}
		task.After = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	}
	if task.Prompt = format.Unquote(prompt); task.Prompt == "" {
		return nil, in.wrong("add a prompt")
	}
	if task.Interactive && strings.HasPrefix(task.Prompt, "!") {
		return nil, in.wrong("a command reads no input; only a PROMPT can be interactive")
	}
	return in.act(func(ctx context.Context) (string, error) {
		t, err := in.Pool.Tasks.Push(ctx, in.id, task)
		if err != nil {
			return "", err
		}
		return in.queued(t, ""), nil
	}), nil
}

func runRun(in input) (intent.Intent, error) {
	var s tools.Start
	for _, word := range strings.Fields(in.rest) {
		n, err := strconv.Atoi(word)
		limit, timed := strings.CutPrefix(word, "timeout=")
		switch {
		case word == "--once":
			s.Once = true
		case timed:
			if s.Timeout, err = format.Seconds(limit); err != nil {
				return nil, in.wrong("%s is not a time (300, 90s, 5m)", word)
			}
		case err != nil || n < 1:
			return nil, in.wrong("%q is not a number of agents", word)
		case s.Count != 0:
			return nil, in.wrong("one number is enough, not %d and %d", s.Count, n)
		default:
			s.Count = n
		}
	}
	return in.act(func(ctx context.Context) (string, error) {
		q, _ := in.Pool.Queue(ctx, in.id) // after an error there is no warning, but the run was asked for
		r, err := in.Pool.Run(ctx, in.id, s)
		return format.Warned(r.String(), in.Doubt.Queued(q)), err
	}), nil
}

func runQueue(in input) (intent.Intent, error) {
	sub, rest := format.FirstWord(in.rest)
	name, text := format.FirstWord(rest)
	switch {
	case in.rest == "":
		return in.listQueue(10), nil
	case in.rest == "--all":
		return in.listQueue(0), nil
	case in.rest == "--panel":
		return intent.Queue{Agent: in.id, Name: in.t.Info.Name}, nil
	case sub != "rm" && sub != "move" && sub != "edit":
		return nil, in.wrong("unexpected %q", in.rest)
	case name == "":
		return nil, in.wrong("name a queued task")
	}
	switch sub {
	case "rm":
		if text != "" {
			return nil, in.wrong("rm takes one name")
		}
		return in.act(func(ctx context.Context) (string, error) {
			return "Removed " + name, in.Pool.Tasks.Remove(ctx, name)
		}), nil
	case "move":
		to, err := strconv.Atoi(text)
		if err != nil || to < 1 {
			return nil, in.wrong("%q is not a position: 1 is the first", text)
		}
		return in.act(func(ctx context.Context) (string, error) {
			at, err := in.Pool.Tasks.Move(ctx, name, to)
			return fmt.Sprintf("%s is now number %d in the queue", name, at), err
		}), nil
	}
	if text == "" {
		return in.fetchPrompt(name), nil
	}
	return in.act(func(ctx context.Context) (string, error) {
		if err := in.Pool.Tasks.Edit(ctx, name, text); err != nil {
			return "", err
		}
		return in.edited(ctx, name), nil
	}), nil
}

func (in input) listQueue(most int) intent.Intent {
	return in.act(func(ctx context.Context) (string, error) {
		q, err := in.Pool.Queue(ctx, in.id)
		return tasks.QueueText(q, in.Now(), most), err
	})
}

// fetchPrompt puts the prompt of a queued task into the prompt box, as the command that changes it.
func (in input) fetchPrompt(name string) intent.Intent {
	here := in.here.Info.ID
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		text, err := in.Pool.Tasks.Typed(ctx, name)
		return intent.Back{Agent: here, Text: "/queue edit " + name + " " + text}, err
	})
}

// queued returns the message about a queued task.
func (in input) queued(t tasks.Task, how string) string {
	return in.Doubt.WhenQueued(t, how, "/run", in.Pool.Joins(t.ID))
}

// edited returns the message about an edited prompt of a queued task.
func (in input) edited(ctx context.Context, name string) string {
	q, err := in.Pool.Queue(ctx, in.id)
	if err != nil {
		q = tasks.QueueView{} // the prompt is changed; the queue is needed for the warning only
	}
	return in.Doubt.WhenEdited(name, q)
}

func runRetry(in input) (intent.Intent, error) {
	name, hint := format.FirstWord(in.rest)
	if name == "" {
		return nil, in.wrong("name a finished task")
	}
	return in.act(func(ctx context.Context) (string, error) {
		t, before, err := in.Pool.Tasks.Retry(ctx, in.id, name, format.Unquote(hint))
		how := ""
		if before == history.Completed {
			how = ", which had completed,"
		}
		if err != nil {
			return "", err
		}
		return in.queued(t, how+" again"), nil
	}), nil
}

func runRespawn(in input) (intent.Intent, error) {
	name, err := in.oneName(in.rest)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		t, err := in.Pool.Tasks.Respawn(ctx, in.id, name)
		if err != nil {
			return "", err
		}
		return in.Doubt.WhenRespawned(t), nil
	}), nil
}

func runEnd(in input) (intent.Intent, error) {
	name, err := in.oneName(in.rest)
	if err != nil {
		return nil, err
	}
	known := event.Info{}
	if t := in.Tabs.ByName(name); t != nil {
		known = t.Info
	}
	text := format.Ends(name, known)
	return in.act(func(ctx context.Context) (string, error) { return text, in.Pool.End(ctx, name) }), nil
}

// oneName returns the only argument of a command.
func (c command) oneName(rest string) (string, error) {
	args := strings.Fields(rest)
	if len(args) != 1 {
		return "", c.wrong("name one agent")
	}
	return args[0], nil
}

func runKill(in input) (intent.Intent, error) {
	args := strings.Fields(in.rest)
	how := ""
	if n := len(args); n > 0 && (args[n-1] == "--cascade" || args[n-1] == "--orphan") {
		how, args = args[n-1], args[:n-1]
	}
	name, err := in.oneName(strings.Join(args, " "))
	if err != nil {
		return nil, err
	}
	queued := slices.Contains(in.Tally.Names, name)
	if t := in.Tabs.ByName(name); t != nil && !queued {
		if err := t.Info.Killable(); err != nil {
			return nil, err
		}
	}
	kill := func(cascade bool) intent.Intent {
		return in.start(func(ctx context.Context) (string, error) {
			text := "Ended " + name
			switch {
			case queued:
				text = "Removed " + name + ", which had not started"
			case cascade:
				text += " and all below it"
			}
			return text, in.Pool.Kill(ctx, name, cascade)
		})
	}
	below := in.Tabs.LiveBelow(name)
	if how != "" || len(below) == 0 {
		return kill(how == "--cascade"), nil
	}
	return intent.Kill(in.Theme, name, below, kill), nil
}

func runArguments(Options, []string, string) []composer.Item { return items("--once", "timeout=") }

func retryArguments(e Options, before []string, _ string) []composer.Item {
	if len(before) > 0 {
		return nil // a hint is free text
	}
	return items(e.names(ended)...)
}

func respawnArguments(e Options, before []string, _ string) []composer.Item {
	if len(before) > 0 {
		return nil
	}
	return items(e.names(func(i event.Info) bool { return i.Kind.Tasked() && !living(i) })...)
}

func endArguments(e Options, before []string, _ string) []composer.Item {
	if len(before) > 0 {
		return nil
	}
	return items(e.names(func(i event.Info) bool { return i.Await != nil && living(i) })...)
}

func queueArguments(e Options, before []string, _ string) []composer.Item {
	switch {
	case len(before) == 0:
		return items("rm", "move", "edit", "--all", "--panel")
	case len(before) == 1 && !strings.HasPrefix(before[0], "--"):
		return items(e.Tally.Names...)
	}
	return nil
}

func pushArguments(e Options, before []string, word string) []composer.Item {
	switch {
	case !optional(before):
		return nil // a prompt is free text
	case strings.HasPrefix(word, "after="):
		list := word[:strings.LastIndexAny(word, "=,")+1]
		var names []string
		for _, n := range append(slices.Clone(e.Tally.Names), e.names(background)...) {
			names = append(names, list+n)
		}
		return items(names...)
	}
	last := "interactive"
	if slices.Contains(before, "interactive") || slices.Contains(before, "interactive=true") {
		last = "idle="
	}
	return append(items("name=", "model=", "agent=", "timeout=", "budget=", "deliver=hold", "deliver=next", "deliver=wake", "after=", last), e.Custom.Agents()...)
}

// optional reports whether all words are options of /push.
func optional(args []string) bool {
	for _, w := range args {
		if !strings.Contains(w, "=") && w != "interactive" && w != "resume" {
			return false
		}
	}
	return true
}

// background reports whether an agent works in the background. ended reports whether it has ended.
func background(i event.Info) bool { return i.Kind.Ends() }

func ended(i event.Info) bool { return background(i) && !living(i) }

func runDoctor(in input) (intent.Intent, error) {
	look := in.Pool.Records.Glance
	switch in.rest {
	case "":
	case "--full":
		look = in.Pool.Records.Balance
	default:
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.act(func(ctx context.Context) (string, error) {
		l, err := look(ctx)
		return l.String(), err
	}), nil
}

func runResume(in input) (intent.Intent, error) {
	name, prompt := format.FirstWord(in.rest)
	if name == "" {
		return nil, in.wrong("name one agent")
	}
	prompt = format.Unquote(prompt)
	return in.act(func(ctx context.Context) (string, error) {
		t, goes, err := in.Pool.Resume(ctx, in.id, name, prompt)
		if !goes {
			return "The tab of " + name + " is open again", err
		}
		if err != nil {
			return "", err
		}
		return format.Warned(name+" continues. Its result goes to the inbox", in.Doubt.Of(t)), nil
	}), nil
}
