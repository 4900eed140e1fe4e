package agents_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/store/config"
	"fantail/tools/permission"
)

// hooked is a world in which those commands of the user's own run at those events. What one writes into the pipe "told"
// is read with the returned function, a line at a time.
func hooked(t *testing.T, m llm.Provider, s setting, at map[hooks.Event]string) (w *world, heard func() map[string]any) {
	t.Helper()
	rows := map[string][]config.HookGroup{}
	for e, command := range at {
		rows[string(e)] = []config.HookGroup{{Hooks: []config.HookRow{{Command: command}}}}
	}
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	room, err := hooks.OpenTrust(s.Dir, s.Dir)
	check(t, err)
	s.Hooks = hooks.New(hooks.Settings{Root: s.Dir, Trust: room, Config: func() map[string][]config.HookGroup { return rows }})
	s.Trust, s.Env = room, os.Environ()
	pipe := filepath.Join(s.Dir, "told")
	check(t, syscall.Mkfifo(pipe, 0o600))
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { _ = f.Close() })
	lines := bufio.NewReader(f)
	return open(t, m, s), func() (is map[string]any) {
		t.Helper()
		line := line(t, f, lines)
		if err := json.Unmarshal([]byte(line), &is); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return is
	}
}

// line is the next one that comes through a pipe.
func line(t *testing.T, pipe *os.File, lines *bufio.Reader) string {
	t.Helper()
	check(t, pipe.SetReadDeadline(time.Now().Add(time.Minute)))
	s, err := lines.ReadString('\n')
	check(t, err)
	return s
}

// tells has a hook write what it is told into the pipe.
const tells = `x=$(cat); printf '%s\n' "$x" > told`

// Spec: C-9, C-30. Hooks hear of turns before and after, of calls, of a task's end and of mail, in order; what they say at
// the beginning and before a call the model reads.
func TestHooks_hear(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "look" && len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"echo hello"}`), nil
		}
		return text("done"), nil
	}}
	w, heard := hooked(t, m, setting{}, map[hooks.Event]string{
		hooks.SessionStart: tells + `; echo the session begins`, hooks.TurnStarted: tells, hooks.TurnEnded: tells, hooks.TaskFinished: tells, hooks.MailDeposited: tells,
		hooks.MailTaken: tells, hooks.AgentIdle: tells, hooks.PreToolUse: tells, hooks.PostToolUse: tells + `; echo '{"hookSpecificOutput":{"additionalContext":"mind the gap"}}'`,
	})
	w.Prompt("look")
	var order []string
	next := func() map[string]any {
		is := heard()
		order = append(order, is["hook_event_name"].(string))
		return is
	}
	next()
	next()
	if is := next(); is["tool_name"] != "Bash" || is["tool_input"].(map[string]any)["command"] != "echo hello" {
		t.Errorf("%v", is)
	}
	if is := next(); !strings.Contains(is["tool_response"].(map[string]any)["stdout"].(string), "hello") {
		t.Errorf("%v", is)
	}
	if is := next(); is["outcome"] != "completed" || is["agent"] != "main" {
		t.Errorf("%v", is)
	}
	next()
	if got := strings.Join(order, " "); got != "SessionStart TurnStarted PreToolUse PostToolUse TurnEnded AgentIdle" {
		t.Errorf("heard %s", got)
	}
	var host []string
	for _, e := range w.Entries("main") {
		if e.Kind == history.EntryHost {
			host = append(host, e.Text)
		}
	}
	if len(host) != 1 || !strings.Contains(host[0], "the session begins") {
		t.Errorf("at the beginning it is told %q", host)
	}
	first := false
	for _, msg := range m.Seen()[0].Messages {
		for _, p := range msg.Parts {
			if x, is := p.(llm.Text); is && strings.Contains(x.Text, "the session begins") {
				first = true
			}
		}
	}
	if !first {
		t.Error("the first request does not have what the hook says")
	}
	if rs := results(m.Last()); len(rs) != 1 || !strings.Contains(rs[0].Text, "[mind the gap]") {
		t.Errorf("%+v", rs)
	}

	w.Push("tests", "!exit 3")
	w.Run(1)
	got := map[string]map[string]any{}
	for range 4 { // whichever order the end of the turn and of the task are told in
		is := heard()
		got[is["hook_event_name"].(string)] = is
	}
	if is := got["TaskFinished"]; is["name"] != "tests" || is["outcome"] != "failed" || is["prompt"] != "exit 3" {
		t.Errorf("the task's end: %v", is)
	}
	if is := got["MailDeposited"]; is["from"] != "tests" || is["kind"] != "failure" || is["agent"] != "main" {
		t.Errorf("the mail: %v", is)
	}
	if got["TurnStarted"] == nil || got["TurnEnded"] == nil {
		t.Errorf("the turn: %v", got)
	}
	w.Settle()
	if n, _, err := w.Pool.Pickup.Fire(t.Context(), w.Main(), "read it"); err != nil {
		t.Fatal(n, err)
	}
	for range 2 { // what runs after waits for nothing that runs before
		is := heard()
		got[is["hook_event_name"].(string)] = is
	}
	if is := got["MailTaken"]; is["from"] != "tests" || is["by"] != "fire" {
		t.Errorf("the take: %v", is)
	}
}

// A hook's exit code 2 refuses a call, and its reason is the result.
func TestHooks_refuseACall(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"touch made"}`), nil
		}
		return text("well"), nil
	}}
	w, _ := hooked(t, m, setting{}, map[hooks.Event]string{hooks.PreToolUse: "echo not on a Friday >&2; exit 2"})
	w.Prompt("go")
	w.Settle()
	rs := results(m.Last())
	if len(rs) != 1 || !rs[0].Error || !strings.Contains(rs[0].Text, "not on a Friday") {
		t.Errorf("%+v", rs)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("it ran")
	}
}

