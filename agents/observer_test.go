package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// answers is a model whose n-th reply to an observer, from 0, a test writes.
type observerAnswers struct {
	mu       sync.Mutex
	requests []*llm.Request
	reply    func(ctx context.Context, n int, req *llm.Request) ([]llm.Part, error)
}

func (m *observerAnswers) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		m.mu.Lock()
		n := len(m.requests)
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		parts, err := m.reply(ctx, n, req)
		reason := llm.EndTurn
		for _, p := range parts {
			if _, ok := p.(llm.ToolCall); ok {
				reason = llm.ToolUse
			}
			if !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		yield(llm.Stop{Reason: reason}, nil)
	}
}

func says(s string) []llm.Part { return []llm.Part{llm.Text{Text: s}} }

func calls(n int, name string, args ...string) (ps []llm.Part) {
	for i, a := range args {
		ps = append(ps, llm.ToolCall{ID: fmt.Sprintf("c%d-%d", n, i), Name: name, Args: json.RawMessage(a)})
	}
	return ps
}

func read(path string) string { return fmt.Sprintf(`{"path":%q}`, path) }

// results are the results of all calls so far.
func observerResults(req *llm.Request) (rs []llm.ToolResult) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(llm.ToolResult); ok {
				rs = append(rs, r)
			}
		}
	}
	return rs
}

// site is a workspace with its agents.
type site struct {
	t      *testing.T
	root   string
	home   string
	db     *store.DB
	pool   *agents.Pool
	gate   *permission.Gate
	model  *observerAnswers
	closed bool
}

type observerSetting struct {
	dir    string // of an earlier site; "": a new one
	reply  func(ctx context.Context, n int, req *llm.Request) ([]llm.Part, error)
	mode   permission.Mode
	rules  []permission.Rule
	limits agents.ObserverLimits
	gone   string // a model that is not configured
	wall   permission.Sandbox
	box    func(root string) func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)
	env    []string
	maxOut int // tokens of a reply
}

func observerCheck(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func observerOpen(t *testing.T, s observerSetting) *site {
	t.Helper()
	base := s.dir
	if base == "" {
		var err error
		base, err = filepath.EvalSymlinks(t.TempDir())
		observerCheck(t, err)
	}
	w := &site{t: t, root: filepath.Join(base, "work"), home: filepath.Join(base, "home"), model: &observerAnswers{reply: s.reply}}
	for _, d := range []string{w.root, w.home, filepath.Join(base, "data"), filepath.Join(base, "scratch")} {
		observerCheck(t, os.MkdirAll(d, 0o700))
	}
	if s.mode == "" {
		s.mode = permission.Ask
	}
	var err error
	w.gate, err = permission.NewGate(s.mode, s.rules)
	observerCheck(t, err)
	w.gate.Boxes(s.wall)
	w.db, err = storetest.Open(t.Context(), filepath.Join(base, "data", "fantail.db"), store.Options{})
	observerCheck(t, err)
	o := agents.Options{
		DB: w.db, Tools: tools.New(), Gate: w.gate, Model: "test/one", Root: w.root, Data: filepath.Join(base, "data"),
		Private: []string{filepath.Join(base, "data", "fantail.db")},
		Resolve: func(name string) (llm.Model, error) {
			if name == s.gone {
				return llm.Model{}, fmt.Errorf("no model %s", name)
			}
			return llm.Model{Name: name, Provider: w.model, ID: name, Window: 1 << 20, MaxOut: s.maxOut}, nil
		},
		System:  func(i event.Info) string { return "You are " + i.Name },
		Environ: append([]string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}, s.env...), Observe: s.limits,
	}
	if s.box != nil {
		o.Box = s.box(w.root)
	}
	w.pool, err = agents.Open(t.Context(), o)
	observerCheck(t, err)
	t.Cleanup(w.close)
	return w
}

