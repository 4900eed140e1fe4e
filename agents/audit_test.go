package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
)

// audited is the audit, a line each: whose, what, what decided, how it ended.
func (w *world) audited(of string) (lines []string) {
	w.T.Helper()
	r, err := w.Pool.Audit.Verify(context.Background())
	check(w.T, err)
	if r.Flaw != "" {
		w.T.Error(r.Flaw)
	}
	ls, err := w.Pool.Audit.List(context.Background(), audit.Wanted{Name: of, Limit: 10_000})
	check(w.T, err)
	for _, l := range ls {
		if l.What != audit.Begun && (l.What != audit.Mode || strings.Contains(l.Args, `"was"`)) { // else it only says what it begins with
			end := l.Outcome
			if l.Open {
				end = "no end"
			}
			lines = append(lines, strings.Join(strings.Fields(strings.ReplaceAll(
				fmt.Sprintf("%s %s %s %s | %s %s | %s", l.Name, l.What, l.Tool, l.Args, l.Decision, l.By, end), w.Dir, "DIR")), " "))
		}
	}
	return lines
}

func (w *world) wantAudit(of string, want ...string) {
	w.T.Helper()
	if got := w.audited(of); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.T.Errorf("the audit of %q says\n%s\nwant\n%s", of, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each call of each agent is a row with what decided about it and how it ended, however its result came about: at once,
// asked about, refused, taken with mail, by a sub-agent, as a plain command, or not at all.
//
// Spec: R-6, O-68.
func TestAudit_everyCall(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		verb, _, _ := strings.Cut(asked(req), " ")
		if rs := results(req); len(rs) > 0 && verb != "endless" {
			return text("done"), nil
		}
		switch verb {
		case "read":
			return append(call("r1", "read_file", `{"path":"a"}`), call("r2", "list_files", `{}`)...), nil
		case "take":
			return call("t1", "check", `{}`), nil
		case "write":
			return call("w1", "write_file", `{"path":"b","content":"the secret recipe"}`), nil
		case "again":
			return call("w2", "write_file", `{"path":"c","content":"x"}`), nil
		case "ask":
			return call("q1", "ask_user", `{"question":"which recipe?"}`), nil
		case "broken":
			return append(call("x1", "no_such_tool", `{"a":1}`), call("x2", "read_file", `{"path":7}`)...), nil
		case "give":
			return call("d1", "delegate", `{"prompt":"read it","name":"kid"}`), nil
		case "endless":
			return call("e1", "bash", `{"command":"echo begun; sleep 1000"}`), nil
		}
		return text("hi"), nil
	}}
	w := open(t, m, setting{Mode: permission.Ask})
	check(t, os.WriteFile(filepath.Join(w.Dir, "a"), []byte("1\n2\n3\n"), 0o600))
	do := func(prompt string) { w.Prompt(prompt); w.Settle() }
	do("read it")
	w.wantAudit("", `main call read_file {"path":"a"} | allowed reads in the workspace | ok`, `main call list_files {} | allowed reads in the workspace | ok`)
	_, err := w.Pool.Deposit(inbox.Message{Recipient: w.Main(), From: "ci", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "the build broke"})
	check(t, err)
	seen := len(w.audited(""))
	next := func(want ...string) {
		t.Helper()
		all := w.audited("")
		if got := all[seen:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the audit goes on\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		seen = len(all)
	}
	do("take it")
	next(`main call check {} | allowed stays inside the program | ok`)
	w.Prompt("write it")
	w.Answer(w.asks("main").ID, permission.Session)
	w.Settle()
	next(`main call write_file {"content":"(17 bytes)","path":"b"} | allowed the user, on a screen: yes, for this session | ok`,
		`main answer {"asked":"write b","rule":"write(b)"} | allowed the user, on a screen: yes, for this session |`)
	w.Prompt("again")
	w.Answer(w.asks("main").ID, permission.No, "not now")
	w.Settle()
	next(`main call write_file {"content":"(1 bytes)","path":"c"} | refused the user, on a screen: no: not now | error`,
		`main answer {"asked":"write c"} | refused the user, on a screen: no: not now |`)
	w.Prompt("ask me")
	check(t, w.Pool.Asks.Answer(t.Context(), w.asks("main").ID, event.Answer{Text: "the blue one"}))
	w.Settle()
	next(`main call ask_user {"question":"(13 bytes)"} | allowed asks the user | ok`, `main answer {"asked":"a question of its own"} | the user, on a screen |`)
	do("broken")
	next(`main call no_such_tool {"a":1} | | error`, `main call read_file {"path":7} | | error`)
	do("give")
	next(`main call delegate {"name":"kid","prompt":"(7 bytes)"} | allowed stays inside the program | ok`,
		`kid call read_file {"path":"a"} | allowed reads in the workspace | ok`, `kid call list_files {} | allowed reads in the workspace | ok`)
	check(t, w.Pool.SetMode(context.Background(), permission.Plan))
	do("again")
	next(`mode {"mode":"plan","was":"ask"} | the user, on a screen |`,
		`main call write_file {"content":"(1 bytes)","path":"c"} | refused plan mode is on: only reading is allowed. Describe what you would do; the user leaves plan mode to let you do it | refused`)
	check(t, w.Pool.SetMode(context.Background(), permission.Plan)) // it is
	check(t, w.Pool.SetMode(context.Background(), permission.Yolo))
	next(`mode {"mode":"yolo","was":"plan"} | the user, on a screen |`)
	w.Push("cmd", "!exit 3")
	w.Run(0)
	w.Settle()
	next(`cmd call bash {"command":"exit 3"} | allowed the user typed it | exit code 3`, `cmd stop | exit 3 | failed`)
	w.Prompt("endless")
	w.Output("main", "begun")
	next(`main call bash {"command":"echo begun; sleep 1000"} | allowed yolo mode | no end`)
	w.Pool.Stop(w.Main())
	w.Settle()
	seen--
	next(`main call bash {"command":"echo begun; sleep 1000"} | allowed yolo mode | stopped`, `main stop | stopped by the user | interrupted`)

	// No text stands there that the transcripts hold.
	text := fmt.Sprint(w.audited(""))
	for _, body := range []string{"recipe", "the build broke", "blue one", "read it"} {
		if strings.Contains(text, body) {
			t.Errorf("%q stands in the audit", body)
		}
	}
	// As many calls and results stand in the transcripts as in the audit.
	calls, ends := 0, 0
	for _, name := range []string{"main", "kid", "cmd"} {
		for _, e := range w.Entries(name) {
			if e.Kind == history.EntryCall {
				calls++
			}
			if e.Kind == history.EntryResult {
				ends++
			}
		}
	}
	rs, err := w.Pool.Audit.Records(t.Context(), audit.Wanted{Limit: 10_000})
	check(t, err)
	for _, r := range rs {
		switch r.What {
		case audit.Call:
			calls--
		case audit.Ended:
			ends--
		}
	}
	if calls != 0 || ends != 0 || len(rs) < 30 {
		t.Errorf("%d calls and %d ends are missing of %d rows", calls, ends, len(rs))
	}
}

// A call whose row can't be written does not run, and runs once it can be.
func TestAudit_rowFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			if len(results(req)) > 0 {
				return text("done"), nil
			}
			return call("w1", "write_file", `{"path":"made","content":"x"}`), nil
		}}
		w := open(t, m, setting{})
		w.fault("audit")
		w.Prompt("go")
		w.Until("the turn failed", func() bool { return w.Info("main").Outcome == history.OutFailed })
		if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
			t.Error("it ran")
		}
		w.fault("none")
		w.Prompt("go")
		w.Until("the turn ended", func() bool { return w.Info("main").Outcome == history.Completed })
		w.Settle()
	})
}