// Spec: C-8, C-30. A hook that keeps a turn from ending does so three times; what the human types is not counted.
func TestHooks_holdATurn(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil }}
	w, _ := hooked(t, m, setting{}, map[hooks.Event]string{hooks.Stop: "echo run the tests first >&2; exit 2"})
	for turn := 1; turn <= 2; turn++ {
		w.Prompt("go")
		w.Settle()
		if n := len(m.Seen()); n != turn*(1+hooks.MaxForced) {
			t.Errorf("after turn %d there were %d requests", turn, n)
		}
	}
	w.State("main", event.Idle)
	held, ended := 0, 0
	for _, e := range w.Entries("main") {
		if e.Kind == history.EntryHost && strings.Contains(e.Text, "run the tests first") {
			held++
		}
		if e.Kind == history.EntryEnded && e.End.Outcome == history.Completed {
			ended++
		}
	}
	if held != 2*hooks.MaxForced || ended != 2 {
		t.Errorf("held %d times, %d turns ended", held, ended)
	}
}

// A prompt that a hook refuses does not enter, and its human keeps the words; others do.
func TestHooks_refuseAPrompt(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil }}
	w, _ := hooked(t, m, setting{}, map[hooks.Event]string{
		hooks.UserPromptSubmit: `if grep -q secret; then echo no secrets >&2; exit 2; fi; echo it is Monday`,
	})
	w.Prompt("a secret plan")
	w.Settle()
	if n := len(m.Seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
	w.Prompt("a plan")
	w.Settle()
	var said []string
	for _, e := range w.Entries("main") {
		said = append(said, string(e.Kind)+": "+e.Text)
	}
	all := strings.Join(said, "\n")
	if !strings.Contains(all, "notice: Your prompt did not enter: ") || !strings.Contains(all, "no secrets") || !strings.Contains(all, "a secret plan") ||
		!strings.Contains(all, "it is Monday") || strings.Contains(all, "prompt: a secret") || !strings.Contains(all, "prompt: a plan") {
		t.Errorf("%s", all)
	}
	if len(m.Seen()) != 1 || asked(m.Last()) != "a plan" {
		t.Errorf("%d requests", len(m.Seen()))
	}
}

// A hook keeps a conversation from being compacted.
func TestHooks_refuseToCompact(t *testing.T) {
	m := &model{Reply: summing}
	w, _ := hooked(t, m, setting{}, map[hooks.Event]string{hooks.PreCompact: `grep -q '"trigger":"manual"' && echo later >&2; exit 2`})
	w.Prompt("one")
	w.Settle()
	if err := w.Pool.Compact(t.Context(), w.Main(), ""); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("%v", err)
	}
	if n := len(w.summaries("main")); n != 0 {
		t.Errorf("%d summaries", n)
	}
}

