package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// Records answers from the database. Its methods read from disk: don't call them on the screen's
// goroutine.
type Records struct {
	pool *Pool

	// Carries returns the texts from files in an agent's system prompt. Set it before agents run;
	// nil: they are not known.
	Carries func(i event.Info) []Carried
}

// Carried is a text in a system prompt.
type Carried struct {
	What  string
	Text  string
	Items int // number it lists
}

// Page returns a page of an agent's transcript: the newest limit entries with Seq < before (0: of
// all), oldest first.
func (l *Records) Page(ctx context.Context, agent, before int64, limit int) ([]history.Entry, error) {
	cut := before == 0 && l.pool.o.DB.ReadOnly() != nil && slices.ContainsFunc(l.pool.Infos(), func(i event.Info) bool {
		return i.ID == agent && (i.State == event.Idle || i.State.Terminal()) // its open turn will not be resumed
	})
	var es []history.Entry
	err := l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		rows, err := rx.EntriesBefore(agent, before, limit)
		es = history.DecodeAll(rows)
		if err == nil && cut {
			es, err = history.Cut(&rx.View, agent, es)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return es, nil
}

// PastTurn is a turn that has ended.
type PastTurn struct {
	Number  int // within its conversation, from 1
	Prompt  string
	Outcome history.Outcome
	Ended   time.Time
}

// Turns returns the ended turns of an agent's conversation, oldest first, at most the newest `most`
// (0: all).
func (l *Records) Turns(ctx context.Context, agent int64, most int) ([]PastTurn, error) {
	var past []PastTurn
	err := l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		ts, err := rx.Turns(agent)
		if err != nil {
			return err
		}
		first := 0
		if most > 0 {
			first = max(0, len(ts)-most)
		}
		for n, t := range ts[first:] {
			if t.Outcome == "" {
				continue
			}
			x := PastTurn{Number: first + n + 1, Outcome: history.Outcome(t.Outcome), Ended: t.Ended, Prompt: "(mail)"}
			row, ok, err := rx.FirstOfTurn(t.ID, string(history.EntryPrompt))
			if err != nil {
				return err
			}
			if ok {
				x.Prompt = history.Decode(row).Text
			}
			past = append(past, x)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the turns: %w", err)
	}
	return past, nil
}
