package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
)

// tally is what a run without a screen knows of its conversation.
type tally struct {
	began    time.Time
	talk     event.Info // the conversation as the run began
	agents   map[int64]event.Info
	changes  []event.Info  // dispatched agents whose change of state was not printed yet
	troubles []string      // errors and denials that were not printed yet
	answer   history.Final // the conversation's last answer
	ended    *history.End  // of its last turn
	steps    int
	calls    map[string]history.Call // without a result, by agent and id
	denied   []jDenied
	refused  string // the reason for the last call that the conversation was denied; "": none was
}

// newTally returns the tally of a conversation that begins now.
func newTally(now time.Time, talk event.Info) *tally {
	return &tally{began: now, talk: talk, agents: map[int64]event.Info{talk.ID: talk}, calls: map[string]history.Call{}}
}

// concerns reports whether the agent is the conversation's or below it.
func (t *tally) concerns(agent int64) bool {
	_, known := t.agents[agent]
	return known
}

func (t *tally) name(agent int64) string { return t.agents[agent].Name }

// see applies events and returns the entries among them, in order.
func (t *tally) see(events []event.Event) (entries []history.Entry) {
	for _, e := range events {
		switch e := e.(type) {
		case event.Changed:
			if t.concerns(e.ID) || t.concerns(e.Parent) {
				t.change(e.Info)
			}
		case event.Appended:
			if !t.concerns(e.Agent) {
				continue
			}
			for _, entry := range e.Entries {
				if e.Agent == t.talk.ID {
					t.add(entry)
				}
				t.judged(e.Agent, entry)
				entry.Agent = e.Agent
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

func (t *tally) change(i event.Info) {
	old, known := t.agents[i.ID]
	t.agents[i.ID] = i
	if now := trouble(i); now != "" && now != old.Why { // the error of an earlier turn was printed
		t.troubles = append(t.troubles, i.Name+": "+now)
	}
	if i.ID != t.talk.ID && (!known || i.State.Terminal() && !old.State.Terminal()) {
		t.changes = append(t.changes, i)
	}
}

// judged records which calls were denied.
func (t *tally) judged(agent int64, e history.Entry) {
	key := func(id string) string { return fmt.Sprint(agent, " ", id) }
	switch {
	case e.Kind == history.EntryCall && e.Call != nil:
		t.calls[key(e.Call.ID)] = *e.Call
	case e.Kind == history.EntryResult && e.Result != nil:
		c := t.calls[key(e.Result.ID)]
		delete(t.calls, key(e.Result.ID))
		if e.Result.Denied {
			t.denied = append(t.denied, jDenied{Tool: e.Result.Name, ID: e.Result.ID, Agent: t.name(agent), Input: object(c.Args)})
			if agent == t.talk.ID {
				t.refused = e.Result.Text
			}
			t.troubles = append(t.troubles, fmt.Sprintf("%s: %s: %s", t.name(agent), cmp.Or(c.Title, e.Result.Name), e.Result.Text))
		}
	}
}

// told reports whether the conversation failed for the denied call that the user was told of already.
func (t *tally) told(why string) bool {
	return t.refused != "" && strings.HasSuffix(why, strings.Join(strings.Fields(t.refused), " "))
}

// trouble returns why an agent with work does not go on, or "".
func trouble(i event.Info) string {
	switch {
	case i.Retry != nil:
		return fmt.Sprintf("%s (trying again, %d of %d)", i.Retry.Reason, i.Retry.Attempt, i.Retry.Of)
	case i.State == event.Running, i.State == event.Idle && len(i.Prompts) > 0:
		return i.Why
	}
	return ""
}

// add applies an entry of the conversation's transcript.
func (t *tally) add(e history.Entry) {
	t.answer.Add(e)
	if e.Kind == history.EntryEnded {
		t.ended = e.End
		t.steps += e.End.Steps
	}
}

// spent returns what all agents used since the run began.
func (t *tally) spent() (u llm.Usage, cost int64, priced bool) {
	priced = true
	for id, i := range t.agents {
		var old event.Info // zero for agents that began in this run
		if id == t.talk.ID {
			old = t.talk
		}
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

// result returns the last line of a run with that answer. why is empty if the run succeeded.
func (t *tally) result(answer, why string, now time.Time) lineResult {
	u, cost, priced := t.spent()
	r := lineResult{
		Type: "result", Subtype: "success", Result: answer, Why: why, Turns: t.steps, Millis: now.Sub(t.began).Milliseconds(),
		Usage: usageOf(u), Denied: t.denied,
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
