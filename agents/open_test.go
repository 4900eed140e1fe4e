package agents_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// helper opens a helper.
func (w *world) helper(name string) int64 {
	w.T.Helper()
	i, err := w.Pool.NewHelper(w.T.Context(), name, "")
	check(w.T, err)
	w.Until("there is "+i.Name, func() bool { return w.Info(i.Name).ID != 0 })
	return i.ID
}

// tell gives an agent a prompt and waits until all is at rest.
func (w *world) tell(agent int64, prompt string) {
	w.T.Helper()
	check(w.T, w.Pool.Prompt(w.T.Context(), agent, prompt))
	w.Settle()
}

func echo(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	return text("said by " + strings.TrimPrefix(req.System, "You are ") + ": " + asked(req)), nil
}

// said joins what a request's conversation says, without the system prompt.
func said(req *llm.Request) string {
	var parts []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				parts = append(parts, t.Text)
			}
		}
	}
	return strings.Join(parts, " | ")
}

// TestHelper_hasAllOfItsOwn: a helper has its own conversation, queue and inbox;
// nothing of it shows in main's.
// Spec: R-24.
func TestHelper_hasAllOfItsOwn(t *testing.T) {
	m := &model{Reply: echo}
	w := open(t, m, setting{})
	a, b := w.helper("oauth"), w.helper("")
	w.Prompt("for main")
	w.Settle()
	w.tell(a, "for oauth")
	w.tell(b, "for the other")
	w.tell(a, "more for oauth")
	reqs := m.Seen()
	if got := said(reqs[len(reqs)-1]); got != "for oauth | said by oauth: for oauth | more for oauth" {
		t.Errorf("the conversation is %q", got)
	}
	if i := w.Info("oauth"); i.Kind != event.Helper || i.State != event.Idle || i.Parent != w.Main() {
		t.Errorf("info %+v", i)
	}

	_, err := w.Pool.Tasks.Push(t.Context(), a, tools.Task{Name: "job", Prompt: "quick"})
	check(t, err)
	if got := w.queued(); !strings.Contains(got, "is empty") {
		t.Errorf("main's queue holds the helper's task: %s", got)
	}
	_, err = w.Pool.Run(t.Context(), a, tools.Start{})
	check(t, err)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 0 {
		t.Errorf("main got the result: %+v", ms)
	}
	ms, _, err = w.Pool.Pickup.Check(t.Context(), a, inbox.Query{})
	check(t, err)
	if len(ms) != 1 || ms[0].From != "job" {
		t.Errorf("the helper's inbox: %+v", ms)
	}
}

// TestHelper_mailBetweenTwo: helpers mail each other by name, in both directions,
// and a renamed one keeps its mail: from= names who has the name now, whatever it
// was called when it wrote; a name nobody has any more means who had it.
func TestHelper_mailBetweenTwo(t *testing.T) {
	m := &model{Reply: echo}
	w := open(t, m, setting{})
	a, b := w.helper("research"), w.helper("oauth")
	send := func(from int64, to, body string) {
		t.Helper()
		_, err := w.Pool.Letters.Send(t.Context(), from, to, body, "")
		check(t, err)
	}
	send(a, "oauth", "patterns documented")
	send(b, "research", "thanks")
	w.tell(b, "go on")
	if got := said(m.Seen()[0]); !strings.Contains(got, "patterns documented") || !strings.Contains(got, "research") {
		t.Errorf("the request does not carry the mail: %s", got)
	}

	check(t, w.Pool.RenameHelper(t.Context(), "research", "study"))
	w.Until("it is renamed", func() bool { return w.Info("study").ID == a })
	if i := w.Info("study"); i.Pending != 1 {
		t.Errorf("the renamed helper has %d messages", i.Pending)
	}
	send(b, "study", "second")
	if _, err := w.Pool.Letters.Send(t.Context(), b, "research", "lost", ""); !errors.Is(err, tasks.ErrNoAgent) {
		t.Errorf("mail to the old name: %v", err)
	}
	send(a, "oauth", "under the new name")
	check(t, w.Pool.RenameHelper(t.Context(), "oauth", "login"))
	ms, _, err := w.Pool.Pickup.Check(t.Context(), a, inbox.Query{From: "login", Limit: 1})
	check(t, err)
	if len(ms) != 1 || ms[0].Body != "thanks" {
		t.Errorf("from= the new name brought %+v", ms)
	}
	ms, _, err = w.Pool.Pickup.Check(t.Context(), a, inbox.Query{From: "oauth"})
	check(t, err)
	if len(ms) != 1 || ms[0].Body != "second" {
		t.Errorf("from= the name of then brought %+v", ms)
	}
	ms, _, err = w.Pool.Pickup.Check(t.Context(), b, inbox.Query{From: "study"})
	check(t, err)
	if len(ms) != 1 || ms[0].Body != "under the new name" {
		t.Errorf("login has %+v", ms)
	}
}

