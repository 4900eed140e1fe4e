package turn

import (
	"context"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
)

// execute runs a call. If its command changes protected files, the human is asked before anything
// else runs.
func (l *Loop) execute(ctx context.Context, c history.Call, call *tools.Call) (tools.Result, error) {
	runs := func() tools.Result { return l.showRunning(c, func() tools.Result { return call.Run(ctx) }) }
	if call.Leave == nil || call.Leave.Free || !l.o.boxed() {
		return runs(), nil
	}
	mail, err := l.o.Post(l.Agent.ID, l.own.turn)
	if err != nil {
		return tools.Result{Text: "bash: " + err.Error(), Error: true}, nil
	}
	defer mail.Close()
	call.Leave.Mail = mail.Dir
	if l.o.Kept == nil {
		return runs(), nil
	}
	end, err := l.o.Kept.Begin(ctx, call.Leave.Write)
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case err != nil:
		return tools.Result{Text: "bash: " + err.Error(), Error: true}, nil
	}
	r := runs()
	if found := end(); found != nil {
		return l.askAboutChanges(ctx, c, call, r, found)
	}
	return r, nil
}

// askAboutChanges asks whether a command's changes stay. Without an answer they are undone.
func (l *Loop) askAboutChanges(ctx context.Context, c history.Call, call *tools.Call, r tools.Result, f *ProtectedFound) (tools.Result, error) {
	answer := event.Answer{Choice: permission.No}
	if !l.fixed.unattended && l.Agent.Kind.Nature().Asks {
		act := call.Action
		act.Kind, act.Diff = permission.Tamper, f.Diff
		c.ID += event.Tampering
		v := permission.Verdict{Changed: "it " + f.Says() + ", which programs of yours run or obey by themselves"}
		var err error
		if answer, err = l.askPermission(ctx, c, act, v, approval.Alone); err != nil {
			return told(r, f.Undone()), err
		}
	}
	if answer.Choice == permission.No {
		return told(r, f.Undone()+because(answer.Reason)), nil
	}
	if err := f.Keep(); err != nil {
		return told(r, err.Error()), nil
	}
	return told(r, "it "+f.Says()+", and the user let that stay"), nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return "; the user says: " + reason
}
