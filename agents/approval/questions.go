package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
)

// ErrParked ends an agent's loop but not its turn: the program closes while a question is open, and its next start
// resumes from there.
var ErrParked = errors.New("it waits for an answer")

// Questions puts and answers questions. A question is a row, and a message in an inbox, before its agent shows that it
// asks. It is answered once, by the human or because nothing is left to answer. What it allowed is recorded before it
// happens, so that no restart lets it happen twice.
//
// Its mutex is a leaf: commit hooks take it, and nothing is called while it is held.
type Questions struct {
	db      *store.DB
	inbox   *inbox.Inbox
	gate    *permission.Gate
	seals   *tasks.SealKey
	lasting *tasks.LastingSeal // of rules that are granted for good
	audit   *audit.Log
	now     func() time.Time

	mu     sync.Mutex
	open   map[int64]*ask           // questions an agent waits at, by id
	turns  map[int64]chan struct{}  // by agent: holds a token while one of several concurrent calls asks
	parked map[int64]store.Approval // by agent: the question its turn was parked at, until the turn asks it again
}

// ask is an open question and where its answer goes.
type ask struct {
	who    Asker
	q      event.Question
	data   string // the content of its row
	answer chan event.Answer
}

// Asker is an agent that asks in its turn.
type Asker struct {
	ID      int64
	Name    string
	Outside bool // its work comes from outside the program
	Turn    int64
	Agent   Agent
	Keep    func(ctx context.Context, what string, f func(tx *store.Tx) error) error // writes; waits out a full disk
}

// Agent shows what becomes of the agent's question, and does not hold its slot meanwhile.
type Agent interface {
	Asking(q *event.Question) // shows the question; frees the slot
	Heard(ans *event.Answer)  // the question is closed; nil: unanswered
	Regain(ctx context.Context) error
}

// NewQuestions returns Questions that record answers in log.
func NewQuestions(
	db *store.DB, box *inbox.Inbox, gate *permission.Gate, seals *tasks.SealKey, lasting *tasks.LastingSeal, log *audit.Log, now func() time.Time,
) *Questions {
	return &Questions{
		db: db, inbox: box, gate: gate, seals: seals, lasting: lasting, audit: log, now: now,
		open: map[int64]*ask{}, turns: map[int64]chan struct{}{}, parked: map[int64]store.Approval{},
	}
}

// Recall passes the rules that a human has granted for good to the gate.
func (qs *Questions) Recall(ctx context.Context) error {
	if qs.lasting.Err() != nil {
		return nil // no rule is known to be the human's
	}
	return qs.db.Read(ctx, func(rx *store.Rx) error {
		grants, err := store.Grants(&rx.View)
		if err != nil {
			return err
		}
		for _, g := range grants {
			ok, err := qs.lasting.Sealed(&rx.View, store.GrantedRules, g.Rule)
			if err == nil && ok {
				err = qs.gate.Keep(permission.Rule(g.Rule))
			}
			if err != nil {
				return fmt.Errorf("recall what sandboxes were granted: %w", err)
			}
		}
		return nil
	})
}

// Granted returns what rules add to sandboxes now.
func (qs *Questions) Granted() []permission.Grant { return qs.gate.Grants() }

// Revoke withdraws a rule that a human gave for sandboxes, for the session or for good.
func (qs *Questions) Revoke(ctx context.Context, rule permission.Rule) error {
	if err := qs.gate.Revoke(rule); err != nil {
		return err
	}
	return qs.db.Write(ctx, "take back a rule", func(tx *store.Tx) error {
		if err := store.RemoveGrant(tx, string(rule)); err != nil {
			return err
		}
		return qs.audit.Revoked(tx, string(rule), audit.Who(ctx))
	})
}

// Company says whether the call that asks runs alone, or concurrently with other calls of the same reply.
type Company int

const (
	Alone Company = iota
	Beside
)

// Put asks the human and returns the answer. Until then the agent shows as asking, and holds no slot. An agent asks
// one question at a time: concurrent calls, which need none when they start, may come to ask if the mode changes
// meanwhile. The error wraps [event.ErrSettled] if the question was closed meanwhile without an answer.
func (qs *Questions) Put(ctx context.Context, who Asker, q event.Question, by Company) (ans event.Answer, err error) {
	q.Agent, q.Name, q.Outside = who.ID, who.Name, who.Outside
	if by == Beside {
		release, err := qs.inTurn(ctx, q.Agent)
		if err != nil {
			return ans, err
		}
		defer release()
	}
	k, given, err := qs.pose(ctx, who, q, by)
	if err != nil {
		return ans, err
	}
	if given != nil {
		ans, q.ID = *given.ans, given.id
	} else {
		q.ID = k.q.ID
		if ans, err = qs.hear(ctx, k); err == nil {
			err = who.Agent.Regain(ctx)
		}
		if errors.Is(err, event.ErrClosing) && by == Alone {
			err = ErrParked
		}
		if err != nil {
			return ans, cmp.Or(qs.withdraw(ctx, k), err)
		}
	}
	if ans.Choice != permission.No && ans.Choice != permission.Edited && ans.Choice != "" || q.Abroad {
		err = who.Keep(ctx, "act on an answer", func(tx *store.Tx) error {
			_, err := tx.ActApproval(q.ID)
			return err
		})
	}
	return ans, err
}

