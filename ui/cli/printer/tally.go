package printer

import (
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools/permit"
)

// tally is what a run without a screen knows of the pool.
type tally struct {
	began    time.Time
	main     event.Info // as it was when the run began
	mode     permit.Mode
	agents   map[int64]event.Info
	first    map[int64]event.Info // as they were when the run began
	changes  []event.Info         // dispatched agents whose state changed, not told yet
	troubles []string             // what keeps an agent from going on, not told yet
	answer   []string             // what main said since it last did or heard something
	ended    *history.End         // of main's last turn
	steps    int
	queued   int
	before   int // queued when the run began
}

func newTally(now time.Time) *tally {
	return &tally{began: now, agents: map[int64]event.Info{}, first: map[int64]event.Info{}}
}

func (t *tally) name(agent int64) string { return t.agents[agent].Name }

// see takes events in and returns the entries among them, in order.
func (t *tally) see(events []event.Event) (entries []history.Entry) {
	begins := t.main.ID == 0
	for _, e := range events {
		switch e := e.(type) {
		case event.Changed:
			t.change(e.Info, begins)
		case event.Tally:
			t.queued, t.mode = e.Queued, e.Mode
			if begins {
				t.before = e.Queued
			}
		case event.Appended:
			for _, entry := range e.Entries {
				if e.Agent == t.main.ID {
					t.add(entry)
				}
				entry.Agent = e.Agent
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

func (t *tally) change(i event.Info, begins bool) {
	old, known := t.agents[i.ID]
	t.agents[i.ID] = i
	if now := trouble(i); now != "" && now != old.Why { // what a turn before ended with is told
		t.troubles = append(t.troubles, i.Name+": "+now)
	}
	switch {
	case i.Kind.Nature().Stays:
		if begins {
			t.main = i
		}
	case !begins && (!known || (i.State.Terminal() && !old.State.Terminal())):
		t.changes = append(t.changes, i)
	}
	if begins {
		t.first[i.ID] = i
	}
}

// trouble is why an agent that would go on does not, or "".
func trouble(i event.Info) string {
	switch {
	case i.Retry != nil:
		return fmt.Sprintf("%s (trying again, %d of %d)", i.Retry.Reason, i.Retry.Attempt, i.Retry.Of)
	case i.State == event.Running, i.State == event.Idle && len(i.Prompts) > 0:
		return i.Why
	}
	return ""
}

// add follows main's transcript.
func (t *tally) add(e history.Entry) {
	switch e.Kind {
	case history.EntryText:
		t.answer = append(t.answer, e.Text)
	case history.EntryCall, history.EntryPrompt, history.EntryMessage, history.EntryResult:
		t.answer = nil
	case history.EntryEnded:
		t.ended = e.End
		t.steps += e.End.Steps
	}
}

// spent is what all agents used since the run began.
func (t *tally) spent() (u llm.Usage, cost int64, priced bool) {
	priced = true
	for id, i := range t.agents {
		old := t.first[id]
		d := llm.Usage{
			Input: i.Usage.Input - old.Usage.Input, Output: i.Usage.Output - old.Usage.Output,
			CacheRead: i.Usage.CacheRead - old.Usage.CacheRead, CacheWrite: i.Usage.CacheWrite - old.Usage.CacheWrite,
			Reasoning: i.Usage.Reasoning - old.Usage.Reasoning,
		}
		if d == (llm.Usage{}) {
			continue
		}
		u = u.Add(d)
		cost += i.Cost - old.Cost
		priced = priced && i.Priced
	}
	return u, cost, priced && u != (llm.Usage{})
}

// result is the last line of a run that ended with that answer; why is empty if it went well.
func (t *tally) result(answer, why string, now time.Time) lineResult {
	u, cost, priced := t.spent()
	r := lineResult{
		Type: "result", Subtype: "success", Result: answer, Why: why, Turns: t.steps, Millis: now.Sub(t.began).Milliseconds(),
		Usage: usageOf(u),
	}
	if why != "" {
		r.Subtype, r.Error = "error", true
		if answer == "" {
			r.Result = why
		}
	}
	if priced {
		dollars := float64(cost) / 1e6
		r.Cost = &dollars
	}
	return r
}
