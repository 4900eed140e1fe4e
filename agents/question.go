package agents

import (
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

func (settledError) Error() string        { return "it is not open any more" }
func (settledError) Is(target error) bool { return target == ErrAnswered }

// errParked ends an agent's loop but not its turn: the program closes while a
// question is open, and the next start goes on from there.
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
