package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// Question is what an agent asks the human: whether a call may run, or what its
// ask_user asks. It is a row before the agent shows that it asks, and stays open
// until it is answered or nothing is left to answer, whatever becomes of the
// program meanwhile.
type Question struct {
	permit.Question
	Asks    *tools.Question // nil: whether the call may run
	Outside bool            // it comes of work that was asked for outside of the program
	Message int64           // its message in the inbox of the nearest agent above with a prompt box; 0: it has one itself
	Since   time.Time
}

// Answer is the human's answer to a question, or what takes its place.
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

func (settledError) Error() string { return "it is not open any more" }

func (settledError) Is(target error) bool { return target == ErrAnswered }

// Kinds of a question's row.
const (
	AskApproval = "approval"
	AskQuestion = "question"
)

// QuestionRow is a question as its row keeps it.
type QuestionRow struct {
	Action  permit.Action   `json:"action"`
	Rule    permit.Rule     `json:"rule,omitempty"`
	Again   string          `json:"again,omitempty"` // as permit.Question's
	Asks    *tools.Question `json:"asks,omitempty"`
	Outside bool            `json:"outside,omitempty"`
	Beside  bool            `json:"beside,omitempty"` // calls of the same reply may run beside it
}

// Suits refuses an answer that does not belong to the question.
func (ans Answer) Suits(d QuestionRow) error {
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

// QuestionOf is a question as its row keeps it.
func QuestionOf(row store.Approval, name string) (Question, error) {
	var d QuestionRow
	if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
		return Question{}, fmt.Errorf("read question %d: %w", row.ID, err)
	}
	return Question{
		Question: permit.Question{ID: row.ID, Agent: row.Agent, Name: name, Call: row.Call, Action: d.Action, Rule: d.Rule, Again: d.Again},
		Asks:     d.Asks, Outside: d.Outside, Message: row.Message, Since: row.Created,
	}, nil
}

// AnswerOf is the answer that a row keeps. One that can't be read is none of the
// human's.
func AnswerOf(row store.Approval) Answer {
	var ans Answer
	if err := json.Unmarshal([]byte(row.Answer), &ans); err != nil {
		return Answer{Settled: "the answer can't be read"}
	}
	return ans
}

// HowEnded says how a question ended, and when.
func HowEnded(row store.Approval, now time.Time) error {
	ans, ago := AnswerOf(row), inbox.Age(now.Sub(row.Answered))
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

// Letter is what stands for a question in an inbox: what is asked in a line,
// and whole. Nothing but its answer takes it.
func (q Question) Letter(to int64) inbox.Message {
	m := inbox.Message{
		Recipient: to, Sender: q.Agent, Kind: inbox.Approval, Deliver: inbox.Hold, Priority: inbox.High,
		Subject: history.Fit(q.Action.Title, history.MostSubject), Body: history.Fit(q.whole(), inbox.MaxBody),
	}
	if q.Asks != nil {
		m.Kind, m.Subject = inbox.Question, history.Fit(q.Gist(), history.MostSubject)
	}
	if q.Outside {
		m.Tags = []string{"outside"}
	}
	return m
}

// whole is all of a question.
func (q Question) whole() string {
	if q.Asks != nil {
		return q.options()
	}
	act := q.Action
	var parts []string
	if act.Command == "" {
		parts = append(parts, strings.Join(append([]string{act.Title}, act.Paths...), "\n"))
	} else {
		parts = append(parts, act.Command, "in "+act.Dir)
	}
	if act.Outside {
		parts = append(parts, "outside the workspace")
	}
	if act.Sensitive != "" {
		parts = append(parts, "sensitive: "+act.Sensitive)
	}
	if q.Again != "" {
		parts = append(parts, q.Again)
	}
	if act.Diff != "" {
		parts = append(parts, act.Diff)
	}
	if q.Rule != "" {
		parts = append(parts, "for this session: "+string(q.Rule))
	}
	return strings.Join(parts, "\n\n")
}

// Gist is a question in a line that a terminal shows as it is.
func (q Question) Gist() string {
	if q.Asks != nil {
		return inbox.Label(q.Asks.Text)
	}
	return q.Action.Title
}

// options is a question of ask_user with what it offers.
func (q Question) options() string {
	s := q.Asks.Text
	for n, o := range q.Asks.Options {
		if n == 0 {
			s += "\n"
		}
		s += fmt.Sprintf("\n%d. %s", n+1, o.Label)
		if o.Why != "" {
			s += " · " + o.Why
		}
	}
	if q.Asks.Multiple {
		s += "\n\nSeveral may be chosen."
	}
	return s
}
