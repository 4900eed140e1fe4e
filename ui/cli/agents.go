package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/ui/attach"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/shell"
)

// steerDeeds are the actions of the host on an agent, and what is printed afterwards.
var steerDeeds = map[string]struct {
	do   attach.Action
	said string
}{
	"tell":   {attach.TellIt, "reads it at its next step"},
	"wrapup": {attach.WrapItUp, "was asked to wrap up"},
	"end":    {attach.EndIt, "ends after its present turn"},
	"kill":   {attach.KillIt, "was killed"},
}

// agentVerbs are the verbs of fantail agents.
var agentVerbs = []string{"list", "spawn", "attach", "logs", "tell", "wrapup", "end", "kill", "respawn"}

// errNoAgentAtWork is the error for a request about an agent where no host runs.
var errNoAgentAtWork = errors.New("no host runs here, so no agent is at work; fantail starts one")

// runAgents runs fantail agents: it lists the agents, or has the host act on one.
func runAgents(e *Errand, c *caller) (int, error) {
	what, words := e.verb()
	switch {
	case what == "list" && len(words) == 0:
		return listAgents(e, c)
	case what == "list":
		return shell.ExitUsage, shell.Misused("agents list: %q is not understood", words[0])
	case what == "logs" && len(words) == 1:
		return logsOf(e, c, words[0])
	case what == "logs":
		return shell.ExitUsage, shell.Misused("agents logs takes one name; fantail agents lists them")
	}
	deed, known := steerDeeds[what]
	switch {
	case !known && what != "respawn":
		return shell.ExitUsage, shell.Misused("agents: %q is not understood%s; there are: %s", what, shell.Meant(what, agentVerbs), strings.Join(agentVerbs, ", "))
	case len(words) == 0:
		return shell.ExitUsage, shell.Misused("agents %s whom? fantail agents lists them", what)
	case what != "tell" && len(words) > 1:
		return shell.ExitUsage, shell.Misused("agents %s: %q is not understood", what, words[1])
	case what == "respawn":
		if err := c.pledge(Handback{Lost: attach.ErrLost.Error()}); err != nil {
			return shell.ExitFailed, err
		}
		s, err := attach.Respawn(c.ctx, c.host, words[0])
		if err != nil {
			return shell.ExitFailed, errandHosted(err)
		}
		return shell.ExitOK, c.begun(s)
	}
	name, text := words[0], ""
	if what == "tell" {
		var err error
		if text, err = c.given(words[1:], "TEXT"); err != nil {
			return shell.ExitFailed, err
		}
	}
	if err := c.pledge(Handback{Lost: attach.ErrLost.Error()}); err != nil {
		return shell.ExitFailed, err
	}
	if err := attach.Steer(c.ctx, c.host, deed.do, name, text); err != nil {
		return shell.ExitFailed, errandHosted(err)
	}
	return shell.ExitOK, c.out.text(name + " " + deed.said)
}

// verb returns the first word, which is the verb, and the rest. Without words the verb is list.
func (e *Errand) verb() (what string, words []string) {
	if len(e.words) == 0 {
		return "list", nil
	}
	return e.words[0], e.words[1:]
}

// agentFlags refuses flags that belong to another verb.
func agentFlags(e *Errand) error {
	what, _ := e.verb()
	o := &e.o
	for _, f := range []struct {
		name, goes string
		given      bool
	}{
		{"follow", "logs", o.follow},
		{"end", "attach", o.end},
		{"prompt", "spawn", o.prompt != ""},
		{"label", "spawn", o.label != ""},
		{"model", "spawn", o.model != ""},
		{"interactive", "spawn", o.interactive},
		{"idle", "spawn", o.idle != ""},
	} {
		if f.given && what != f.goes {
			return shell.Misused("agents %s: --%s goes with %s", what, f.name, f.goes)
		}
	}
	return nil
}

// errandHosted returns a host's error as the human reads it.
func errandHosted(err error) error {
	if errors.Is(err, attach.ErrNoHost) {
		return errNoAgentAtWork
	}
	return err
}

