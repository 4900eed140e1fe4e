package turn

import (
	"context"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/questions"
	"fantail/tools"
	"fantail/tools/permit"
)

// asker is a working agent as the questions' desk sees it.
type asker struct{ *workbench }

var _ questions.Asker = asker{}

// Asker says who asks.
func (a asker) Asker() (agent int64, name string, outside bool) {
	return a.ID, a.Known().Name, a.outside
}

// Asks shows the question.
func (a asker) Asks(q *event.Question) { a.Asking(q) }

// allowed puts the question of v to the human.
func (w *workbench) allowed(ctx context.Context, c history.Call, act permit.Action, v permit.Verdict, by questions.Company) (event.Answer, error) {
	if act.Sensitive == "" {
		act.Sensitive = v.Secret
	}
	q := event.Question{Question: permit.Question{Call: c.ID, Action: act, Rule: v.Rule, Auto: v.Auto, Again: v.Changed}}
	return w.o.Asks.Put(ctx, asker{w}, q, by)
}

// asksUser carries out a call of ask_user: the answer is its result.
func (w *workbench) asksUser(ctx context.Context, c history.Call, call *tools.Call) error {
	if w.unattended {
		return w.result(ctx, c, time.Now(), tools.Result{
			Error: true, Text: "nobody can answer here: decide yourself and say what you chose",
		})
	}
	q := event.Question{Question: permit.Question{Call: c.ID, Action: call.Action}, Asks: call.Asks}
	ans, err := w.o.Asks.Put(ctx, asker{w}, q, questions.Alone)
	if err != nil {
		return err
	}
	return w.result(ctx, c, time.Now(), tools.Result{Text: "The user answered: " + ans.Text})
}