// withdraw closes the question of a program that no longer asks it. Its call, and the turn, may go on.
func (qs *Questions) withdraw(ctx context.Context, k *ask) error {
	if !strings.HasSuffix(k.q.Call, event.Inquiring) || errors.Is(context.Cause(ctx), event.ErrClosing) {
		return nil
	}
	return qs.db.Write(context.WithoutCancel(ctx), "withdraw a question", func(tx *store.Tx) error {
		row, ok, err := tx.Approval(k.q.ID)
		if err != nil || !ok || !row.Answered.IsZero() {
			return err
		}
		return qs.Reply(tx, row, event.Answer{Settled: "it is not asked any more"}, inbox.BySettle)
	})
}

// inTurn waits until none of the agent's other calls asks. If the turn is stopped meanwhile, the call never asks.
func (qs *Questions) inTurn(ctx context.Context, agent int64) (release func(), err error) {
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

// Parked reports whether the agent's turn was parked at a question about that call and has not asked it again yet.
func (qs *Questions) Parked(agent int64, call string) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	row, ok := qs.parked[agent]
	return ok && row.Call == call
}

// Park records the question at which the agent's turn was parked.
func (qs *Questions) Park(row store.Approval) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.parked[row.Agent] = row
}

// given is an answer that a question has already.
type given struct {
	id  int64
	ans *event.Answer
}

// pose records a question, with its message, and opens it. If the agent's turn was parked at this call, the row from
// then is asked again, unless this host wrote an answer into it meanwhile: only such an answer counts.
func (qs *Questions) pose(ctx context.Context, who Asker, q event.Question, by Company) (k *ask, done *given, err error) {
	data, err := json.Marshal(rowOf(q, by))
	if err != nil {
		return nil, nil, fmt.Errorf("write down a question: %w", err)
	}
	was, parked := qs.unpark(q)
	err = who.Keep(ctx, "ask the human", func(tx *store.Tx) error {
		q, row := q, store.Approval{
			Agent: q.Agent, Turn: who.Turn, Call: q.Call, Kind: event.AskApproval,
		}
		k, done = nil, nil
		if q.Asks != nil {
			row.Kind = event.AskQuestion
		}
		if parked {
			now, _, err := tx.Approval(was)
			if err != nil {
				return err
			}
			if row = qs.Trusted(now); !row.Answered.IsZero() {
				ans := event.AnswerOf(row)
				done = &given{row.ID, &ans}
				return nil
			}
		}
		row.Data = string(data)
		if err := qs.send(tx, &row, q); err != nil {
			return err
		}
		if row.ID == 0 {
			if row.ID, err = tx.AddApproval(row); err != nil {
				return err
			}
			row.Created = tx.Now()
		}
		if err := qs.sealed(tx, row); err != nil {
			return err
		}
		q.ID, q.Message, q.Since = row.ID, row.Message, row.Created
		tx.AfterCommit(func() { k = qs.begin(who, q, string(data)) })
		return nil
	})
	if err != nil || done != nil {
		return nil, done, err
	}
	// A rule may have come before the question was open. If settling it can't be recorded, it stays open.
	_ = qs.Review(context.WithoutCancel(ctx))
	return k, nil, nil
}

// rowOf returns the content of a question's row.
func rowOf(q event.Question, by Company) event.QuestionRow {
	return event.QuestionRow{
		Action: q.Action, Rule: q.Rule, Again: q.Again, Was: q.Was, Asks: q.Asks, Outside: q.Outside, Abroad: q.Abroad, Beside: by == Beside,
	}
}

// unpark returns the question that the turn of q's agent was parked at, if q is of the same call.
func (qs *Questions) unpark(q event.Question) (id int64, is bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	row, ok := qs.parked[q.Agent]
	if !ok || row.Call != q.Call {
		return 0, false
	}
	delete(qs.parked, q.Agent)
	return row.ID, true
}

// send puts the question's message into the inbox above its agent, unless it is there and pending.
func (qs *Questions) send(tx *store.Tx, row *store.Approval, q event.Question) error {
	if row.Message != 0 {
		m, ok, err := inbox.Find(&tx.View, row.Message)
		if err != nil || ok && m.Taken.IsZero() {
			return err
		}
		row.Message = 0
	}
	to, err := tasks.Above(tx, q.Agent)
	if err == nil && to != q.Agent {
		row.Message, err = qs.inbox.Add(tx, q.Letter(to))
	}
	return err
}

