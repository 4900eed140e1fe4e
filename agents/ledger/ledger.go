// Package ledger answers questions about agents and their work by reading only.
//
// Does: balance tasks against messages, tell what happened while the human was away, what an agent has done, what its
// requests consist of, what came of the work behind a message; list transcripts and past turns. It also records when
// the human was last there, because the digest begins at that time.
//
// Does not: change an agent, a task, a message or a transcript, wait for anything, keep state between answers.
//
// Imports: agents/event, agents/history, agents/llm, agents/roster, agents/schedule, inbox, inbox/policy, store, tools,
// tools/offer.
package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// Ledger answers from the database. Its methods read from disk: call them off the screen's goroutine.
type Ledger struct {
	db     *store.DB
	inbox  *inbox.Inbox
	agents Agents

	// Carries are the texts in an agent's system prompt that files bring. Set it before agents run; nil: nobody knows them.
	Carries func(i event.Info) []Carried
}

// Carried is a text in a system prompt.
type Carried struct {
	What  string
	Text  string
	Items int // that it lists
}

// New returns the ledger of a workspace.
func New(db *store.DB, box *inbox.Inbox, as Agents) *Ledger {
	return &Ledger{db: db, inbox: box, agents: as}
}

// Agents is what only the process that runs the agents knows of them.
type Agents interface {
	// Infos returns what is known of all agents whose tab is open.
	Infos() []event.Info

	// Policy returns what decides about an agent's mail.
	Policy(agent int64) (policy.Policy, error)

	// Preamble returns what is known of an agent, and its request as it is before anything was said: the system prompt
	// and the tools. nil: it makes no requests, another vendor's agent carries out its turns.
	Preamble(agent int64) (event.Info, *llm.Request, error)
}

// Page returns a page of an agent's transcript: the limit newest entries with Seq < before (0: the newest of all),
// oldest first.
func (l *Ledger) Page(ctx context.Context, agent, before int64, limit int) ([]history.Entry, error) {
	cut := before == 0 && l.db.ReadOnly() != nil && slices.ContainsFunc(l.agents.Infos(), func(i event.Info) bool {
		return i.ID == agent && (i.State == event.Idle || i.State.Terminal()) // its open turn will not be resumed
	})
	var es []history.Entry
	err := l.db.Read(ctx, func(rx *store.Rx) error {
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
	Number  int // in its conversation, from 1
	Prompt  string
	Outcome history.Outcome
	Ended   time.Time
}

// Turns returns the ended turns of an agent's conversation, oldest first: at most the newest `most` of them (0: all).
func (l *Ledger) Turns(ctx context.Context, agent int64, most int) ([]PastTurn, error) {
	var past []PastTurn
	err := l.db.Read(ctx, func(rx *store.Rx) error {
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