// TestHelper_names: one rule for the names of helpers and tasks.
func TestHelper_names(t *testing.T) {
	w := open(t, &model{Reply: echo}, setting{})
	w.helper("oauth")
	w.Push("queued", "quick")
	for _, bad := range []string{"main", "New", "list", "close", "rename", "oauth", "queued", "with space", "9lives", "ünder", strings.Repeat("x", 41)} {
		if _, err := w.Pool.NewHelper(t.Context(), bad, ""); err == nil {
			t.Errorf("a helper may be called %q", bad)
		}
		if err := w.Pool.RenameHelper(t.Context(), "oauth", bad); err == nil {
			t.Errorf("a helper may be renamed to %q", bad)
		}
	}
	if _, err := w.Pool.NewHelper(t.Context(), "x", "none/such"); err == nil || !strings.Contains(err.Error(), "known") {
		t.Errorf("an unknown model: %v", err)
	}
	if _, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "oauth", Prompt: "x"}); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a task took the helper's name: %v", err)
	}
	if err := w.Pool.RenameHelper(t.Context(), "main", "boss"); err == nil {
		t.Error("main was renamed")
	}
	if i, err := w.Pool.NewHelper(t.Context(), "", "test/two"); err != nil || i.Name == "" || i.Model != "test/two" {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestHelper_close: closing refuses what would be left unfinished unless told to;
// open tasks pass to main, results follow, the name is free and the transcript kept.
func TestHelper_close(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.HasSuffix(asked(req), "less") {
			<-ctx.Done()
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	a := w.helper("oauth")
	w.tell(a, "hello")
	_, err := w.Pool.Tasks.Push(t.Context(), a, tools.Task{Name: "kid", Prompt: "endless"})
	check(t, err)
	_, err = w.Pool.Run(t.Context(), a, tools.Start{Count: 1})
	check(t, err)
	w.Until("kid runs", func() bool { return w.Info("kid").Doing == "streaming" })
	_, err = w.Pool.Tasks.Push(t.Context(), a, tools.Task{Name: "later", Prompt: "quick"})
	check(t, err)
	check(t, w.Pool.Prompt(t.Context(), a, "bottomless"))
	w.Until("oauth streams", func() bool { return w.Info("oauth").Doing == "streaming" })
	_, err = w.Pool.Letters.Send(t.Context(), w.Main(), "oauth", "unread", "")
	check(t, err)
	check(t, w.Pool.Prompt(t.Context(), a, "not yet sent"))
	err = w.Pool.CloseHelper(t.Context(), "oauth", false)
	u := (*agents.Unfinished)(nil)
	if !errors.As(err, &u) || !u.Busy || u.Running != 1 || u.Queued != 1 || u.Unread != 1 || u.Prompts != 1 {
		t.Fatalf("closing a helper at work: %v", err)
	}
	check(t, w.Pool.CloseHelper(t.Context(), "oauth", true))
	if err := w.Pool.Prompt(t.Context(), a, "too late"); !errors.Is(err, tasks.ErrNoAgent) {
		t.Errorf("a closed helper takes a prompt: %v", err)
	}
	for _, i := range w.Pool.Infos() {
		if i.ID == a {
			t.Errorf("the closed helper is still there: %+v", i)
		}
	}
	w.Run(0)
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	var from []string
	for _, m := range ms {
		if m.Kind != inbox.Notice {
			from = append(from, m.From)
		}
	}
	if len(from) != 2 {
		t.Errorf("main has mail from %v, want that of kid and later", from)
	}
	if i, err := w.Pool.NewHelper(t.Context(), "oauth", ""); err != nil || i.ID == a {
		t.Errorf("the name is not free: %+v, %v", i, err)
	}
	check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
		es, err := rx.EntriesAfter(a, 0, 0)
		if len(es) < 3 {
			t.Errorf("%d entries of the closed helper are left", len(es))
		}
		return err
	}))
	if err := w.Pool.CloseHelper(t.Context(), "main", true); err == nil {
		t.Error("main was closed")
	}
}

