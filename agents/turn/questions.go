package turn

import (
	"context"
	"time"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
)

// askHuman asks the human a question and returns the answer.
func (l *Loop) askHuman(ctx context.Context, q event.Question, by approval.Company) (event.Answer, error) {
	return l.o.Asks.Put(ctx, approval.Asker{
		ID: l.Agent.ID, Name: l.Agent.Known().Name, Outside: l.fixed.outside, Turn: l.own.turn, Agent: l.Agent, Keep: l.Keep,
	}, q, by)
}

// askPermission asks the human the question of v.
func (l *Loop) askPermission(ctx context.Context, c history.Call, act permission.Action, v permission.Verdict, by approval.Company) (event.Answer, error) {
	return l.askHuman(ctx, permissionQuestion(c, act, v), by)
}

// permissionQuestion returns the question of v.
func permissionQuestion(c history.Call, act permission.Action, v permission.Verdict) event.Question {
	if act.Sensitive == "" {
		act.Sensitive = v.Secret
	}
	return event.Question{Question: permission.Question{Call: c.ID, Action: act, Rule: v.Rule, Auto: v.Auto, Edits: v.Edits, Again: v.Changed}}
}

// askUser carries out a call of ask_user. The answer is its result.
func (l *Loop) askUser(ctx context.Context, c history.Call, call *tools.Call) error {
	if l.fixed.unattended {
		return l.Result(ctx, c, time.Now(), tools.Result{
			Error: true, Text: "nobody can answer here: decide yourself and say what you chose",
		})
	}
	q := event.Question{Question: permission.Question{Call: c.ID, Action: call.Action}, Asks: call.Asks}
	ans, err := l.askHuman(ctx, q, approval.Alone)
	if err != nil {
		return err
	}
	return l.Result(ctx, c, time.Now(), tools.Result{Text: "The user answered: " + ans.Text})
}

// textQuestion returns a question about a call that is answered with text.
func textQuestion(call, title string, q tools.Question) event.Question {
	return event.Question{Question: permission.Question{Call: call, Action: permission.Action{Title: title}}, Asks: &q}
}

// askText asks a question that is answered with text, and returns the text.
func (l *Loop) askText(ctx context.Context, q event.Question, by approval.Company) (string, error) {
	ans, err := l.askHuman(ctx, q, by)
	return ans.Text, err
}

// askForProgram asks a question of a program that works on a call. It is not asked again after a
// restart, because the program has then lost it.
func (l *Loop) askForProgram(ctx context.Context, call, title string, q tools.Question) (string, error) {
	return l.askText(ctx, textQuestion(call+event.Inquiring, title, q), approval.Beside)
}

// Ask asks a question of an engine. The engine's program may end before there is an answer.
func (l *Loop) Ask(ctx context.Context, call, title string, q tools.Question) (string, error) {
	ask := textQuestion(call, title, q)
	ask.Abroad = true
	return l.askText(ctx, ask, approval.Alone)
}