func (w *site) close() {
	if w.closed {
		return
	}
	w.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.pool.Close(ctx); err != nil {
		w.t.Error(err)
	}
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *site) file(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	observerCheck(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	observerCheck(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *site) main() event.Info {
	w.t.Helper()
	for _, i := range w.pool.Infos() {
		if i.Name == "main" {
			return i
		}
	}
	w.t.Fatal("there is no main")
	return event.Info{}
}

// fire has the schedule fire.
func (w *site) fire(o agents.ObserverOrder) (agent int64, err error) {
	w.t.Helper()
	if o.Schedule == 0 {
		o.Schedule = 7
	}
	if o.Name == "" {
		o.Name = "ci"
	}
	if o.Prompt == "" {
		o.Prompt = "look at the log"
	}
	o.Owner = w.main().ID
	err = w.db.Write(w.t.Context(), "fire", func(tx *store.Tx) error {
		agent, err = w.pool.Observe.Observe(tx, o)
		return err
	})
	return agent, err
}

// mail is what waits for main, once the observer has ended.
func (w *site) mail() []inbox.Message {
	w.t.Helper()
	observerCheck(w.t, w.pool.Settled(w.t.Context()))
	ms, err := w.pool.Letters.Inbox(w.t.Context(), w.main().ID)
	observerCheck(w.t, err)
	return ms
}

// report is the one message that an observer left.
func (w *site) report() inbox.Message {
	w.t.Helper()
	ms := w.mail()
	if len(ms) != 1 {
		w.t.Fatalf("%d messages: %+v", len(ms), ms)
	}
	return ms[0]
}

// observes fires the schedule once and returns the report.
func (w *site) observes(o agents.ObserverOrder) inbox.Message {
	w.t.Helper()
	_, err := w.fire(o)
	observerCheck(w.t, err)
	return w.report()
}

// entries is the transcript of an agent.
func (w *site) entries(agent int64) []history.Entry {
	w.t.Helper()
	es, err := w.pool.Records.Page(w.t.Context(), agent, 0, 1000)
	observerCheck(w.t, err)
	return es
}

// TestObserve: what an observer finds is one `scheduled` message to the owner of its schedule, which names its task by
// its beginning; it has its tools and no others, the seed's prompt with the condition to end its schedule, its name, and
// a tab that closes by itself. Whoever is asked for more gets a plain answer.
// Spec: O-54, O-55, O-57, O-59, O-61, O-62, O-73.
func TestObserve(t *testing.T) {
	w := observerOpen(t, observerSetting{reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
		if len(observerResults(req)) == 0 {
			return calls(n, "read_file", read("log")), nil
		}
		return says("CI is green, says log:1: " + observerResults(req)[0].Text), nil
	}})
	w.file("log", "all green")
	long := "Look whether CI passes. " + strings.Repeat("ä", 200)
	agent, err := w.fire(agents.ObserverOrder{Prompt: long, CancelWhen: "CI is green", Name: "ci", Mark: "late: it was due Monday"})
	observerCheck(t, err)
	m := w.report()
	if m.Kind != inbox.Scheduled || m.Sender != agent || m.From != "headless-ci-1" || m.Deliver != inbox.Next || m.Error != "" || m.Subject != string([]rune(long)[:100]) {
		t.Errorf("the report is %+v", m)
	}
	if !strings.HasPrefix(m.Body, "[late: it was due Monday]\nCI is green") || !strings.Contains(m.Body, "all green") {
		t.Errorf("it says %q", m.Body)
	}
	first := w.model.requests[0]
	var names []string
	for _, k := range first.Tools {
		names = append(names, k.Name)
	}
	if got := strings.Join(names, " "); got != "read_file grep schedule" {
		t.Errorf("its tools are %s", got)
	}
	prompt := w.entries(agent)[0]
	want := long + "\n\n---\nYou have a cancel condition: \"CI is green\"\nIf this condition is now satisfied, call the schedule tool with action \"unregister\" and task_id \"ci\" to stop this recurring check.\n"
	if prompt.Kind != history.EntryPrompt || prompt.Text != want {
		t.Errorf("its prompt is %+v", prompt)
	}
	row := w.agent(agent)
	if row.Kind != "headless" || row.State != "done" || row.Closed.IsZero() {
		t.Errorf("its row is %+v", row)
	}
	if err := w.pool.Tell(t.Context(), row.Name, "go on"); err == nil {
		t.Error("it was told something")
	}
	if _, _, err := w.pool.Resume(t.Context(), w.main().ID, row.Name, "go on"); err == nil || !strings.Contains(err.Error(), "is an observer") {
		t.Errorf("it was resumed: %v", err)
	}
	// The next one of the schedule has a name of its own.
	next, err := w.fire(agents.ObserverOrder{Prompt: long})
	observerCheck(t, err)
	if name := w.agent(next).Name; name != "headless-ci-2" {
		t.Errorf("the next one is %s", name)
	}
	w.mail()
}

// agent is the row of an agent, once its tab is closed.
func (w *site) agent(id int64) (row store.Agent) {
	w.t.Helper()
	for late := time.After(time.Minute); ; {
		observerCheck(w.t, w.db.Read(w.t.Context(), func(rx *store.Rx) (err error) {
			row, _, err = rx.Agent(id)
			return err
		}))
		if !row.Closed.IsZero() || row.Ended.IsZero() {
			return row
		}
		observerCheck(w.t, w.pool.Settled(w.t.Context()))
		select {
		case <-time.After(time.Millisecond):
		case <-late:
			w.t.Fatalf("the tab of %s was not closed", row.Name)
		}
	}
}

// What an observer must not do it can't: each tool that writes, runs, starts, asks or sends is none of its, in the mode
// that asks nobody, and no rule of the session's gives it any.
// Spec: O-62, O-73, O-85, R-49, E-27.
func TestObserve_changesNothing(t *testing.T) {
	tried := []struct{ name, args string }{
		{"bash", `{"command":"touch x"}`},
		{"write_file", `{"path":"x","content":"y"}`},
		{"edit_file", `{"path":"log","old":"a","new":"b"}`},
		{"push", `{"name":"a","prompt":"b"}`},
		{"run", `{}`},
		{"delegate", `{"name":"a","prompt":"b"}`},
		{"send", `{"to":"main","message":"x"}`},
		{"ask_user", `{"question":"may I?"}`},
		{"memory", `{"action":"write","name":"x","text":"y"}`},
		{"receive", `{}`},
		{"run_check", `{"name":"test"}`},
		{"schedule", `{"action":"register","prompt":"x","interval_seconds":1}`},
		{"schedule", `{"action":"unregister","task_id":"other"}`},
		{"schedule", `{"action":"list"}`},
	}
	var got []llm.ToolResult
	w := observerOpen(t, observerSetting{mode: permission.Yolo, rules: []permission.Rule{"bash(touch *)"}, reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
		if n < len(tried) {
			return calls(n, tried[n].name, tried[n].args), nil
		}
		got = observerResults(req)
		return says("done"), nil
	}})
	w.file("log", "a")
	w.observes(agents.ObserverOrder{})
	for n, r := range got {
		want := "there is no tool"
		if tried[n].name == "schedule" {
			want = "Refused: an observer registers no schedule"
		}
		if !r.Error || !strings.Contains(r.Text, want) {
			t.Errorf("%v: %+v", tried[n], r)
		}
	}
	if len(got) != len(tried) {
		t.Errorf("%d results", len(got))
	}
	names, err := os.ReadDir(w.root)
	observerCheck(t, err)
	if data, err := os.ReadFile(filepath.Join(w.root, "log")); err != nil || string(data) != "a" || len(names) != 1 {
		t.Errorf("the workspace has %v, the log %q", names, data)
	}
	for _, i := range w.pool.Infos() {
		if i.Name != "main" && i.Name != "headless-ci-1" {
			t.Errorf("it made %+v", i)
		}
	}
	// Its own schedule it may end; the tool that does so is another's matter.
	w = observerOpen(t, observerSetting{reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
		if n == 0 {
			return calls(n, "schedule", `{"task_id":"ci","action":"unregister"}`), nil
		}
		return says(observerResults(req)[0].Text), nil
	}})
	if m := w.observes(agents.ObserverOrder{CancelWhen: "it is green"}); strings.Contains(m.Body, "Refused") {
		t.Errorf("it may not end its own schedule: %s", m.Body)
	}
}

