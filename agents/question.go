package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// Question is what an agent asks the human: whether a call may run, or what its
// ask_user asks. It is a row before the agent stands as asking, and stays open
// until it is answered or nothing is left to answer, whatever becomes of the
// program meanwhile.
type Question struct {
	permit.Question
	Asks    *tools.Question // nil: whether the call may run
	Outside bool            // it comes of work that was asked for outside of the program
	Message int64           // what stands for it in the inbox of the nearest agent above with a prompt box; 0: it has one itself
	Since   time.Time
}

// Answer is the human's answer to a question, or what stands for it.
type Answer struct {
	Choice  permit.Choice `json:"choice,omitempty"`  // whether the call may run
	Reason  string        `json:"reason,omitempty"`  // goes to the model with a No
	Text    string        `json:"text,omitempty"`    // to ask_user
	Settled string        `json:"settled,omitempty"` // what ended the question without the human; "": they answered
}

// ErrAnswered: the human has answered a question already. ErrSettled, which is an
// ErrAnswered too: nothing is left to answer. The text says how and when.
var (
	ErrAnswered = errors.New("it was answered already")
	ErrSettled  = settledError{}
)

type settledError struct{}

func (settledError) Error() string        { return "it is not open any more" }
func (settledError) Is(target error) bool { return target == ErrAnswered }

// errParked ends an agent's loop and not its turn: the program is closed while a
// question stands, and the next start goes on from there.
var errParked = errors.New("it waits for an answer")

// Kinds of a question's row.
const (
	askApproval = "approval"
	askQuestion = "question"
)

// asked is a question as its row keeps it.
type asked struct {
	Action  permit.Action   `json:"action"`
	Rule    permit.Rule     `json:"rule,omitempty"`
	Again   string          `json:"again,omitempty"` // as permit.Question's
	Asks    *tools.Question `json:"asks,omitempty"`
	Outside bool            `json:"outside,omitempty"`
	Beside  bool            `json:"beside,omitempty"` // calls of the same reply may run beside it
}

// ask is a question that stands.
type ask struct {
	a      *agent
	q      Question
	answer chan Answer
}

// allowed puts the question of v to the human.
func (a *agent) allowed(ctx context.Context, c Call, act permit.Action, v permit.Verdict, beside bool) (Answer, error) {
	return a.put(ctx, Question{Question: permit.Question{Call: c.ID, Action: act, Rule: v.Rule, Again: v.Changed}}, beside)
}

// asksUser carries out a call of ask_user: the answer is its result.
func (a *agent) asksUser(ctx context.Context, c Call, call *tools.Call) error {
	if !a.p.o.Attended {
		return a.result(ctx, c, time.Now(), tools.Result{Error: true, Text: "nobody can answer here: decide yourself and say what you chose"})
	}
	ans, err := a.put(ctx, Question{Question: permit.Question{Call: c.ID, Action: call.Action}, Asks: call.Asks}, false)
	if err != nil {
		return err
	}
	return a.result(ctx, c, time.Now(), tools.Result{Text: "The user answered: " + ans.Text})
}

// put puts a question to the human and returns the answer. The agent stands in
// state asking without a slot until it has one. An agent has one question at a
// time: calls that run side by side can come to ask when the mode changes
// meanwhile. That a call was let run is noted before it does, so that no start of
// the program lets it run again.
func (a *agent) put(ctx context.Context, q Question, beside bool) (ans Answer, err error) {
	if beside {
		select {
		case a.asking <- struct{}{}:
			defer func() { <-a.asking }()
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // the turn was stopped while a neighbour's question stood
			return ans, context.Cause(ctx)
		}
	}
	a.p.mu.Lock()
	q.Agent, q.Name, q.Outside = a.id, a.info.Name, a.strict
	a.p.mu.Unlock()
	k, ok := a.again(&q, &ans)
	if k == nil && !ok {
		if k, err = a.pose(ctx, q, beside); err != nil {
			return ans, err
		}
		q.ID = k.q.ID
	}
	if !ok {
		if ans, err = a.hear(ctx, k); err == nil {
			err = a.regain(ctx)
		}
		if errors.Is(err, errClosing) && !beside {
			err = errParked
		}
		if err != nil {
			return ans, err
		}
	}
	if ans.Choice == permit.Once || ans.Choice == permit.Session {
		err = a.keep(ctx, "act on an answer", func(tx *store.Tx) error {
			_, err := tx.ActApproval(q.ID)
			return err
		})
	}
	return ans, err
}

// again takes up the question that stood for this call when the program ended:
// true with its answer if that was given before, else with the question standing.
func (a *agent) again(q *Question, ans *Answer) (*ask, bool) {
	row := a.stood
	if row == nil || row.Call != q.Call {
		return nil, false
	}
	a.stood = nil
	q.ID, q.Message, q.Since = row.ID, row.Message, row.Created
	if !row.Answered.IsZero() {
		*ans = answerOf(*row)
		return nil, true
	}
	k := a.stand(*q)
	// Whoever answered before it stood found nobody to tell.
	now, err := a.p.approval(row.ID)
	if err == nil && !now.Answered.IsZero() {
		a.p.deliver(row.ID, answerOf(now))
	}
	return k, false
}

