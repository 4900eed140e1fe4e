package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/agents/mail"
	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/store/config"
	"fantail/tools"
	"fantail/ui/attach"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

func runSend(e *Errand, c *caller) (int, error) {
	if len(e.words) == 0 || len(Receivers(e.words[0])) == 0 {
		return shell.ExitUsage, shell.Misused("send to whom? fantail send NAME TEXT; main is always there")
	}
	pr := inbox.Priority(e.o.priority)
	known := []string{string(inbox.Low), string(inbox.Normal), string(inbox.High), string(inbox.Urgent)}
	if pr != inbox.Low && pr != inbox.Normal && pr != inbox.High && pr != inbox.Urgent {
		return shell.ExitUsage, shell.Misused("--priority %q: it is low, normal, high or urgent%s", e.o.priority, shell.Meant(e.o.priority, known))
	}
	body, err := c.given(e.words[1:], "TEXT")
	if err != nil {
		return shell.ExitFailed, err
	}
	sent, err := c.mail(c.ctx, mail.OutsideDeposit{To: Receivers(e.words[0]), Body: body, Priority: pr, Tags: e.o.tags, Key: e.o.key})
	if err != nil {
		return shell.ExitFailed, err
	}
	if !e.o.json {
		return c.says(shell.ExitOK, Unread{Code: shell.ExitOK}, func() error { return c.out.text(InInboxes(sent)) })
	}
	return c.says(shell.ExitOK, Unread{Code: shell.ExitFailed}, func() error {
		for _, s := range sent {
			err := c.out.line(struct {
				ID int64  `json:"id"`
				To string `json:"to"`
			}{s.ID, s.To})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// given returns the text in words, or standard input if words are empty or just "-".
func (c *caller) given(words []string, what string) (string, error) {
	text := c.keys.Text(strings.Join(words, " "))
	switch {
	case text == "" && len(words) > 0:
		return "", shell.Misused("%s is empty", what)
	case text == "" && c.typed:
		return "", shell.Misused("%s is missing; give it, or - to type it", what)
	case text == "" || text == "-":
		data, err := shell.ReadAll(c.ctx, c.start, c.in, c.errs)
		return c.keys.Text(string(data)), err
	}
	return text, nil
}

func runPush(e *Errand, c *caller) (int, error) {
	t, words, err := order(e.words)
	if err != nil {
		return shell.ExitUsage, err
	}
	if t.Model, err = c.model(t.Model); err != nil { // before standard input is read: another process may need it
		return shell.ExitUsage, err
	}
	if t.Prompt, err = c.given(words, "PROMPT"); err != nil {
		return shell.ExitFailed, err
	}
	row, err := c.push(c.ctx, t)
	if err != nil {
		return shell.ExitFailed, err
	}
	if doubt := Doubt(c.ctx, c.door.DB, c.env, row); doubt != "" {
		shell.Warn(c.errs, "%s: %s", row.Name, doubt)
	}
	return c.says(shell.ExitOK, Unread{Code: shell.ExitOK}, func() error {
		if e.o.json {
			return c.out.line(taskJSON(row))
		}
		return c.out.text(fmt.Sprintf("Queued %s; /run in the program starts it", row.Name))
	})
}

// model returns the full name of a model. The name of an agent from a file is returned unchanged:
// the host knows what it means.
func (c *caller) model(name string) (string, error) {
	agent, is := tools.VendorOf(name)
	switch {
	case name == "":
		return "", nil
	case !is:
		return PushModel(c.env, name)
	case c.hands != nil:
		return "", ErrElsewhere // only the process knows the directory in which the command was given
	}
	conf, err := config.Read(c.env)
	if err != nil {
		return "", err
	}
	at, err := workspace.Find(c.dir, c.env)
	if err != nil {
		return "", err
	}
	switch of, err := skills.New(SkillOptions(at, c.env, conf, tools.New())).Agent(agent); {
	case err != nil:
		return "", shell.Misused("agent=%s: %v", agent, err)
	case of.File:
		return name, nil
	}
	return PushModel(c.env, name)
}

// errUntold is the error if the host was given a task and did not answer.
var errUntold = fmt.Errorf("%w: fantail queue shows whether the task is queued", attach.ErrLost)

// push queues a task: through the host if one runs, which checks the caller, else in the database,
// where the next host finds it.
func (c *caller) push(ctx context.Context, t mail.OutsideOrder) (tasks.Task, error) {
	var id int64
	var err error
	if c.hands != nil {
		id, err = c.pushHere(ctx, t)
	} else {
		id, err = attach.Push(ctx, c.host, c.door.Origin, t)
	}
	switch {
	case errors.Is(err, attach.ErrNoHost):
		return c.door.Push(ctx, t)
	case errors.Is(err, attach.ErrLost):
		return tasks.Task{}, errUntold
	case err != nil:
		return tasks.Task{}, err
	}
	return c.door.Task(ctx, id)
}

// pushHere is push inside the host.
func (c *caller) pushHere(ctx context.Context, t mail.OutsideOrder) (int64, error) {
	if err := c.pledge(Handback{Lost: errUntold.Error()}); err != nil {
		return 0, err
	}
	row, err := c.door.Push(ctx, t)
	return row.ID, err
}

// soon limits how long a host may take for what can also be done without it.
const soon = time.Second

// mail sends mail the same way. Every message has a key, so a retry after a lost answer is not
// stored twice.
func (c *caller) mail(ctx context.Context, m mail.OutsideDeposit) ([]mail.OutsideReceipt, error) {
	if c.post != "" {
		return turn.SendFromCommand(ctx, c.post, m)
	}
	if m.Key == "" {
		m.Key = rand.Text()
	}
	if c.hands != nil {
		if err := c.pledge(Handback{Args: []string{"--key=" + m.Key}}); err != nil {
			return nil, err
		}
		return c.door.Mail(ctx, m)
	}
	within, cancel := ctx, func() {}
	if c.from == free { // else the host must check the sender
		within, cancel = context.WithTimeout(ctx, soon)
	}
	defer cancel()
	sent, err := attach.Mail(within, c.host, c.door.Origin, m)
	switch lost := errors.Is(err, attach.ErrLost); {
	case errors.Is(err, attach.ErrNoHost), c.from == free && ctx.Err() == nil && (lost || within.Err() != nil):
		return c.door.Mail(ctx, m)
	case lost:
		return nil, errUnheard
	}
	return sent, err
}

// errUnheard is the error if the host was given mail and did not answer, and the mail can't be sent
// again.
var errUnheard = fmt.Errorf("%w: fantail inbox shows whether the message is there", attach.ErrLost)

// order parses key=value words at the front of the words of a push.
func order(words []string) (t mail.OutsideOrder, rest []string, err error) {
	given := map[string]bool{}
	for len(words) > 0 {
		key, value, is := strings.Cut(words[0], "=")
		switch key {
		case "name", "model", "agent", "timeout", "budget", "after":
		case "deliver":
			if is {
				return t, nil, shell.Misused("deliver= is not for tasks from outside: what they bring waits until somebody takes it")
			}
		default:
			is = false
		}
		if !is {
			break
		}
		switch {
		case value == "":
			return t, nil, shell.Misused("%s= needs a value", key)
		case given[key], key == "agent" && given["model"], key == "model" && given["agent"]:
			return t, nil, shell.Misused("%s= is given twice", key)
		}
		given[key] = true
		switch key {
		case "name":
			t.Name = value
		case "model":
			t.Model = value
		case "agent":
			t.Model = tools.VendorModel(value)
		case "after":
			t.After = strings.Split(value, ",")
		case "budget":
			of, err := tools.ParseAmount(value)
			if err != nil {
				return t, nil, shell.Misused("budget=%s: %v", value, err)
			}
			t.Budget = of.String()
		case "timeout":
			if t.Timeout, err = lasting(value); err != nil {
				return t, nil, shell.Misused("timeout=%s is not a time (300, 90s, 5m)", value)
			}
		}
		words = words[1:]
	}
	return t, words, nil
}

// lasting parses 300, 90s, 5m.
func lasting(s string) (time.Duration, error) {
	if n, err := strconv.Atoi(s); err == nil {
		s = strconv.Itoa(n) + "s"
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("it must be more than nothing")
	}
	return d, err
}
