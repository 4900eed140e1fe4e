// Package questions is what agents ask the human: whether a call may run, or what
// ask_user asks.
//
// Does: write a question down with the message that stands for it, wait for its
// answer, answer it once, settle those that nothing is left to answer of.
//
// Does not: decide whether a call must ask (tools/permit), show questions, know
// agents but as who asks.
//
// Imports: agents/event, agents/roster, inbox, store, tools/permit.
package questions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permit"
)

// ErrParked ends an agent's loop but not its turn: the program closes while a
// question is open, and the next start goes on from there.
var ErrParked = errors.New("it waits for an answer")

// Desk is where questions are put and answered. A question is a row, and a message in an inbox,
// before its agent shows that it asks; it is answered once, by the human or by what
// leaves nothing to answer; and what it allowed is noted before it happens, so that no
// start of the program lets it happen again.
//
// Its mutex is a leaf: commit hooks take it, and nothing is called while it is held.
type Desk struct {
	db    *store.DB
	inbox *inbox.Inbox
	gate  *permit.Gate
	now   func() time.Time

	mu     sync.Mutex
	open   map[int64]*ask           // those that an agent waits at, by question
	turns  map[int64]chan struct{}  // by agent: it holds a token while a call that runs beside others asks
	parked map[int64]store.Approval // by agent: the question at which its turn was parked, until that asks again
}

// ask is an open question and where its answer goes.
type ask struct {
	who    Asker
	q      event.Question
	answer chan event.Answer
}

// Asker is the agent that asks, as the desk sees it.
type Asker interface {
	Asker() (agent int64, name string, outside bool)
	Turn() int64                                                             // the one that runs
	Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error // a write that waits for a full disk
	Asks(q *event.Question)                                                  // it shows that it asks, and holds no slot
	Heard(answered bool)                                                     // it asks no more; if it was answered it goes on once it has a slot
	Regain(ctx context.Context) error                                        // takes the slot back
}

func New(db *store.DB, box *inbox.Inbox, gate *permit.Gate, now func() time.Time) *Desk {
	return &Desk{
		db: db, inbox: box, gate: gate, now: now,
		open: map[int64]*ask{}, turns: map[int64]chan struct{}{}, parked: map[int64]store.Approval{},
	}
}

// Put puts a question to the human and returns the answer. Until there is one the agent
// asks, and holds no slot. An agent asks one question at a time: calls that run side by
// side can come to ask when the mode changes meanwhile.
func (qs *Desk) Put(ctx context.Context, who Asker, q event.Question, beside bool) (ans event.Answer, err error) {
	q.Agent, q.Name, q.Outside = who.Asker()
	if beside {
		release, err := qs.inTurn(ctx, q.Agent)
		if err != nil {
			return ans, err
		}
		defer release()
	}
	k, answered := qs.takeUp(ctx, who, &q, &ans)
	if k == nil && !answered {
		if k, err = qs.pose(ctx, who, q, beside); err != nil {
			return ans, err
		}
		q.ID = k.q.ID
	}
	if !answered {
		if ans, err = qs.hear(ctx, k); err == nil {
			err = who.Regain(ctx)
		}
		if errors.Is(err, event.ErrClosing) && !beside {
			err = ErrParked
		}
		if err != nil {
			return ans, err
		}
	}
	if ans.Choice == permit.Once || ans.Choice == permit.Session {
		err = who.Keep(ctx, "act on an answer", func(tx *store.Tx) error {
			_, err := tx.ActApproval(q.ID)
			return err
		})
	}
	return ans, err
}

// inTurn waits until no neighbour of the agent's call asks. If the turn is stopped
// meanwhile, the call asks nothing.
func (qs *Desk) inTurn(ctx context.Context, agent int64) (release func(), err error) {
	qs.mu.Lock()
	turn := qs.turns[agent]
	if turn == nil {
		turn = make(chan struct{}, 1)
		qs.turns[agent] = turn
	}
	qs.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	release = func() { <-turn }
	if ctx.Err() != nil {
		release()
		return nil, context.Cause(ctx)
	}
	return release, nil
}