// sealed writes a question's row as row has it, with this host's seal.
func (qs *Questions) sealed(tx *store.Tx, row store.Approval) error {
	if err := tx.SealApproval(row); err != nil {
		return err
	}
	kept, _, err := tx.Approval(row.ID) // the database left out what must not be stored
	if err != nil {
		return err
	}
	kept.Seal = qs.seals.Approval(kept)
	return tx.SealApproval(kept)
}

// Trusted returns a question's row without an answer that this host did not write for it.
func (qs *Questions) Trusted(row store.Approval) store.Approval {
	if !qs.own(row) {
		row.Answer, row.Answered = "", time.Time{}
	}
	return row
}

// Reopen opens a question again, inside tx, whose turn goes on and whose answer this host did not write. It returns
// its row, and its message is pending. Its agent asks it again.
func (qs *Questions) Reopen(tx *store.Tx, question int64) (store.Approval, error) {
	row, ok, err := tx.Approval(question)
	if err != nil || !ok {
		return row, errors.Join(err, store.Missing(ok, "question %d", question))
	}
	was := row.Answered
	if row = qs.Trusted(row); was.Equal(row.Answered) {
		return row, nil
	}
	name, _, err := tx.AgentName(row.Agent)
	if err != nil {
		return row, err
	}
	q, err := event.QuestionOf(row, name)
	if err == nil {
		err = qs.send(tx, &row, q)
	}
	if err != nil {
		return row, err
	}
	return row, tx.SealApproval(row)
}

// own reports whether a question's row is as this host wrote it.
func (qs *Questions) own(row store.Approval) bool {
	return tasks.SameSeal(row.Seal, qs.seals.Approval(row))
}

// begin opens a question. It registers it before the agent shows it: an answer without a waiting agent would be lost.
func (qs *Questions) begin(who Asker, q event.Question, data string) *ask {
	k := &ask{who: who, q: q, data: data, answer: make(chan event.Answer, 1)}
	qs.mu.Lock()
	qs.open[q.ID] = k
	qs.mu.Unlock()
	who.Agent.Asking(&k.q)
	return k
}

// hear waits for the answer to k. If the question was closed without an answer, its agent does not go on: its turn may
// have ended.
func (qs *Questions) hear(ctx context.Context, k *ask) (ans event.Answer, err error) {
	select {
	case ans = <-k.answer:
		if ans.Settled != "" && ans.Choice == "" {
			err = fmt.Errorf("%w: %s", event.ErrSettled, ans.Settled)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	qs.mu.Lock()
	delete(qs.open, k.q.ID)
	qs.mu.Unlock()
	if err != nil {
		k.who.Agent.Heard(nil)
		return ans, err
	}
	k.who.Agent.Heard(&ans)
	return ans, nil
}

// deliver passes an answer to the agent that waits for it, if any.
func (qs *Questions) deliver(question int64, ans event.Answer) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if k := qs.open[question]; k != nil {
		delete(qs.open, question)
		k.answer <- ans // never blocks: only the first answer finds the question
	}
}

// Answer answers a question on behalf of the human. The first answer wins; a later one gets ErrAnswered. A rule added
// "for this session" also answers the other questions it covers. The question counts as the agent asks it: a row that
// another program changed is written again.
func (qs *Questions) Answer(ctx context.Context, question int64, ans event.Answer) error {
	ans.Settled, ans.By = "", audit.Who(ctx)
	_, data, waits := qs.waiting(question)
	err := qs.db.Write(ctx, "answer a question", func(tx *store.Tx) error {
		row, ok, err := tx.Approval(question)
		switch {
		case err != nil || !ok:
			return errors.Join(err, store.Missing(ok, "question %d", question))
		case !row.Answered.IsZero() && (!waits || qs.own(row)):
			return event.HowEnded(row, tx.Now())
		case waits:
			row.Data = data
		case !qs.own(row):
			return fmt.Errorf("question %d is not open yet: its agent is about to ask it again", question)
		}
		var d event.QuestionRow
		if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
			return fmt.Errorf("read question %d: %w", question, err)
		}
		if err := ans.Suits(d); err != nil {
			return err
		}
		// Before the agent gets the answer: its next call is judged by this rule, which the gate itself offered.
		switch ans.Choice {
		case permission.Session:
			tx.AfterCommit(func() { _ = qs.gate.Allow(d.Rule) })
		case permission.Project:
			if err := store.AddGrant(tx, string(d.Rule)); err != nil {
				return err
			}
			if err := qs.lasting.Seal(tx, store.GrantedRules, string(d.Rule)); err != nil {
				return err
			}
			tx.AfterCommit(func() { _ = qs.gate.Keep(d.Rule) })
		}
		return qs.Reply(tx, row, ans, inbox.ByAnswer)
	})
	if err == nil && (ans.Choice == permission.Session || ans.Choice == permission.Project) {
		_ = qs.Review(ctx) // an answer that can't be recorded stays open for the human
	}
	return err
}