// The jail: what lies outside the directory an observer was given is refused, whichever way it is named, and so is what
// holds secrets; nobody is asked, in no mode, and grep searches nothing above.
// Spec: O-57, O-67, O-73, E-27.
func TestObserve_jail(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Ask, permission.Yolo, permission.AcceptEdits} {
		var got []llm.ToolResult
		var tried []string
		w := observerOpen(t, observerSetting{mode: mode, rules: []permission.Rule{"read(/**)"}, reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
			if n < len(tried) {
				name := "read_file"
				if strings.HasPrefix(tried[n], `{"pattern"`) {
					name = "grep"
				}
				return calls(n, name, tried[n]), nil
			}
			got = observerResults(req)
			return says("done"), nil
		}, limits: agents.ObserverLimits{Calls: 50, Tokens: 200_000}})
		w.file("in/fine", "nothing to hide")
		w.file("above", "needle above")
		for _, name := range []string{".env", "in/.env", "in/.env.local", "in/secrets.yml", "in/secrets/db", "in/.npmrc", "in/.pypirc", "in/id_rsa", "in/credentials.json"} {
			w.file(name, "needle")
		}
		for _, name := range []string{".ssh/id_ed25519", ".aws/config", ".gnupg/key", ".config/gcloud/x", ".config/gh/hosts.yml", "plain"} {
			observerCheck(t, os.MkdirAll(filepath.Dir(filepath.Join(w.home, name)), 0o700))
			observerCheck(t, os.WriteFile(filepath.Join(w.home, name), []byte("needle"), 0o600))
		}
		observerCheck(t, os.Symlink(w.home, filepath.Join(w.root, "in/home")))
		observerCheck(t, os.Symlink(filepath.Join(w.root, "above"), filepath.Join(w.root, "in/link")))
		observerCheck(t, os.Link(filepath.Join(w.root, "in/.env"), filepath.Join(w.root, "in/harmless")))
		paths := []string{
			"../above", "x/../../above", w.root + "/above", "link", "home/plain", w.home + "/plain", "/proc/self/environ", "/proc/1/root/etc/hostname", "/proc/self/cwd/above", "/etc/hostname",
			"~/plain", "~/.ssh/id_ed25519", "~/.aws/config", "~/.gnupg/key", "~/.config/gcloud/x", "~/.config/gh/hosts.yml", "home/.ssh/id_ed25519",
			".env", ".ENV", ".env.local", "secrets.yml", "SECRETS.yml", "secrets/db", ".npmrc", ".pypirc", "id_rsa", "credentials.json", "harmless",
		}
		for _, p := range paths {
			tried = append(tried, read(p))
		}
		for _, p := range []string{"..", w.root, "/", w.home, "home", "link", ".env", "/proc"} {
			tried = append(tried, fmt.Sprintf(`{"pattern":"needle","path":%q}`, p))
		}
		tried = append(tried, `{"pattern":"needle"}`, read("fine"))
		w.observes(agents.ObserverOrder{Dir: "in"})
		if len(got) != len(tried) {
			t.Fatalf("%d results of %d", len(got), len(tried))
		}
		for n, r := range got {
			switch {
			case strings.Contains(tried[n], "fine"):
				if r.Error || !strings.Contains(r.Text, "nothing to hide") {
					t.Errorf("%s: %s: %+v", mode, tried[n], r)
				}
			case tried[n] == `{"pattern":"needle"}`:
				if r.Error || !strings.Contains(r.Text, "[no match") {
					t.Errorf("%s: %s: %+v", mode, tried[n], r)
				}
			case !r.Error || strings.Contains(r.Text, "1:needle") || strings.Contains(r.Text, "needle above"):
				if strings.Contains(r.Text, "does not exist") && !strings.Contains(r.Text, "needle") {
					continue // where case matters there is no such file
				}
				t.Errorf("%s: %s: %+v", mode, tried[n], r)
			}
		}
		if qs, err := w.pool.Letters.Questions(t.Context(), w.main().ID); err != nil || len(qs) != 0 {
			t.Errorf("it asked %v, %v", qs, err)
		}
		w.close()
	}
}

