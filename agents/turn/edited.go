package turn

import (
	"context"
	"encoding/json"
	"fmt"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
)

// askToRun asks the human whether a call may run. If they change its command, the changed one is judged as if the model
// had asked for it, and asked about in its place, even if a rule or the mode would allow it. One that is refused is
// asked about no more: the question before it is asked again, with the refused text and the reason. askToRun replaces
// said, call and v by what the answer is about.
func (l *Loop) askToRun(ctx context.Context, said *history.Call, call *tools.Call, v *permission.Verdict, by approval.Company) (event.Answer, error) {
	was, draft, why := call.Action.Command, "", ""
	for {
		q := permissionQuestion(*said, call.Action, *v)
		q.Editable = q.Action.Kind == permission.Command && q.Action.Tool == "bash"
		q.Was = call.Was
		if q.Draft = draft; draft != "" {
			q.Again = "your change may not run: " + why
		}
		answer, err := l.askHuman(ctx, q, by)
		if err != nil || answer.Choice != permission.Edited {
			return answer, err
		}
		draft = ""
		if why, err = l.change(ctx, said, call, v, answer.Command); err != nil {
			return answer, err
		}
		if why != "" {
			draft = answer.Command
			continue
		}
		if call.Was = was; call.Action.Command == was {
			call.Was = "" // the human took the change back
		}
	}
}

// change replaces the command of a call. If the gate or a hook refuses the new one, it returns the reason and changes
// nothing.
func (l *Loop) change(ctx context.Context, said *history.Call, call *tools.Call, v *permission.Verdict, command string) (why string, err error) {
	given := map[string]json.RawMessage{}
	_ = json.Unmarshal(said.Args, &given) // it was parsed before
	args := map[string]any{"command": command}
	if seconds, ok := given["timeout"]; ok {
		args["timeout"] = seconds
	}
	other := *said
	if other.Args, err = json.Marshal(args); err != nil {
		return "", fmt.Errorf("change a command: %w", err)
	}
	other.Title = l.fixed.tools.Title(other.Name, other.Args)
	is, err := l.parse(other)
	if err != nil {
		return err.Error(), nil
	}
	now, err := l.judge(ctx, &other, is)
	if err != nil || now.Decision == permission.Deny {
		return now.Reason, err
	}
	*said, *call, *v = other, *is, now
	return "", nil
}

// withChange returns a result that tells the model how the human changed the command.
func withChange(call *tools.Call, r tools.Result) tools.Result {
	if call.Was != "" {
		r.Title = call.Action.Title
		r.Text = fmt.Sprintf("[The user changed the command to: %s\nThe command before the change: %s]\n%s", call.Action.Command, call.Was, r.Text)
	}
	return r
}