// hear waits for the answer to k.
func (a *agent) hear(ctx context.Context, k *ask) (ans Answer, err error) {
	select {
	case ans = <-k.answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	delete(a.p.asks, k.q.ID)
	a.change(func(i *Info) {
		if i.Question = nil; err == nil {
			i.State, i.Why = Waiting, "waiting for a slot"
		}
	})
	a.p.told()
	return ans, err
}

// pose writes a question down, and the message that stands for it, and lets it
// stand.
func (a *agent) pose(ctx context.Context, q Question, beside bool) (*ask, error) {
	data, err := json.Marshal(asked{q.Action, q.Rule, q.Again, q.Asks, q.Outside, beside})
	if err != nil {
		return nil, fmt.Errorf("write down a question: %w", err)
	}
	var k *ask
	err = a.keep(ctx, "ask the human", func(tx *store.Tx) error {
		q := q
		row := store.Approval{Agent: a.id, Turn: a.turn, Call: q.Call, Kind: askApproval, Data: string(data)}
		if q.Asks != nil {
			row.Kind = askQuestion
		}
		to, err := above(tx, a.id)
		if err == nil && to != a.id {
			row.Message, err = a.p.inbox.Add(tx, q.message(to))
		}
		if err != nil {
			return err
		}
		if q.ID, err = tx.AddApproval(row); err != nil {
			return err
		}
		q.Message, q.Since = row.Message, tx.Now()
		tx.AfterCommit(func() { k = a.stand(q) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The mode may have changed before it stood. It stays open if that can't be
	// written down.
	_ = a.p.review(context.WithoutCancel(ctx))
	return k, nil
}

// stand lets a question stand until it is answered.
func (a *agent) stand(q Question) *ask {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	k := &ask{a: a, q: q, answer: make(chan Answer, 1)}
	a.p.asks[q.ID] = k
	a.change(func(i *Info) { i.State, i.Doing, i.Question = Asking, "", &k.q })
	a.p.letGo(a)
	a.p.told()
	return k
}

// above is the nearest agent from that one upwards whom the human talks to.
func above(tx *store.Tx, id int64) (int64, error) {
	for {
		a, ok, err := tx.Agent(id)
		if err != nil || !ok {
			return 0, errors.Join(err, store.Missing(ok, "agent %d", id))
		}
		if Kind(a.Kind).HasPrompt() {
			return id, nil
		}
		id = a.Parent
	}
}

// Answer answers a question, for the human. The first answer wins: the error of
// a later one is ErrAnswered. A rule that "for this session" adds also answers
// the other questions it covers.
func (p *Pool) Answer(ctx context.Context, question int64, ans Answer) error {
	ans.Settled = ""
	err := p.o.DB.Write(ctx, "answer a question", func(tx *store.Tx) error {
		row, ok, err := tx.Approval(question)
		switch {
		case err != nil || !ok:
			return errors.Join(err, store.Missing(ok, "question %d", question))
		case !row.Answered.IsZero():
			return howEnded(row, tx.Now())
		}
		var d asked
		if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
			return fmt.Errorf("read question %d: %w", question, err)
		}
		if err := ans.suits(d); err != nil {
			return err
		}
		if ans.Choice == permit.Session {
			// Before the answer is heard: the agent's next call is judged by it.
			tx.AfterCommit(func() { _ = p.o.Gate.Allow(d.Rule) }) // the gate offered it
		}
		return p.reply(tx, row, ans, inbox.ByAnswer)
	})
	if err == nil && ans.Choice == permit.Session {
		_ = p.review(ctx) // what can't be written down stays open for the human
	}
	return err
}

// suits refuses an answer that does not belong to the question.
func (ans Answer) suits(d asked) error {
	switch {
	case d.Asks != nil && ans.Text == "":
		return errors.New("the answer is missing")
	case d.Asks != nil:
		return nil
	case ans.Choice == permit.Session && d.Rule == "":
		return errors.New("no rule can cover this call for the session: yes lets it run once, no refuses it")
	case ans.Choice != permit.Once && ans.Choice != permit.Session && ans.Choice != permit.No:
		return errors.New("a call waits for yes, session or no")
	}
	return nil
}

// reply ends a question and its message, inside tx, and tells the agent once
// that is so. The caller has seen that it is open.
func (p *Pool) reply(tx *store.Tx, row store.Approval, ans Answer, by string) error {
	data, err := json.Marshal(ans)
	if err != nil {
		return fmt.Errorf("write down an answer: %w", err)
	}
	if _, err := tx.AnswerApproval(row.ID, string(data)); err != nil {
		return err
	}
	if row.Message != 0 {
		if err := p.inbox.Answer(tx, row.Message, by); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { p.deliver(row.ID, ans) })
	return nil
}

// deliver hands an answer to the agent that waits for it, if one does.
func (p *Pool) deliver(question int64, ans Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.asks[question]; k != nil {
		delete(p.asks, question)
		k.answer <- ans
	}
}

// settle ends the open questions of an agent inside the transaction that leaves
// nothing to answer.
func (p *Pool) settle(tx *store.Tx, agent int64, why string) error {
	rows, err := tx.OpenApprovals(agent)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := p.reply(tx, row, Answer{Settled: why}, inbox.BySettle); err != nil {
			return err
		}
	}
	return nil
}

// SetMode changes the permission mode of all agents. Questions the new mode
// answers are answered; with an error they stay open.
func (p *Pool) SetMode(m permit.Mode) error {
	p.o.Gate.SetMode(m)
	p.mu.Lock()
	p.told()
	p.mu.Unlock()
	return p.review(p.ctx)
}

// review answers the questions the gate no longer has.
func (p *Pool) review(ctx context.Context) error {
	p.mu.Lock()
	var qs []Question
	for _, k := range p.asks {
		qs = append(qs, k.q)
	}
	p.mu.Unlock()
	answers := map[int64]Answer{}
	for _, q := range qs {
		if q.Asks != nil {
			continue
		}
		switch v := p.o.Gate.Decide(q.Action); v.Decision {
		case permit.Allow:
			answers[q.ID] = Answer{Choice: permit.Once, Settled: "the mode or a rule allows it"}
		case permit.Deny:
			answers[q.ID] = Answer{Choice: permit.No, Reason: v.Reason, Settled: "the mode refuses it"}
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return p.o.DB.Write(ctx, "settle questions", func(tx *store.Tx) error {
		for id, ans := range answers {
			row, ok, err := tx.Approval(id)
			if err != nil {
				return err
			}
			if !ok || !row.Answered.IsZero() {
				continue
			}
			if err := p.reply(tx, row, ans, inbox.BySettle); err != nil {
				return err
			}
		}
		return nil
	})
}

// Asked returns the question that a message stands for. An error says that it
// stands for none, or wraps ErrAnswered if it has ended.
func (p *Pool) Asked(ctx context.Context, message int64) (Question, error) {
	var q Question
	err := p.o.DB.Read(ctx, func(rx *store.Rx) error {
		row, ok, err := rx.ApprovalOf(message)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("#%d is no question that you could answer; /inbox lists what is", message)
		case !row.Answered.IsZero():
			return fmt.Errorf("#%d: %w", message, howEnded(row, p.o.Now()))
		}
		name, _, err := rx.AgentName(row.Agent)
		if err == nil {
			q, err = questionOf(row, name)
		}
		return err
	})
	return q, err
}

// questionOf is a question as its row keeps it.
func questionOf(row store.Approval, name string) (Question, error) {
	var d asked
	if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
		return Question{}, fmt.Errorf("read question %d: %w", row.ID, err)
	}
	return Question{
		Question: permit.Question{ID: row.ID, Agent: row.Agent, Name: name, Call: row.Call, Action: d.Action, Rule: d.Rule, Again: d.Again},
		Asks:     d.Asks, Outside: d.Outside, Message: row.Message, Since: row.Created,
	}, nil
}

// approval reads a question's row.
func (p *Pool) approval(id int64) (row store.Approval, err error) {
	err = p.o.DB.Read(context.WithoutCancel(p.ctx), func(rx *store.Rx) error {
		row, _, err = rx.Approval(id)
		return err
	})
	return row, err
}

// answerOf is the answer that a row keeps. One that can't be read is none of the
// human's.
func answerOf(row store.Approval) Answer {
	var ans Answer
	if err := json.Unmarshal([]byte(row.Answer), &ans); err != nil {
		return Answer{Settled: "the answer can't be read"}
	}
	return ans
}

// howEnded says how a question ended, and when.
func howEnded(row store.Approval, now time.Time) error {
	ans, ago := answerOf(row), inbox.Age(now.Sub(row.Answered))
	if ans.Settled != "" {
		return fmt.Errorf("%w: %s, %s ago", ErrSettled, ans.Settled, ago)
	}
	return fmt.Errorf("%w: %s, %s ago", ErrAnswered, ans, ago)
}

// String is the answer in a few words.
func (ans Answer) String() string {
	switch ans.Choice {
	case permit.Once:
		return "yes"
	case permit.Session:
		return "yes, for this session"
	case permit.No:
		if ans.Reason != "" {
			return "no: " + llm.Clip(ans.Reason, 80)
		}
		return "no"
	}
	return llm.Clip(ans.Text, 80)
}
