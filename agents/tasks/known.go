package tasks

import (
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
)

// Known returns what the database says about an agent.
func Known(v *store.View, row store.Agent) (event.Info, error) {
	i := event.Info{
		ID: row.ID, Name: row.Name, Kind: event.Kind(row.Kind), Parent: row.Parent, State: event.State(row.State),
		Model: row.Model, Created: row.Created, Ended: row.Ended, Task: row.Task,
	}
	TrustIn(row).Mark(&i)
	for _, know := range []func(v *store.View, row store.Agent, i *event.Info) error{spent, allowed, last, work, waiting, role} {
		if err := know(v, row, &i); err != nil {
			return i, err
		}
	}
	return i, nil
}

// spent adds the tokens that its turns used, and how full its context is.
func spent(v *store.View, row store.Agent, i *event.Info) error {
	sum, err := v.SumTurns(row.ID)
	if err != nil {
		return err
	}
	i.Usage = llm.Usage{Input: sum.Input, Output: sum.Output, CacheRead: sum.CacheRead, CacheWrite: sum.CacheWrite}
	i.Cost, i.Steps, i.Context = sum.Cost, sum.Steps, sum.Context
	if row.Branch != 0 && sum.Steps == 0 {
		behind, _, err := v.Turn(row.Branch)
		if err != nil {
			return err
		}
		i.Context = behind.Context
	}
	anew, err := history.Cleared(v, row.ID)
	if anew {
		i.Context = 0
	}
	return err
}

// last adds how its last turn ended, and its result's gist.
func last(v *store.View, row store.Agent, i *event.Info) error {
	turn, ok, err := v.LastTurn(row.ID)
	if err != nil {
		return err
	}
	if ok {
		i.Started, i.Outcome, i.Why = turn.Started, history.Outcome(turn.Outcome), turn.Error
	}
	if i.State != event.Done && !(i.State == event.Idle && i.Kind.Tasked()) {
		return nil
	}
	rows, err := v.EntriesBefore(row.ID, 0, history.GistEntries)
	i.Gist = history.GistOf(history.Said(history.DecodeAll(rows)))
	return err
}

// work adds what it carries out or handles.
func work(v *store.View, row store.Agent, i *event.Info) error {
	if row.Task != 0 {
		t, _, err := v.Task(row.Task)
		if err != nil {
			return err
		}
		i.Prompt = Typed(t)
		if t.Interactive && !i.State.Terminal() {
			i.Await = &event.Await{For: t.Idle, Until: row.Deadline}
		}
		if i.Attempt, err = v.Attempts(row.ID); err != nil {
			return err
		}
	}
	if i.Kind.Observes() {
		o, _, err := store.ObserverOf(v, row.ID)
		i.Prompt = o.Prompt
		return err
	}
	if row.Handles == 0 {
		return nil
	}
	m, _, err := inbox.Find(v, row.Handles)
	i.About(m)
	return err
}

// waiting adds the prompts that have not entered, and counts the mail.
func waiting(v *store.View, row store.Agent, i *event.Info) error {
	if !i.Kind.Handles() && !i.State.Terminal() {
		ps, err := v.Prompts(row.ID)
		if err != nil {
			return err
		}
		for _, q := range ps {
			i.Prompts = append(i.Prompts, event.Prompt{ID: q.ID, Text: q.Text, Held: q.Held})
		}
	}
	c, err := inbox.CountIn(v, row.ID)
	i.Counted(c)
	return err
}

// allowed adds its budget.
func allowed(v *store.View, row store.Agent, i *event.Info) error {
	bs, err := store.Budgets(v, row.ID)
	if len(bs) > 0 && bs[0].Owner == row.ID {
		i.Budget = event.BudgetOf(bs[0])
	}
	return err
}

// Relate sets the turn that a new turn of an agent continues: its last one, unless its conversation was cleared since;
// otherwise the turn it branched off after, or none. task is the one it carries out; 0: none.
func Relate(tx *store.Tx, task int64, t *store.Turn) error {
	last, ok, err := tx.LastTurn(t.Agent)
	if err != nil {
		return err
	}
	if task != 0 {
		if t.SpawnedBy, t.Conversation, err = tx.Spawner(task); err != nil {
			return err
		}
	}
	anew, err := history.Cleared(&tx.View, t.Agent)
	switch {
	case err != nil || anew:
		return err
	case ok:
		t.Parent, t.Conversation = last.ID, last.Conversation
	default:
		row, _, err := tx.Agent(t.Agent)
		if err != nil {
			return err
		}
		t.Parent = row.Branch
	}
	return nil
}