// TestHelper_overARestart: conversation, model, mail, queue and held prompts of a
// helper are there again; one that was closed is not.
func TestHelper_overARestart(t *testing.T) {
	m := &model{Reply: echo}
	w := open(t, m, setting{})
	i, err := w.Pool.NewHelper(t.Context(), "oauth", "test/two")
	check(t, err)
	w.helper("gone")
	check(t, w.Pool.CloseHelper(t.Context(), "gone", false))
	w.tell(i.ID, "remember 42")
	_, err = w.Pool.Letters.Send(t.Context(), w.Main(), "oauth", "unread mail", "")
	check(t, err)
	_, err = w.Pool.Tasks.Push(t.Context(), i.ID, tools.Task{Name: "later", Prompt: "quick"})
	check(t, err)
	w.Close()

	w = open(t, m, setting{Dir: w.Dir})
	w.Until("oauth is there", func() bool { return w.Info("oauth").ID == i.ID })
	if g := w.Info("oauth"); g.Model != "test/two" || g.Pending != 1 || g.State != event.Idle {
		t.Errorf("restored as %+v", g)
	}
	if w.Info("gone").ID != 0 {
		t.Error("a closed helper came back")
	}
	ts, err := w.tasks(i.ID)
	check(t, err)
	if len(ts) != 1 || ts[0].Name != "later" {
		t.Errorf("its queue: %+v", ts)
	}
	w.tell(i.ID, "which number?")
	reqs := m.Seen()
	if got := said(reqs[len(reqs)-1]); !strings.Contains(got, "remember 42") || !strings.Contains(got, "unread mail") {
		t.Errorf("the request after the restart: %s", got)
	}
}