// What can't begin is told as a failure with the whole prompt and the reason, and the next time is free.
// Spec: O-60.
func TestObserve_couldNotStart(t *testing.T) {
	reply := func(context.Context, int, *llm.Request) ([]llm.Part, error) { return says("fine"), nil }
	prompt := strings.Repeat("look ", 100)
	outside := t.TempDir()
	for name, c := range map[string]struct {
		s    observerSetting
		o    agents.ObserverOrder
		want string
	}{
		"directory outside": {observerSetting{reply: reply}, agents.ObserverOrder{Dir: outside}, "is outside the workspace"},
		"directory above":   {observerSetting{reply: reply}, agents.ObserverOrder{Dir: "../.."}, "is outside the workspace"},
		"no directory":      {observerSetting{reply: reply}, agents.ObserverOrder{Dir: "gone"}, "find its directory"},
		"a file":            {observerSetting{reply: reply}, agents.ObserverOrder{Dir: "log"}, "is no directory"},
	} {
		w := observerOpen(t, c.s)
		w.file("log", "x")
		c.o.Prompt = prompt
		m := w.observes(c.o)
		if m.Kind != inbox.Failure || m.Subject != prompt || !strings.Contains(m.Error, c.want) || m.From != "headless-ci-1" {
			t.Errorf("%s: %+v", name, m)
		}
		if _, err := w.fire(agents.ObserverOrder{}); err != nil {
			t.Errorf("%s: the next time: %v", name, err)
		}
		w.mail()
	}
	w := observerOpen(t, observerSetting{reply: reply})
	observerCheck(t, w.pool.SetModel(t.Context(), w.main().ID, "test/two"))
	dir := filepath.Dir(w.root)
	w.close()
	w = observerOpen(t, observerSetting{reply: reply, dir: dir, gone: "test/lost"})
	observerCheck(t, w.db.Write(t.Context(), "set", func(tx *store.Tx) error { return tx.SetAgentModel(w.main().ID, "test/lost") }))
	if m := w.observes(agents.ObserverOrder{Prompt: prompt}); m.Kind != inbox.Failure || !strings.Contains(m.Error, "test/lost is not configured") {
		t.Errorf("%+v", m)
	}
}