// Where the end of the audit can't be written beside the database, agents that a human attends go on, and the human is
// told, until it can.
func TestAudit_warns(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("done"), nil
		}
		return call(fmt.Sprint("c", len(req.Messages)), "list_files", `{}`), nil
	}}
	w := open(t, m, setting{})
	head := audit.HeadFile(w.Dir)
	check(t, os.Remove(head))
	check(t, os.Mkdir(head, 0o700))
	w.Prompt("go")
	w.Until("the human is told", func() bool {
		return w.Trouble != nil && strings.Contains(w.Trouble.Error(), "write where the audit ends")
	})
	w.Until("it goes on", func() bool { return w.Info("main").Outcome == history.Completed })
	w.Settle()
	check(t, os.Remove(head))
	w.Prompt("go")
	w.Until("it is over", func() bool { return w.Trouble == nil })
	w.Settle()
	if r, err := w.Pool.Audit.Verify(t.Context()); err != nil || r.Flaw != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// What a crash cut is in the audit, with what had decided that it may run, and the chain is whole at each next start.
//
// Spec: R-6.
func TestAudit_afterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crash(t, dir)
	db, err := store.Open(t.Context(), filepath.Join(dir, "fantail.db"), store.Options{})
	check(t, err)
	book := audit.Reader{DB: db, Dir: dir}
	for _, name := range []string{"job", "cmd"} {
		ls, err := book.List(t.Context(), audit.Wanted{Name: name, Limit: 10})
		check(t, err)
		if len(ls) != 1 || !ls[0].Open || ls[0].Tool != "bash" || ls[0].Decision != audit.Allowed || ls[0].By == "" || ls[0].Began.IsZero() {
			t.Errorf("%s: %+v", name, ls)
		}
	}
	r, err := book.Verify(t.Context())
	if err != nil || r.Flaw != "" {
		t.Errorf("%+v, %v", r, err)
	}
	check(t, db.Close())
	w := open(t, &model{Reply: crashing}, setting{Dir: dir})
	w.Settle()
	if all := strings.Join(w.audited("job"), "\n"); !strings.Contains(all, "job stop | the program ended while this turn ran | crashed") {
		t.Error(all)
	}
}

// BenchmarkCall is a turn with a call that only reads.
func BenchmarkCall(b *testing.B) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("done"), nil
		}
		return call(fmt.Sprint("c", len(req.Messages)), "read_file", `{"path":"a"}`), nil
	}}
	w := open(b, m, setting{Dir: b.TempDir()})
	check(b, os.WriteFile(filepath.Join(w.Dir, "a"), []byte("1\n"), 0o600))
	main := w.Main()
	for b.Loop() {
		check(b, w.Pool.Clear(b.Context(), main))
		check(b, w.Pool.Prompt(b.Context(), main, "go"))
		check(b, w.Pool.Settled(b.Context()))
	}
}
