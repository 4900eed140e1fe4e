package turn

import (
	"context"
	"strings"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// maxWider limits how many times one call runs again with more permissions.
const maxWider = 4

// widen asks the human to grant a command what its sandbox refused, and runs it again with that. It
// returns the result of the last run.
func (l *Loop) widen(ctx context.Context, c history.Call, call *tools.Call, r tools.Result) (tools.Result, error) {
	for n := 0; n < maxWider && r.Refused != nil && ctx.Err() == nil; n++ {
		act := call.Action
		act.Kind, act.Wants = permission.Widen, r.Refused.Rule
		v := l.o.Gate.Decide(act)
		switch {
		case v.Decision == permission.Deny:
			return r, nil
		case v.Decision == permission.AskHuman && (l.fixed.unattended || !l.Agent.Kind.Nature().Asks):
			return told(r, "nobody is here to be asked; a rule in the configuration can add "+string(r.Refused.Rule)), nil
		case v.Decision == permission.AskHuman:
			v.Changed = "its sandbox kept it from " + r.Refused.Says + "; a yes adds that, and it runs again"
			again := c
			again.ID += event.Widening // an answer to this does not answer whether the call may run at all
			answer, err := l.askPermission(ctx, again, act, v, approval.Alone)
			if err != nil {
				return tools.Result{}, err // the next start asks again
			}
			if answer.Choice == permission.No {
				return told(r, approval.Refusal(answer.Reason)), nil
			}
		}
		adds := r.Refused.Rule.Adds(l.o.Root)
		call.Leave.Write, call.Leave.Network = append(call.Leave.Write, adds.Write...), call.Leave.Network || adds.Network
		if now := l.o.Gate.Decide(call.Action); now.Free {
			call.Leave.Free = true // the mode became yolo meanwhile
		}
		var err error
		if r, err = l.execute(ctx, c, call); err != nil {
			return r, err
		}
	}
	return r, nil
}

// told returns the result with a note for the model.
func told(r tools.Result, note string) tools.Result {
	r.Text = strings.TrimRight(r.Text, "\n") + "\n[" + note + "]"
	return r
}

// makeBox makes the sandbox of one of the agent's commands.
func (l *Loop) makeBox(leave sandbox.Leave) (*sandbox.Box, error) {
	return l.o.Box(sandbox.Command, leave, l.own.env.Environ)
}