// What errs, takes too long or is stopped is told as `scheduled`, with the error and what was found by then.
// Spec: O-58, O-63, O-86.
func TestObserve_errs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := observerOpen(t, observerSetting{reply: func(ctx context.Context, n int, req *llm.Request) ([]llm.Part, error) {
			if n == 0 {
				return append(says("Half of it is green."), calls(n, "read_file", read("log"))...), nil
			}
			<-ctx.Done()
			return nil, &llm.Error{Kind: llm.Cancelled, Err: ctx.Err()}
		}})
		w.file("log", "x")
		began := time.Now()
		m := w.observes(agents.ObserverOrder{})
		if d := time.Since(began); d != 300*time.Second {
			t.Errorf("it took %s", d)
		}
		if m.Kind != inbox.Scheduled || m.Error != "timed out after 5m0s" || m.Body != "Half of it is green." || m.Outcome != "timed_out" {
			t.Errorf("%+v", m)
		}
		w.close()
		time.Sleep(time.Minute)
	})
	w := observerOpen(t, observerSetting{reply: func(_ context.Context, n int, _ *llm.Request) ([]llm.Part, error) {
		return says("I begin"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "it will not do"}
	}})
	if m := w.observes(agents.ObserverOrder{}); m.Kind != inbox.Scheduled || !strings.Contains(m.Error, "it will not do") || m.Body != "I begin" {
		t.Errorf("%+v", m)
	}
	w = observerOpen(t, observerSetting{reply: func(ctx context.Context, n int, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return nil, &llm.Error{Kind: llm.Cancelled, Err: ctx.Err()}
	}})
	_, err := w.fire(agents.ObserverOrder{})
	observerCheck(t, err)
	observerCheck(t, w.pool.Kill(t.Context(), "headless-ci-1", false))
	if m := w.report(); m.Error != "killed" || !strings.HasPrefix(m.Subject, "look") {
		t.Errorf("%+v", m)
	}
}