// TestHelper_overACrash: a helper whose turn was cut rests again and is told so,
// its prompts are held, its mail and queue are there.
func TestHelper_overACrash(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "endless" {
			<-ctx.Done()
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	a := w.helper("oauth")
	check(t, w.Pool.Prompt(t.Context(), a, "endless"))
	w.Until("it streams", func() bool { return w.Info("oauth").Doing == "streaming" })
	check(t, w.Pool.Prompt(t.Context(), a, "typed before"))
	_, err := w.Pool.Letters.Send(t.Context(), w.Main(), "oauth", "unread mail", "")
	check(t, err)
	_, err = w.Pool.Tasks.Push(t.Context(), a, tools.Task{Name: "later", Prompt: "quick"})
	check(t, err)
	w.fault("ends") // nothing about the end of a turn reaches the disk, as after kill -9
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check(t, w.Pool.Close(ctx))
	w.fault("none")
	w.Close()

	w = open(t, m, setting{Dir: w.Dir})
	w.State("oauth", event.Idle)
	i := w.Info("oauth")
	if i.Pending != 1 || len(i.Prompts) != 1 || !i.Prompts[0].Held || i.Prompts[0].Text != "typed before" {
		t.Errorf("restored as %+v", i)
	}
	es := w.Entries("oauth")
	for i, text := range []string{"last turn was cut", "1 task is queued: later. /run shows what it says"} {
		if got := es[len(es)-2+i]; got.Kind != history.EntryNotice || !strings.Contains(got.Text, text) {
			t.Errorf("the transcript ends with %+v, want a notice of %q", got, text)
		}
	}
	w.tell(a, "and now?")
	if got := es[0].Text; got != "endless" {
		t.Errorf("the transcript begins with %q", got)
	}
	ts, err := w.tasks(a)
	check(t, err)
	if len(ts) != 1 || ts[0].State != "queued" {
		t.Errorf("its queue: %+v", ts)
	}
}

// tasks are those of an agent's queue.
func (w *world) tasks(agent int64) ([]tasks.Task, error) {
	q, err := w.Pool.Queue(w.T.Context(), agent)
	return q.Tasks, err
}

// TestHelper_opensAgain: a helper that was closed opens again with all it had: its
// conversation, its name unless another has it, mail it had not read; what was
// typed and not sent is not sent by itself.
func TestHelper_opensAgain(t *testing.T) {
	m := &model{Reply: bosses}
	w := open(t, m, setting{})
	i, err := w.Pool.NewHelper(t.Context(), "api", "")
	check(t, err)
	w.tell(i.ID, "one")
	check(t, w.Pool.Prompt(t.Context(), i.ID, "endless"))
	w.Until("it streams", func() bool { return w.Info("api").Doing == "streaming" })
	_, err = w.Pool.Letters.Send(t.Context(), w.Main(), "api", "not read in time", "")
	check(t, err)
	check(t, w.Pool.Prompt(t.Context(), i.ID, "typed and not sent"))
	check(t, w.Pool.CloseHelper(t.Context(), "api", true))
	if _, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "api", Prompt: "x", Resume: true}); err == nil || !strings.Contains(err.Error(), "/resume api opens it again") {
		t.Errorf("a task resumes it: %v", err)
	}
	_, goes, err := w.Pool.Resume(t.Context(), w.Main(), "api", "")
	check(t, err)
	w.Until("it is there", func() bool { return w.Info("api").State == event.Idle })
	if got := w.Info("api"); goes || got.ID != i.ID || got.Pending != 1 || len(got.Prompts) != 1 || !got.Prompts[0].Held || !got.Ended.IsZero() {
		t.Errorf("it is %+v", got)
	}
	if _, _, err := w.Pool.Resume(t.Context(), w.Main(), "api", ""); err == nil {
		t.Error("it opened twice")
	}
	w.tell(i.ID, "two")
	if got := said(m.Last()); !strings.Contains(got, "one | ") || !strings.Contains(got, "not read in time") || !strings.HasSuffix(got, "| two") {
		t.Errorf("it goes on with %q", got)
	}

	check(t, w.Pool.CloseHelper(t.Context(), "api", true))
	_, err = w.Pool.NewHelper(t.Context(), "api", "")
	check(t, err)
	_, _, err = w.Pool.Resume(t.Context(), w.Main(), "api·1", "three")
	check(t, err)
	w.Settle()
	if got := said(m.Last()); !strings.Contains(got, "| two | ") || !strings.HasSuffix(got, "| three") {
		t.Errorf("under its new name it goes on with %q", got)
	}
	dir := w.Dir
	w.Close()
	w = open(t, m, setting{Dir: dir})
	if w.idOf("api·1") != i.ID {
		t.Error("it is not there after a restart")
	}
}

// What the commands of a killed host left on the way out of their sandboxes is gone with the next start.
func TestOpen_clearsThePost(t *testing.T) {
	dir := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(dir, "post", "1"), 0o700))
	open(t, &model{Reply: echo}, setting{Dir: dir})
	if _, err := os.Lstat(filepath.Join(dir, "post")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
