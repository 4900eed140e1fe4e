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
	"fantail/tools/permission"
)

// Question is what an agent asks the human: whether a call may run, or what its ask_user tool asks. Its row is written
// before the agent shows that it asks. It stays open, across restarts, until it is answered or there is nothing left
// to answer.
type Question struct {
	permission.Question
	Asks    *tools.Question // nil: asks whether the call may run
	Outside bool            // it comes from work requested from outside the program
	Abroad  bool            // another vendor's agent asks it, whose program may end before there is an answer
	Message int64           // its message, in the inbox of the nearest agent above with a prompt box; 0: none
	Since   time.Time
}

// Answer is the human's answer to a question, or what settled it instead.
type Answer struct {
	Choice  permission.Choice `json:"choice,omitempty"`  // whether the call may run
	Reason  string            `json:"reason,omitempty"`  // told to the model with a No
	Text    string            `json:"text,omitempty"`    // to ask_user
	Command string            `json:"command,omitempty"` // with an Edited: the human's command
	Settled string            `json:"settled,omitempty"` // what ended the question without the human; "": they answered
	By      string            `json:"by,omitempty"`      // the human who answered, by the audit's name; "": unknown
}

// ErrAnswered: the human has already answered the question. ErrSettled, which is also an ErrAnswered: there is nothing
// left to answer. The error's text says how and when.
var (
	ErrAnswered = errors.New("it was answered already")
	ErrSettled  = settledError{}
)

type settledError struct{}

func (settledError) Error() string { return "it is not open any more" }

func (settledError) Is(target error) bool { return target == ErrAnswered }

// Widening ends the call id of a question that asks what its command may do beyond its sandbox: an answer to it does
// not say whether the call may run.
const Widening = "+sandbox"

// Repeating ends the call id of a question whether a call may run once more, when the same call repeats again and
// again.
const Repeating = "+again"

// Inquiring ends the call id of a question from a program that works on the call.
const Inquiring = "+asks"

// Spending ends what takes the place of a call id in a question whether more may be used than a budget allows.
const Spending = "+budget"

// Tampering ends the call id of a question whether the files that its command changed stay changed.
const Tampering = "+kept"

// Kinds of a question's row.
const (
	AskApproval = "approval"
	AskQuestion = "question"
)

// QuestionRow is the JSON in a question's row.
type QuestionRow struct {
	Action  permission.Action `json:"action"`
	Rule    permission.Rule   `json:"rule,omitempty"`
	Again   string            `json:"again,omitempty"` // see permit.Question
	Was     string            `json:"was,omitempty"`   // see permit.Question
	Asks    *tools.Question   `json:"asks,omitempty"`
	Outside bool              `json:"outside,omitempty"`
	Beside  bool              `json:"beside,omitempty"` // other calls of the same reply may run concurrently with it
	Abroad  bool              `json:"abroad,omitempty"` // see Question
}

// Suits refuses an answer that does not fit the question.
func (ans Answer) Suits(d QuestionRow) error {
	switch {
	case d.Asks != nil && ans.Text == "":
		return errors.New("the answer is missing")
	case d.Asks != nil:
		return nil
	case ans.Choice == permission.Edited && (d.Action.Kind != permission.Command || d.Abroad):
		return errors.New("only a command can be changed: yes lets this run once, no refuses it")
	case ans.Choice == permission.Edited && strings.TrimSpace(ans.Command) == "":
		return errors.New("the changed command is empty")
	case ans.Choice == permission.Edited:
		return nil
	case ans.Choice == permission.Session && d.Rule == "":
		return errors.New("no rule can cover this call for the session: yes lets it run once, no refuses it")
	case ans.Choice == permission.Project && d.Rule == "":
		return errors.New("no rule can cover this call for the project: yes lets it run once, no refuses it")
	case ans.Choice != permission.Once && ans.Choice != permission.Session && ans.Choice != permission.Project && ans.Choice != permission.No:
		return errors.New("a call waits for yes, session, project or no")
	}
	return nil
}

// QuestionOf reads a question from its row.
func QuestionOf(row store.Approval, name string) (Question, error) {
	var d QuestionRow
	if err := json.Unmarshal([]byte(row.Data), &d); err != nil {
		return Question{}, fmt.Errorf("read question %d: %w", row.ID, err)
	}
	return Question{
		Question: permission.Question{
			ID: row.ID, Agent: row.Agent, Name: name,
			Call: row.Call, Action: d.Action, Rule: d.Rule, Again: d.Again, Was: d.Was,
		},
		Asks: d.Asks, Outside: d.Outside, Abroad: d.Abroad, Message: row.Message, Since: row.Created,
	}, nil
}

// AnswerOf reads the answer from a question's row. One that can't be read counts as not the human's.
func AnswerOf(row store.Approval) Answer {
	var ans Answer
	if err := json.Unmarshal([]byte(row.Answer), &ans); err != nil {
		return Answer{Settled: "the answer can't be read"}
	}
	return ans
}

// HowEnded returns an error that says how a question ended, and how long ago.
func HowEnded(row store.Approval, now time.Time) error {
	ans, ago := AnswerOf(row), inbox.Age(now.Sub(row.Answered))
	if ans.Settled != "" {
		return fmt.Errorf("%w: %s, %s ago", ErrSettled, ans.Settled, ago)
	}
	by := ""
	if ans.By != "" {
		by = ", by " + ans.By
	}
	return fmt.Errorf("%w: %s%s, %s ago", ErrAnswered, ans, by, ago)
}

// String returns the answer in a few words.
func (ans Answer) String() string {
	switch ans.Choice {
	case permission.Once:
		return "yes"
	case permission.Session:
		return "yes, for this session"
	case permission.Project:
		return "yes, always in this project"
	case permission.No:
		if ans.Reason != "" {
			return "no: " + llm.Clip(ans.Reason, 80)
		}
		return "no"
	case permission.Edited:
		return "changed the command to: " + ans.Command
	}
	return llm.Clip(ans.Text, 80)
}

// Letter returns the message that represents the question in an inbox: a one-line subject and the whole question as its
// body. Only an answer takes it.
func (q Question) Letter(to int64) inbox.Message {
	m := inbox.Message{
		Recipient: to, Sender: q.Agent, Kind: inbox.Approval, Deliver: inbox.Hold, Priority: inbox.High,
		Subject: history.Fit(q.Action.Title, history.MaxSubject), Body: history.Fit(q.whole(), inbox.MaxBody),
	}
	if q.Asks != nil {
		m.Kind, m.Subject = inbox.Question, history.Fit(q.Gist(), history.MaxSubject)
	}
	if q.Outside {
		m.Tags = []string{"outside"}
	}
	return m
}

// whole returns the full text of the question.
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
	if q.Was != "" {
		parts = append(parts, "as the user changed it; the agent asked for:\n"+q.Was)
	}
	if act.Input != "" {
		parts = append(parts, act.Input)
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

// Gist returns the question in one line that is safe to print to a terminal.
func (q Question) Gist() string {
	if q.Asks != nil {
		return inbox.Label(q.Asks.Text)
	}
	return q.Action.Title
}

// options returns a question of ask_user with its options.
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
