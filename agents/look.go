package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/agents/queue"
	"fantail/agents/roster"
	"fantail/store"
)

// Facts are what the database knows of an agent beyond its Info.
type Facts struct {
	UpTo     int64 // the newest entry as of which the rest stands
	Tools    []ToolCount
	Task     Task     // of a sub-agent; ID 0: none
	Attempts []Task   // of one that was resumed: all its tasks, oldest first; a command's prompt begins with `!`
	Needs    []string // the names of the tasks it waited for
	Turns    int
	Mail     string  // how its mail is handled, if not as its senders ask
	Session  int64   // the conversation of its last turn; 0: none yet
	Children []Child // the newest of those whose work it dispatched
	Prompt   string  // the last one that entered
	Answer   string  // the last one, as a message would carry it
}

// ToolCount is how often a tool was called.
type ToolCount = store.ToolCount

// Child is a sub-agent of an agent, its tab open or closed.
type Child struct {
	ID    int64
	Name  string
	State State
}

// Bounds of what Facts reads.
const (
	mostChildren = 200
	mostEntries  = 200 // in search of the last answer
)

// Facts reads what is known of an agent. It costs more the more tools the agent
// called: call it in a command.
func (p *Pool) Facts(ctx context.Context, agent int64) (f Facts, err error) {
	mail := ""
	if policy, err := p.Policy(agent); err == nil && !policy.Plain() {
		mail = strings.Join(strings.Fields(strings.ReplaceAll(policy.String(), "\n", ";")), " ")
	}
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		f = Facts{Mail: mail}
		row, ok, err := rx.Agent(agent)
		if err != nil || !ok {
			return err
		}
		if f.UpTo, err = rx.LastSeq(agent); err != nil {
			return err
		}
		if f.Tools, err = rx.ToolCounts(agent); err != nil {
			return err
		}
		if f.Turns, err = rx.CountTurns(agent); err != nil {
			return err
		}
		last, _, err := rx.LastTurn(agent)
		if err != nil {
			return err
		}
		f.Session = last.Conversation
		if row.Task != 0 {
			if f.Task, _, err = rx.Task(row.Task); err != nil {
				return err
			}
			needs, err := rx.Needs(row.Task)
			if err != nil {
				return err
			}
			if err := f.attempts(rx, agent); err != nil {
				return err
			}
			for _, t := range needs {
				f.Needs = append(f.Needs, t.Name)
			}
		}
		children, err := rx.AgentsOf(agent, mostChildren)
		if err != nil {
			return err
		}
		for _, c := range children {
			f.Children = append(f.Children, Child{c.ID, c.Name, State(c.State)})
		}
		return f.words(rx, agent)
	})
	if err != nil {
		return f, fmt.Errorf("read the facts of agent %d: %w", agent, err)
	}
	return f, nil
}

// attempts reads what an agent that was resumed was asked to do, each time.
func (f *Facts) attempts(rx *store.Rx, agent int64) error {
	ts, err := rx.TasksOf(agent)
	if err != nil || len(ts) < 2 {
		return err
	}
	for i := range ts {
		ts[i].Prompt = roster.Typed(ts[i])
	}
	f.Attempts = ts
	return nil
}

// words reads the last prompt and the last answer.
func (f *Facts) words(rx *store.Rx, agent int64) error {
	if row, ok, err := rx.LastEntry(agent, string(EntryPrompt)); err != nil {
		return err
	} else if ok {
		f.Prompt = history.Decode(row).Text
	}
	rows, err := rx.EntriesBefore(agent, 0, mostEntries)
	if err != nil {
		return err
	}
	if f.Task.Kind == roster.KindCommand {
		f.Answer = history.Said(history.DecodeAll(rows))
		return nil
	}
	if f.Answer = history.FinalText(history.DecodeAll(rows)); f.Answer != "" {
		return nil
	}
	row, ok, err := rx.LastEntry(agent, string(EntryText))
	if ok && err == nil {
		f.Answer = history.Decode(row).Text
	}
	return err
}

// Working is a call that runs.
type Working struct {
	Call  string
	Title string
	Since time.Time
}

// Now is what an agent, or a queued task, does or waits for.
type Now struct {
	Info   Info      // of a task that has not started: its name alone
	Calls  []Working // the tools that run
	Asked  time.Time // when the request that runs was sent; zero: none runs
	Queued string    // why the task has not started; "": it is none
}

// Does tells what the agent or the queued task of that name does or waits for.
func (p *Pool) Does(name string) (Now, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.queue.Named(name); q != nil {
		return Now{Info: Info{Name: name, State: Queued}, Queued: p.holdUp(q)}, nil
	}
	for _, a := range p.agents {
		if a.info.Name != name {
			continue
		}
		n := Now{Info: a.info, Calls: append([]Working(nil), a.calls...)}
		n.Info.Active = a.active
		if a.info.State == Queued { // a fork
			n.Queued = p.crowded(a.slot())
		}
		if a.info.State == Running && a.info.Doing == "streaming" {
			n.Asked = a.asked
		}
		return n, nil
	}
	return Now{}, fmt.Errorf("%q: %w", name, ErrNoAgent)
}

// holdUp says why a queued task has not started. The caller holds mu.
func (p *Pool) holdUp(q *queue.Task) string {
	switch {
	case q.Held:
		return "it came from outside: /run lets it in"
	case !p.queue.Wanted(q):
		return "nobody has started it: /run does"
	case len(q.Needs) > 0:
		return "it waits for " + strings.Join(q.Waits(), ", ")
	}
	return p.crowded(q.Slot)
}

// crowded says what keeps whoever wants that slot from running. The caller holds mu.
func (p *Pool) crowded(s queue.Slot) string {
	switch full := p.queue.Full(s); full {
	case "":
		return "it is about to start"
	case "cap":
		return fmt.Sprintf("%d agents run, as many as may at once", p.queue.Running())
	case "window":
		w, _ := p.queue.Window(s.Owner)
		return fmt.Sprintf("so many of its queue run as /run %d allows", w.Most)
	default:
		return full + " serves as many agents as it does at once"
	}
}