// waiting returns the question with that id if an agent waits for it, and the content for its row.
func (qs *Questions) waiting(question int64) (q event.Question, data string, waits bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	k := qs.open[question]
	if k == nil {
		return q, "", false
	}
	return k.q, k.data, true
}

// Reply closes a question and its message, inside tx, and tells the agent after the commit. The caller has checked
// that it is open.
func (qs *Questions) Reply(tx *store.Tx, row store.Approval, ans event.Answer, by string) error {
	data, err := json.Marshal(ans)
	if err != nil {
		return fmt.Errorf("write down an answer: %w", err)
	}
	row.Answer, row.Answered = string(data), tx.Now()
	if err := qs.sealed(tx, row); err != nil {
		return err
	}
	if err := qs.audited(tx, row, ans); err != nil {
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

// audited adds an answer to the audit: what was asked, who decided and how, but no text of ask_user or for it.
func (qs *Questions) audited(tx *store.Tx, row store.Approval, ans event.Answer) error {
	var d event.QuestionRow
	_ = json.Unmarshal([]byte(row.Data), &d) // even if the row can't be read, the answer is recorded
	a := audit.Answered{Agent: row.Agent, Turn: row.Turn, Call: row.Call, Asked: d.Action.Title, By: Decided(ans)}
	if d.Asks != nil {
		a.Asked = "a question of its own"
		if ans.Settled == "" {
			a.By = cmp.Or(ans.By, audit.Human)
		}
	}
	switch ans.Choice {
	case permission.No:
		a.Decision = audit.Refused
	case permission.Session, permission.Project:
		a.Decision, a.Rule = audit.Allowed, string(d.Rule)
	case permission.Once:
		a.Decision = audit.Allowed
	}
	if d.Was != "" {
		a.By += ", for " + d.Action.Command + " instead of " + d.Was
	}
	return qs.audit.Answered(tx, a)
}

// Decided describes an answer for the audit: whose it was, and what it was.
func Decided(ans event.Answer) string {
	if ans.Settled != "" {
		return ans.Settled
	}
	return cmp.Or(ans.By, audit.Human) + ": " + ans.String()
}

// Refusal returns the text for a model whose call the human refused for that reason.
func Refusal(reason string) string {
	if reason == "" {
		return "The user said no. Don't try it another way; ask what to do instead."
	}
	return "The user said no: " + reason
}

// Settle closes an agent's open questions, inside the transaction that leaves nothing to answer.
func (qs *Questions) Settle(tx *store.Tx, agent int64, why string) error {
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

// Review answers the open questions that rules answer now. The mode does not matter: a change of it answers none. A rule
// never allows a command that the human changed: they have not said yes to it yet.
func (qs *Questions) Review(ctx context.Context) error {
	answers := map[int64]event.Answer{}
	for _, q := range qs.approvals() {
		switch v := qs.gate.Again(q.Action); v.Decision {
		case permission.Allow:
			if q.Was != "" {
				continue
			}
			answers[q.ID] = event.Answer{Choice: permission.Once, Settled: "a rule allows it"}
		case permission.Deny:
			answers[q.ID] = event.Answer{Choice: permission.No, Reason: v.Reason, Settled: "a rule refuses it"}
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
			if !ok || !qs.Trusted(row).Answered.IsZero() {
				continue
			}
			if err := qs.Reply(tx, row, ans, inbox.BySettle); err != nil {
				return err
			}
		}
		return nil
	})
}

// approvals returns the open questions whether a call may run.
func (qs *Questions) approvals() (open []event.Question) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for _, k := range qs.open {
		if k.q.Asks == nil {
			open = append(open, k.q)
		}
	}
	return open
}

// Asked returns the question that a message represents. It returns an error if there is none; the error wraps
// ErrAnswered if the question has ended.
func (qs *Questions) Asked(ctx context.Context, message int64) (event.Question, error) {
	var q event.Question
	err := qs.db.Read(ctx, func(rx *store.Rx) error {
		row, ok, err := rx.ApprovalOf(message)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("#%d is no question that you could answer; /inbox lists what is", message)
		}
		var waits bool
		if q, _, waits = qs.waiting(row.ID); !waits && !row.Answered.IsZero() {
			return fmt.Errorf("#%d: %w", message, event.HowEnded(row, qs.now()))
		}
		name, _, err := rx.AgentName(row.Agent)
		if err == nil && !waits {
			q, err = event.QuestionOf(row, name)
		}
		q.Name = name
		return err
	})
	return q, err
}
