package turn

import (
	"context"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/questions"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/sandbox"
)

// mostWider is how often one call runs again with more than its sandbox let it do before.
const mostWider = 4

// widened asks the human to give a command what its sandbox kept it from, and runs it again with that. It returns the
// result of the last run.
func (w *workbench) widened(ctx context.Context, c history.Call, call *tools.Call, r tools.Result) (tools.Result, error) {
	for n := 0; n < mostWider && r.Refused != nil && ctx.Err() == nil; n++ {
		act := call.Action
		act.Kind, act.Wants = permit.Widen, r.Refused.Rule
		v := w.o.Gate.Decide(act)
		switch {
		case v.Decision == permit.Deny:
			return r, nil
		case v.Decision == permit.AskHuman && (w.unattended || !w.Kind.Nature().Asks):
			return told(r, "nobody is here to be asked; a rule in the configuration can add "+string(r.Refused.Rule)), nil
		case v.Decision == permit.AskHuman:
			v.Changed = "its sandbox kept it from " + r.Refused.Says + "; a yes adds that, and it runs again"
			again := c
			again.ID += event.Widening // an answer to this is none to whether it may run at all
			answer, err := w.allowed(ctx, again, act, v, questions.Alone)
			if err != nil {
				return tools.Result{}, err // the next start asks again
			}
			if answer.Choice == permit.No {
				return told(r, questions.Refusal(answer.Reason)), nil
			}
		}
		adds := r.Refused.Rule.Adds(w.o.Root)
		call.Leave.Write, call.Leave.Network = append(call.Leave.Write, adds.Write...), call.Leave.Network || adds.Network
		if now := w.o.Gate.Decide(call.Action); now.Free {
			call.Leave.Free = true // the mode became yolo meanwhile
		}
		var err error
		if r, err = w.carries(ctx, c, call); err != nil {
			return r, err
		}
	}
	return r, nil
}

// told is the result with a note for the model.
func told(r tools.Result, note string) tools.Result {
	r.Text = strings.TrimRight(r.Text, "\n") + "\n[" + note + "]"
	return r
}

// box makes the sandbox of one of the agent's commands.
func (w *workbench) box(leave sandbox.Leave) (*sandbox.Box, error) {
	return w.o.Box(sandbox.Command, leave, w.env.Environ)
}