// A question is told to hooks, once.
func TestHooks_hearOfQuestions(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "ask_user", `{"question":"Which one?","options":[{"label":"a"},{"label":"b"}]}`), nil
		}
		return text("well"), nil
	}}
	w, heard := hooked(t, m, setting{}, map[hooks.Event]string{hooks.QuestionAsked: tells, hooks.Notification: tells})
	w.Prompt("go")
	if is := heard(); is["hook_event_name"] != "QuestionAsked" || !strings.Contains(is["text"].(string), "Which one?") {
		t.Errorf("%v", is)
	}
	if is := heard(); is["hook_event_name"] != "Notification" || !strings.Contains(is["message"].(string), "main asks: Which one?") {
		t.Errorf("%v", is)
	}
	w.State("main", event.Asking)
}

// Who writes a file that the user agreed to have run is asked in every mode, and the hook does not run as it was changed.
func TestHooks_guardWhatRuns(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, ".claude"), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(`{"hooks":{"PostToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"sh check/it"}]}]}}`), 0o600))
	check(t, os.Mkdir(filepath.Join(dir, "check"), 0o700))
	it := filepath.Join(dir, "check", "it")
	check(t, os.WriteFile(it, []byte("echo ran >> ran"), 0o600))
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch len(results(req)) {
		case 0:
			return call("c1", "write_file", `{"path":"else","content":"free"}`), nil
		case 1:
			return call("c2", "read_file", `{"path":"check/it"}`), nil
		case 2:
			return call("c3", "write_file", `{"path":"check/it","content":"evil"}`), nil
		}
		return text("well"), nil
	}}
	w, _ := hooked(t, m, setting{Dir: dir}, nil)
	brought := w.Pool.Brought().Trust
	for _, r := range brought.Review() {
		check(t, brought.Agree(r.TrustSnapshot))
	}
	w.Prompt("go")
	w.State("main", event.Asking)
	if b, err := os.ReadFile(filepath.Join(dir, "ran")); err != nil || string(b) != "ran\n" {
		t.Errorf("after the first call: %q, %v", b, err)
	}
	if q := w.Info("main").Question; q == nil || !strings.Contains(q.Action.Sensitive, "trust") {
		t.Errorf("%+v", q)
	}
	if !w.Answer(w.Info("main").Question.ID, permission.Once) {
		t.Error("the question is gone")
	}
	w.Settle()
	if b, err := os.ReadFile(filepath.Join(dir, "ran")); err != nil || string(b) != "ran\n" {
		t.Errorf("changed, it ran: %q, %v", b, err)
	}
	told := 0
	for _, e := range w.Entries("main") {
		if e.Kind == history.EntryNotice && strings.Contains(e.Text, "changed since you trusted it") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// Spec: C-9. A turn that goes on after a restart has its hooks: its beginning is told, and its calls are asked about.
func TestHooks_resumedTurn(t *testing.T) {
	dir := t.TempDir()
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"touch made"}`), nil
		}
		return text("well"), nil
	}}
	w, _ := hooked(t, m, setting{Dir: dir, Mode: permission.Ask}, nil)
	w.Prompt("go")
	w.State("main", event.Asking)
	w.Close()
	check(t, os.Remove(filepath.Join(dir, "told")))
	w, heard := hooked(t, m, setting{Dir: dir, Mode: permission.Ask}, map[hooks.Event]string{
		hooks.PreToolUse: tells + "; exit 2", hooks.TurnStarted: tells, hooks.TurnEnded: tells,
	})
	w.State("main", event.Asking)
	check(t, w.Pool.SetMode(t.Context(), permission.Yolo))
	for _, want := range []string{"PreToolUse", "TurnStarted", "TurnEnded"} {
		if is := heard(); is["hook_event_name"] != want {
			t.Errorf("heard %v, want %s", is["hook_event_name"], want)
		}
	}
	w.Settle()
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("it ran")
	}
}

// A hook that says to stop ends the turn after the call that it heard of, with its reason.
func TestHooks_stopATurn(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"echo hello"}`), nil
		}
		return text("on I go"), nil
	}}
	w, _ := hooked(t, m, setting{}, map[hooks.Event]string{hooks.PostToolUse: `echo '{"continue":false,"stopReason":"enough for today"}'`})
	w.Prompt("go")
	w.Settle()
	if n := len(m.Seen()); n != 1 {
		t.Errorf("the model is asked %d times", n)
	}
	ended := false
	for _, e := range w.Entries("main") {
		ended = ended || e.End != nil && e.End.Outcome == history.Interrupted && strings.Contains(e.End.Error, "enough for today")
	}
	if !ended {
		t.Error("the turn's end does not say why")
	}
}

