package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/store"
)

// Facts is what the database knows of an agent beyond its Info.
type Facts struct {
	UpTo     int64 // newest entry when the rest was read
	Tools    []ToolCount
	Task     tasks.Task   // a sub-agent's task; ID 0: none
	Attempts []tasks.Task // all tasks of a resumed agent, oldest first; a command's prompt begins with `!`
	Needs    []string     // names of the tasks it waited for
	Turns    int
	Mail     string  // its policy; "": mail is handled as its senders ask
	Session  int64   // conversation of its last turn; 0: none yet
	Children []Child // newest sub-agents it dispatched
	Prompt   string  // the last one in its transcript
	Answer   string  // the last one, as a message would carry it
}

// ToolCount is how often a tool was called.
type ToolCount = store.ToolCount

// Child is a sub-agent of an agent. Its tab may be closed.
type Child struct {
	ID    int64
	Name  string
	State event.State
}

// Limits on what Facts reads.
const (
	maxChildren = 200
	maxEntries  = 200 // entries searched for the last answer
)

// Facts reads what is known of an agent. It takes longer the more tools the agent called, so
// screens run it in a command.
func (l *Records) Facts(ctx context.Context, agent int64) (f Facts, err error) {
	mail := ""
	if policy, err := l.pool.Mail.Policy(agent); err == nil && !policy.Plain() {
		mail = strings.Join(strings.Fields(strings.ReplaceAll(policy.String(), "\n", ";")), " ")
	}
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
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
		children, err := rx.AgentsOf(agent, maxChildren)
		if err != nil {
			return err
		}
		for _, c := range children {
			f.Children = append(f.Children, Child{ID: c.ID, Name: c.Name, State: event.State(c.State)})
		}
		return f.words(rx, agent)
	})
	if err != nil {
		return f, fmt.Errorf("read the facts of agent %d: %w", agent, err)
	}
	return f, nil
}

// attempts reads all tasks of a resumed agent.
func (f *Facts) attempts(rx *store.Rx, agent int64) error {
	ts, err := rx.TasksOf(agent)
	if err != nil || len(ts) < 2 {
		return err
	}
	for i := range ts {
		ts[i].Prompt = tasks.Typed(ts[i])
	}
	f.Attempts = ts
	return nil
}

// words reads the last prompt and the last answer.
func (f *Facts) words(rx *store.Rx, agent int64) error {
	if row, ok, err := rx.LastEntry(agent, string(history.EntryPrompt)); err != nil {
		return err
	} else if ok {
		f.Prompt = history.Decode(row).Text
	}
	rows, err := rx.EntriesBefore(agent, 0, maxEntries)
	if err != nil {
		return err
	}
	if f.Task.Kind == tasks.KindCommand {
		f.Answer = history.Said(history.DecodeAll(rows))
		return nil
	}
	if f.Answer = history.FinalText(history.DecodeAll(rows)); f.Answer != "" {
		return nil
	}
	row, ok, err := rx.LastEntry(agent, string(history.EntryText))
	if ok && err == nil {
		f.Answer = history.Decode(row).Text
	}
	return err
}