// While an observer of a schedule lives, the schedule starts no second one; another schedule does.
// Spec: O-86.
func TestObserve_neverOverlaps(t *testing.T) {
	goes := make(chan struct{})
	w := observerOpen(t, observerSetting{reply: func(ctx context.Context, _ int, _ *llm.Request) ([]llm.Part, error) {
		<-goes
		return says("fine"), nil
	}})
	_, err := w.fire(agents.ObserverOrder{})
	observerCheck(t, err)
	if _, err := w.fire(agents.ObserverOrder{}); !errors.Is(err, agents.ErrOverlaps) {
		t.Errorf("it overlaps: %v", err)
	}
	if _, err := w.fire(agents.ObserverOrder{Schedule: 8, Name: "other"}); err != nil {
		t.Error(err)
	}
	close(goes)
	if n := len(w.mail()); n != 2 {
		t.Errorf("%d messages", n)
	}
	if _, err := w.fire(agents.ObserverOrder{}); err != nil {
		t.Error(err)
	}
	w.mail()
}

// The schedule hears of each end in the transaction that ends the observer, and the last report of a watch says so.
func TestObserve_tellsTheSchedule(t *testing.T) {
	w := observerOpen(t, observerSetting{reply: func(_ context.Context, n int, _ *llm.Request) ([]llm.Part, error) {
		if n == 0 {
			return says("red"), nil
		}
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "no"}
	}})
	var got []agents.ObserverEnded
	w.pool.Observe.Ended = func(_ *store.Tx, e agents.ObserverEnded) error {
		got = append(got, e)
		return nil
	}
	w.pool.Observe.Over = func(*store.View, int64) (bool, error) { return len(got) == 0, nil }
	agent, err := w.fire(agents.ObserverOrder{Schedule: 9, CancelWhen: "x"})
	observerCheck(t, err)
	m := w.report()
	if len(got) != 1 || got[0] != (agents.ObserverEnded{Schedule: 9, Agent: agent, Outcome: "completed", Finding: "red", Message: m.ID}) {
		t.Errorf("it heard %+v", got)
	}
	if m.Body != "red\n\nThe watch has ended: ci is not scheduled any more." {
		t.Errorf("the last report says %q", m.Body)
	}
	_, err = w.fire(agents.ObserverOrder{Schedule: 7, CancelWhen: "x"})
	observerCheck(t, err)
	ms := w.mail()
	if len(got) != 2 || got[1].Outcome != "failed" || !strings.Contains(got[1].Finding, "no") || strings.Contains(ms[1].Body, "watch") {
		t.Errorf("it heard %+v; %+v", got, ms[1])
	}
}