// What a hook makes of a call is what runs, and what the human is asked about.
func TestHooks_changeACall(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"echo one > out"}`), nil
		}
		return text("well"), nil
	}}
	w, _ := hooked(t, m, setting{Mode: permission.Ask}, map[hooks.Event]string{hooks.PreToolUse: `echo '{"hookSpecificOutput":{"updatedInput":{"command":"echo two > out"}}}'`})
	w.Prompt("go")
	w.State("main", event.Asking)
	q := w.Info("main").Question
	if q == nil || q.Action.Command != "echo two > out" || !strings.Contains(q.Action.Title, "two") {
		t.Fatalf("asked %+v", q)
	}
	w.Answer(q.ID, permission.Once)
	w.Settle()
	if out, err := os.ReadFile(filepath.Join(w.Dir, "out")); string(out) != "two\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
	if rs := results(m.Last()); len(rs) != 1 || !strings.Contains(rs[0].Text, "A hook changed the arguments") {
		t.Errorf("the model is told %+v", rs)
	}
}

// TestHooks_hearHoweverLate: hooks hear of all that comes once the program is open, also of what is over before whoever tells
// them runs for the first time.
func TestHooks_hearHoweverLate(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "ask" && len(results(req)) == 0 {
			return call("c1", "ask_user", `{"question":"Which one?","options":[{"label":"a"},{"label":"b"}]}`), nil
		}
		return text("well"), nil
	}}
	late := make(chan struct{})
	w, heard := hooked(t, m, setting{Start: func(name string, f func()) {
		go func() {
			if name == "hooks" {
				<-late
			}
			f()
		}()
	}}, map[hooks.Event]string{hooks.QuestionAsked: tells, hooks.TurnEnded: tells, hooks.MailDeposited: tells, hooks.AgentIdle: tells})
	w.Prompt("hello")
	w.Settle()
	_, err := w.Pool.Door.Mail(t.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: "note"})
	check(t, err)
	w.Prompt("ask")
	w.State("main", event.Asking)
	close(late)
	want := map[string]int{"TurnEnded": 1, "AgentIdle": 1, "MailDeposited": 1, "QuestionAsked": 1}
	for len(want) > 0 {
		is := heard()
		name, _ := is["hook_event_name"].(string)
		if want[name]--; want[name] < 0 {
			t.Errorf("heard %v", is)
		}
		if want[name] <= 0 {
			delete(want, name)
		}
	}
}

// TestHooks_hearFromTheFirst: a hook for mail that is written while the program runs hears of the first message that comes
// then, and of none before.
func TestHooks_hearFromTheFirst(t *testing.T) {
	home := t.TempDir()
	room, err := hooks.OpenTrust(home, home)
	check(t, err)
	w := open(t, &model{Reply: remembers}, setting{Hooks: hooks.New(hooks.Settings{Root: t.TempDir(), Home: home, Trust: room}), Env: os.Environ()})
	send := func(text string) {
		t.Helper()
		_, err := w.Pool.Door.Mail(t.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: text})
		check(t, err)
	}
	told := filepath.Join(home, "told")
	check(t, syscall.Mkfifo(told, 0o600))
	f, err := os.OpenFile(told, os.O_RDWR, 0)
	check(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	hook := func(e hooks.Event) {
		t.Helper()
		write(t, home, map[string]string{".claude/settings.json": `{"hooks":{"` + string(e) + `":[{"hooks":[{"type":"command","command":"x=$(cat); printf '%s\\n' \"$x\" > ` + told + `"}]}]}}`})
	}
	hook(hooks.TurnEnded)
	w.Main()
	send("before")
	w.Until("it came", func() bool { return w.Info("main").Pending == 1 })
	w.Prompt("hello")
	line(t, f, lines) // who tells of this was told of the mail
	hook(hooks.MailDeposited)
	send("first")
	if heard := line(t, f, lines); !strings.Contains(heard, `"body":"first"`) {
		t.Errorf("it heard %s", heard)
	}
}
