package turn

import (
	"context"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/kept"
	"fantail/agents/questions"
	"fantail/tools"
	"fantail/tools/permit"
)

// carries runs a call. What its command changes of what is protected is asked about before anything else runs.
func (w *workbench) carries(ctx context.Context, c history.Call, call *tools.Call) (tools.Result, error) {
	runs := func() tools.Result { return w.runs(c, func() tools.Result { return call.Run(ctx) }) }
	if call.Leave == nil || call.Leave.Free || !w.o.boxed() {
		return runs(), nil
	}
	mail, err := w.o.Post(w.ID, w.turn)
	if err != nil {
		return tools.Result{Text: "bash: " + err.Error(), Error: true}, nil
	}
	defer mail.Close()
	call.Leave.Mail = mail.Dir
	if w.o.Kept == nil {
		return runs(), nil
	}
	end, err := w.o.Kept.Begin(ctx, call.Leave.Write)
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case err != nil:
		return tools.Result{Text: "bash: " + err.Error(), Error: true}, nil
	}
	r := runs()
	if found := end(); found != nil {
		return w.tampered(ctx, c, call, r, found)
	}
	return r, nil
}

// tampered asks whether what a command changed stays; without an answer it does not.
func (w *workbench) tampered(ctx context.Context, c history.Call, call *tools.Call, r tools.Result, f *kept.Found) (tools.Result, error) {
	answer := event.Answer{Choice: permit.No}
	if !w.unattended && w.Kind.Nature().Asks {
		act := call.Action
		act.Kind, act.Diff = permit.Tamper, f.Diff
		c.ID += event.Tampering
		v := permit.Verdict{Changed: "it " + f.Says() + ", which programs of yours run or obey by themselves"}
		var err error
		if answer, err = w.allowed(ctx, c, act, v, questions.Alone); err != nil {
			return told(r, f.Undone()), err
		}
	}
	if answer.Choice == permit.No {
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