// Park notes the question at which the agent's turn was parked.
func (qs *Desk) Park(row store.Approval) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.parked[row.Agent] = row
}

// takeUp goes on with the question that was open for this call when the program ended:
// true with its answer if it was given before, else with the question open again; nil
// and false if this call asks for the first time.
func (qs *Desk) takeUp(ctx context.Context, who Asker, q *event.Question, ans *event.Answer) (*ask, bool) {
	qs.mu.Lock()
	row, ok := qs.parked[q.Agent]
	if ok = ok && row.Call == q.Call; ok {
		delete(qs.parked, q.Agent)
	}
	qs.mu.Unlock()
	if !ok {
		return nil, false
	}
	q.ID, q.Message, q.Since = row.ID, row.Message, row.Created
	if !row.Answered.IsZero() {
		*ans = event.AnswerOf(row)
		return nil, true
	}
	k := qs.begin(who, *q)
	// Whoever answered before it was open found nobody to tell.
	now, err := qs.approval(ctx, row.ID)
	if err == nil && !now.Answered.IsZero() {
		qs.deliver(row.ID, event.AnswerOf(now))
	}
	return k, false
}

// pose writes a question down, with its message, and opens it.
func (qs *Desk) pose(ctx context.Context, who Asker, q event.Question, beside bool) (*ask, error) {
	data, err := json.Marshal(event.QuestionRow{Action: q.Action, Rule: q.Rule, Again: q.Again, Asks: q.Asks, Outside: q.Outside, Beside: beside})
	if err != nil {
		return nil, fmt.Errorf("write down a question: %w", err)
	}
	var k *ask
	err = who.Keep(ctx, "ask the human", func(tx *store.Tx) error {
		q := q
		row := store.Approval{Agent: q.Agent, Turn: who.Turn(), Call: q.Call, Kind: event.AskApproval, Data: string(data)}
		if q.Asks != nil {
			row.Kind = event.AskQuestion
		}
		to, err := roster.Above(tx, q.Agent)
		if err == nil && to != q.Agent {
			row.Message, err = qs.inbox.Add(tx, q.Letter(to))
		}
		if err != nil {
			return err
		}
		if q.ID, err = tx.AddApproval(row); err != nil {
			return err
		}
		q.Message, q.Since = row.Message, tx.Now()
		tx.AfterCommit(func() { k = qs.begin(who, q) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The mode may have changed before it was open. It stays open if that can't be
	// written down.
	_ = qs.Review(context.WithoutCancel(ctx))
	return k, nil
}

// begin opens a question. It can be answered before anybody sees it: an answer that found
// nobody waiting for it would be lost.
func (qs *Desk) begin(who Asker, q event.Question) *ask {
	k := &ask{who: who, q: q, answer: make(chan event.Answer, 1)}
	qs.mu.Lock()
	qs.open[q.ID] = k
	qs.mu.Unlock()
	who.Asks(&k.q)
	return k
}

// hear waits for the answer to k.
func (qs *Desk) hear(ctx context.Context, k *ask) (ans event.Answer, err error) {
	select {
	case ans = <-k.answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	qs.mu.Lock()
	delete(qs.open, k.q.ID)
	qs.mu.Unlock()
	k.who.Heard(err == nil)
	return ans, err
}

// deliver hands an answer to the agent that waits for it, if one does.
func (qs *Desk) deliver(question int64, ans event.Answer) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if k := qs.open[question]; k != nil {
		delete(qs.open, question)
		k.answer <- ans // there is room: only the first answer finds the question
	}
}

// Answer answers a question, for the human. The first answer wins: the error of
// a later one is ErrAnswered. A rule that "for this session" adds also answers
// the other questions it covers.
func (qs *Desk) Answer(ctx context.Context, question int64, ans event.Answer) error {
	ans.Settled = ""
	err := qs.db.Write(ctx, "answer a question", func(tx *store.Tx) error {
		row, ok, err := tx.Approval(question)
		switch {
		case err != nil || !ok:
			return errors.Join(err, store.Missing(ok, "question %d", question))
		case !row.Answered.IsZero():
			return event.HowEnded(row, tx.Now())
		}
		var d event.QuestionRow
		if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
			return fmt.Errorf("read question %d: %w", question, err)
		}
		if err := ans.Suits(d); err != nil {
			return err
		}
		if ans.Choice == permit.Session {
			// Before the answer is heard: the agent's next call is judged by it.
			tx.AfterCommit(func() { _ = qs.gate.Allow(d.Rule) }) // the gate offered it
		}
		return qs.Reply(tx, row, ans, inbox.ByAnswer)
	})
	if err == nil && ans.Choice == permit.Session {
		_ = qs.Review(ctx) // what can't be written down stays open for the human
	}
	return err
}

// Reply ends a question and its message, inside tx, and tells the agent once
// that is so. The caller has seen that it is open.
func (qs *Desk) Reply(tx *store.Tx, row store.Approval, ans event.Answer, by string) error {
	data, err := json.Marshal(ans)
	if err != nil {
		return fmt.Errorf("write down an answer: %w", err)
	}
	if _, err := tx.AnswerApproval(row.ID, string(data)); err != nil {
		return err
	}
	if row.Message != 0 {
		if err := qs.inbox.Answer(tx, row.Message, by); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { qs.deliver(row.ID, ans) })
	return nil
}

// Settle ends the open questions of an agent inside the transaction that leaves
// nothing to answer.
func (qs *Desk) Settle(tx *store.Tx, agent int64, why string) error {
	rows, err := tx.OpenApprovals(agent)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := qs.Reply(tx, row, event.Answer{Settled: why}, inbox.BySettle); err != nil {
			return err
		}
	}
	return nil
}

// Review answers the questions the gate no longer has.
func (qs *Desk) Review(ctx context.Context) error {
	answers := map[int64]event.Answer{}
	for _, q := range qs.approvals() {
		switch v := qs.gate.Decide(q.Action); v.Decision {
		case permit.Allow:
			answers[q.ID] = event.Answer{Choice: permit.Once, Settled: "the mode or a rule allows it"}
		case permit.Deny:
			answers[q.ID] = event.Answer{Choice: permit.No, Reason: v.Reason, Settled: "the mode refuses it"}
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return qs.db.Write(ctx, "settle questions", func(tx *store.Tx) error {
		for id, ans := range answers {
			row, ok, err := tx.Approval(id)
			if err != nil {
				return err
			}
			if !ok || !row.Answered.IsZero() {
				continue
			}
			if err := qs.Reply(tx, row, ans, inbox.BySettle); err != nil {
				return err
			}
		}
		return nil
	})
}

// approvals are the open questions whether a call may run.
func (qs *Desk) approvals() (open []event.Question) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for _, k := range qs.open {
		if k.q.Asks == nil {
			open = append(open, k.q)
		}
	}
	return open
}

// Asked returns the question that a message tells of. An error says that it tells of
// none, or wraps ErrAnswered if it has ended.
func (qs *Desk) Asked(ctx context.Context, message int64) (event.Question, error) {
	var q event.Question
	err := qs.db.Read(ctx, func(rx *store.Rx) error {
		row, ok, err := rx.ApprovalOf(message)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("#%d is no question that you could answer; /inbox lists what is", message)
		case !row.Answered.IsZero():
			return fmt.Errorf("#%d: %w", message, event.HowEnded(row, qs.now()))
		}
		name, _, err := rx.AgentName(row.Agent)
		if err == nil {
			q, err = event.QuestionOf(row, name)
		}
		return err
	})
	return q, err
}

// approval reads a question's row.
func (qs *Desk) approval(ctx context.Context, id int64) (row store.Approval, err error) {
	err = qs.db.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		row, _, err = rx.Approval(id)
		return err
	})
	return row, err
}