// begun prints a task that was started.
func (c *caller) begun(s attach.Spawned) error {
	if c.out.json {
		return c.out.line(struct {
			Name  string `json:"name"`
			Agent int64  `json:"id,omitempty"`
			Task  int64  `json:"task"`
		}{s.Name, s.Agent, s.Task})
	}
	if s.Agent == 0 {
		shell.Warn(c.errs, "%s waits for its turn; fantail queue tells what for", s.Name)
	}
	return c.out.text(s.Name)
}

// listed is an agent in JSON.
type listed struct {
	ID       int64      `json:"id"`
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	State    string     `json:"state"`
	Left     *int64     `json:"seconds_left,omitempty"`
	Attached int        `json:"attached,omitempty"`
	Parent   int64      `json:"parent,omitempty"`
	Model    string     `json:"model"`
	Prompt   string     `json:"prompt,omitempty"`
	Steps    int        `json:"steps"`
	Pending  int        `json:"pending"`
	Asking   int        `json:"asking,omitempty"`
	Outcome  string     `json:"outcome,omitempty"`
	Error    string     `json:"error,omitempty"`
	Created  time.Time  `json:"created_at"`
	Ended    *time.Time `json:"ended_at"`
}

func listAgents(e *Errand, c *caller) (int, error) {
	all, err := c.door.Agents(c.ctx)
	if err != nil {
		return shell.ExitFailed, err
	}
	// The host knows that an agent waits before its row says so.
	states := map[string]string{}
	s, err := attach.Ask(c.ctx, c.host, attach.Tell)
	switch {
	case err == nil:
		for _, a := range s.Agents {
			state, name, _ := strings.Cut(a, " ")
			states[name] = state
		}
	case !errors.Is(err, attach.ErrNoHost):
		shell.Warn(c.errs, "%v; until then nobody knows more of the agents than is on disk", err)
	case slices.ContainsFunc(all, func(i event.Info) bool { return i.State == event.Running || i.State == event.Waiting }):
		shell.Warn(c.errs, "no host runs here: who is said to run did when it ended; fantail says what became of them")
	}
	slices.SortFunc(all, func(a, b event.Info) int { return cmp.Compare(a.ID, b.ID) })
	for n, i := range all {
		all[n].State = event.State(cmp.Or(states[i.Name], string(i.State)))
	}
	return printEach(c.out, shell.ExitOK, all, func(i event.Info) any { return listedJSON(i, s.Awaits[i.Name]) }, func() string {
		lines := []string{fmt.Sprintf(listedColumns, "ID", "NAME", "STATUS", "STARTED", "TASK")}
		for _, i := range all {
			lines = append(lines, listedText(i, s.Awaits[i.Name]))
		}
		if !slices.ContainsFunc(all, func(i event.Info) bool { return i.Kind.Ends() }) {
			lines = append(lines, "no background agents")
		}
		return strings.Join(lines, "\n")
	})
}

// listedJSON returns an agent for a line of JSON.
func listedJSON(i event.Info, w attach.Awaits) listed {
	return listed{
		ID: i.ID, Name: i.Name, Kind: string(i.Kind), State: string(i.State), Parent: i.Parent, Model: i.Model, Prompt: i.Prompt,
		Steps: i.Steps, Pending: i.Pending, Asking: i.Asks, Outcome: string(i.Outcome), Error: i.Why, Created: i.Created, Ended: moment(i.Ended),
		Left: w.Seconds(), Attached: w.Attached,
	}
}

// listedColumns is the format of a line of the list.
const listedColumns = "%-5s %-24s %-10s %-19s %s"

// listedText returns an agent as a line of text.
func listedText(i event.Info, w attach.Awaits) string {
	what := inbox.Label(cmp.Or(i.Prompt, i.Kind.Nature().Word))
	status := string(i.State)
	if w.Counts && i.State == event.Idle {
		status += " " + format.Countdown(w.Left)
	}
	if w.Attached > 0 {
		what += fmt.Sprintf("  %d attached", w.Attached)
	}
	if waits := format.Waits(i.Pending, i.Asks); waits != "" {
		what += "  " + waits
	}
	name := cells.Fit(inbox.Label(i.Name), 24)
	return fmt.Sprintf(listedColumns, strconv.FormatInt(i.ID, 10), name, status, i.Created.Local().Format("2006-01-02 15:04:05"), what)
}
