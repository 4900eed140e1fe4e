package agents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// remembers is a model that says how much it was told before.
func remembers(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	prompt := asked(req)
	switch {
	case strings.HasPrefix(prompt, "hang"):
		<-ctx.Done()
		return text("so far"), nil
	case strings.HasPrefix(prompt, "break"):
		return nil, &llm.Error{Kind: llm.BadRequest, Message: "broken"}
	case strings.HasPrefix(prompt, "use ") && len(results(req)) == 0:
		name, args, _ := strings.Cut(prompt[4:], " ")
		return call("c", name, args), nil
	}
	var said []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				said = append(said, t.Text)
			}
		}
	}
	return text("heard: " + strings.Join(said, " | ")), nil
}

// turns are the rows of an agent's turns.
func (w *world) turns(agent int64) (ts []store.Turn) {
	w.T.Helper()
	check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) (err error) {
		ts, err = rx.Turns(agent)
		return err
	}))
	return ts
}

func (w *world) idOf(name string) int64 {
	w.T.Helper()
	for _, i := range w.Pool.Infos() {
		if i.Name == name {
			return i.ID
		}
	}
	w.T.Fatalf("there is no %s", name)
	return 0
}

// TestTurns_matrix: how each turn's row names its kin.
// Spec: N-6, N-10, N-11, N-13, N-14, N-29, N-32.
func TestTurns_matrix(t *testing.T) {
	w := open(t, &model{Reply: remembers}, setting{})
	w.Prompt("hello")
	w.Settle()
	w.Prompt(`use delegate {"name":"kid","prompt":"first"}`)
	w.Settle()
	w.Prompt(`use push {"name":"kid","prompt":"second","resume":true,"start":true}`)
	w.Settle()
	w.Push("mine", "of the human")
	w.Run(0)
	w.Settle()

	m := w.turns(w.Main())
	if len(m) != 3 {
		t.Fatalf("main has %d turns", len(m))
	}
	root, then, last := m[0], m[1], m[2]
	if root.Parent != 0 || root.Conversation != root.ID || root.SpawnedBy != 0 || root.Kind != "agent" {
		t.Errorf("root %+v", root)
	}
	if then.Parent != root.ID || then.Conversation != root.ID || then.SpawnedBy != 0 || then.Kind != "agent" {
		t.Errorf("continuation %+v", then)
	}
	k := w.turns(w.idOf("kid"))
	if len(k) != 2 {
		t.Fatalf("kid has %d turns", len(k))
	}
	if k[0].Parent != 0 || k[0].Conversation != root.ID || k[0].SpawnedBy != then.ID || k[0].Kind != "async_subagent" {
		t.Errorf("fresh %+v", k[0])
	}
	if k[1].Parent != k[0].ID || k[1].Conversation != k[0].Conversation || k[1].SpawnedBy != last.ID || k[1].Kind != "async_subagent" {
		t.Errorf("resumed %+v", k[1])
	}
	if h := w.turns(w.idOf("mine")); len(h) != 1 || h[0].Parent != 0 || h[0].Conversation != h[0].ID || h[0].SpawnedBy != 0 {
		t.Errorf("the human's %+v", h)
	}
}

// TestTurns_newConversation: a conversation that begins anew has a root of its
// own, and what it dispatches belongs to it; a branch that does so too.
// Spec: N-10, N-11, N-12, N-13.
func TestTurns_newConversation(t *testing.T) {
	w := open(t, &model{Reply: remembers}, setting{})
	w.Prompt("hello")
	w.Settle()
	branch, err := w.Pool.Branch(t.Context(), w.Main(), 1, "branch")
	check(t, err)
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	w.Prompt(`use delegate {"name":"kid","prompt":"first"}`)
	w.Settle()
	w.Prompt("more")
	w.Settle()
	m := w.turns(w.Main())
	if root := m[1]; root.Parent != 0 || root.Conversation != root.ID {
		t.Errorf("the new root %+v", root)
	}
	if then := m[2]; then.Parent != m[1].ID || then.Conversation != m[1].ID {
		t.Errorf("its continuation %+v", then)
	}
	if k := w.turns(w.idOf("kid"))[0]; k.Conversation != m[1].ID || k.SpawnedBy != m[1].ID {
		t.Errorf("what it dispatched %+v", k)
	}
	w.tell(branch.ID, "on")
	check(t, w.Pool.Clear(t.Context(), branch.ID))
	w.tell(branch.ID, "anew")
	b := w.turns(branch.ID)
	if b[1].Parent != m[0].ID || b[1].Conversation != b[1].ID {
		t.Errorf("branched %+v", b[1])
	}
	if b[2].Parent != 0 || b[2].Conversation != b[2].ID {
		t.Errorf("branched and begun anew %+v", b[2])
	}
}

// TestResume: an ended agent goes on in its own tab with what it knows; its name
// leads to its last attempt over a restart, and a closed tab opens again.
// Spec: N-28, N-30, N-32, R-14, R-15, E-21.
func TestResume(t *testing.T) {
	t.Parallel()
	w := open(t, &model{Reply: remembers}, setting{})
	w.Push("kid", "the secret is 7")
	w.Run(0)
	w.Settle()
	id := w.idOf("kid")
	task, ok, err := w.Pool.Resume(t.Context(), w.Main(), "kid", "what is it?")
	check(t, err)
	w.Settle()
	w.Until("kid is done again", func() bool { return w.Info("kid").Attempt == 2 && w.Info("kid").State == event.Done })
	if i := w.Info("kid"); !ok || i.ID != id || i.Prompt != "what is it?" || i.Task != task.ID || i.Steps != 2 {
		t.Errorf("kid is %+v", i)
	}
	if got := kinds(w.Entries("kid")); got != "prompt text ended prompt text ended" {
		t.Errorf("entries: %s", got)
	}
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != 2 || ms[0].Sender != id || ms[1].Sender != id || ms[0].Task == ms[1].Task || !strings.Contains(ms[1].Body, "the secret is 7 |") {
		t.Errorf("inbox %+v", ms)
	}

	if _, ok, err := w.Pool.Resume(t.Context(), w.Main(), "kid", ""); ok || err == nil || !strings.Contains(err.Error(), "/resume kid PROMPT") {
		t.Errorf("a completed one without a prompt: %v, %v", ok, err)
	}
	check(t, w.Pool.CloseTab(t.Context(), "kid"))
	if _, ok, err := w.Pool.Resume(t.Context(), w.Main(), "kid", ""); ok || err != nil {
		t.Errorf("a closed one without a prompt: %v, %v", ok, err)
	}
	w.Until("its tab is there", func() bool { return w.Info("kid").State == event.Done })
	if w.idOf("kid") != id {
		t.Error("another agent's tab opened")
	}
	check(t, w.Pool.CloseTab(t.Context(), "kid"))
	dir := w.Dir
	w.Close()

	w = open(t, &model{Reply: remembers}, setting{Dir: dir})
	_, _, err = w.Pool.Resume(t.Context(), w.Main(), "kid", "and now?")
	check(t, err)
	w.Settle()
	w.Until("kid is done", func() bool { return w.Info("kid").Attempt == 3 && w.Info("kid").State == event.Done })
	if i := w.Info("kid"); i.ID != id || i.Steps != 3 {
		t.Errorf("kid is %+v", i)
	}
	check(t, w.Pool.CloseTab(t.Context(), "kid"))
	w.Push("kid", "a new one")
	w.Run(0)
	w.Settle()
	if w.idOf("kid") == id {
		t.Error("a dispatch without resume goes on with the old one")
	}
	_, _, err = w.Pool.Resume(t.Context(), w.Main(), "kid·1", "still there?")
	check(t, err)
	w.Settle()
	if w.idOf("kid·1") != id {
		t.Error("the old one is not there under its new name")
	}
}

// TestResume_howeverItEnded: failed, killed and crashed agents go on, without a
// prompt too, and know that they were cut.
// Spec: R-14, N-36.
func TestResume_howeverItEnded(t *testing.T) {
	asks := make(chan struct{})
	w := open(t, &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.HasPrefix(asked(req), "hang") {
			close(asks)
		}
		return remembers(ctx, req)
	}}, setting{})
	w.Push("a", "break it")
	w.Push("b", "hang on")
	w.Run(0)
	w.State("a", event.Failed)
	<-asks // else the letter may still enter the request
	_, err := w.Pool.Letters.Send(t.Context(), w.Main(), "b", "not read in time", "")
	check(t, err)
	check(t, w.Pool.Kill(t.Context(), "b", false))
	w.Until("it has mail", func() bool { return w.Info("b").Pending == 1 })
	for _, name := range []string{"a", "b"} {
		_, ok, err := w.Pool.Resume(t.Context(), w.Main(), name, "")
		if err != nil || !ok {
			t.Fatalf("resume %s: %v, %v", name, ok, err)
		}
		w.Until(name+" is done", func() bool { return w.Info(name).State == event.Done })
		es := w.Entries(name)
		if last := es[len(es)-2].Text; !strings.Contains(last, "That turn ended before it was done") {
			t.Errorf("%s said %q", name, last)
		}
		if got := strings.Contains(kinds(es), "message"); got != (name == "b") || w.Info(name).Pending != 0 {
			t.Errorf("%s has %d pending and entries %s", name, w.Info(name).Pending, kinds(es))
		}
	}
}

// TestResume_refused: what can't be resumed is an error that names the next step.
// Spec: R-14, E-21.
func TestResume_refused(t *testing.T) {
	w := open(t, &model{Reply: remembers}, setting{})
	w.Push("later", "quick")
	w.Push("busy", "hang on")
	w.Run(1)
	w.Until("one is done and one runs", func() bool { return w.Info("busy").State == event.Running })
	w.Push("waits", "quick")
	for name, want := range map[string]string{
		"busy": "/send busy TEXT", "nobody": "no agent nobody", "main": "/send main TEXT",
	} {
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: name, Prompt: "x", Resume: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("resume of %s: %v, want …%s", name, err, want)
		}
	}
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "later", Prompt: "x", Resume: true})
	check(t, err)
	_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "later", Prompt: "x", Resume: true})
	if err == nil || !strings.Contains(err.Error(), "/send later TEXT") {
		t.Errorf("resumed twice: %v", err)
	}
	_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "later", Prompt: "x"})
	if err == nil || !strings.Contains(err.Error(), "(tool send)") { // a model reads it too
		t.Errorf("a new one took the name of one that is about to go on: %v", err)
	}
	for what, err := range map[string]error{"rename": w.Pool.RenameHelper(t.Context(), "busy", "x"), "close": w.Pool.CloseHelper(t.Context(), "busy", false)} {
		if err == nil || strings.HasPrefix(err.Error(), "busy") { // a screen begins it with a capital
			t.Errorf("%s: %v", what, err)
		}
	}
	check(t, w.Pool.Kill(t.Context(), "busy", false))
	w.Settle()
}

// TestResume_asksAsBefore: the gate stands before a resumed agent as before any.
// Spec: E-17, Q-55.
func TestResume_asksAsBefore(t *testing.T) {
	w := open(t, counted(), setting{Mode: permission.Ask})
	w.Push("kid", "say first")
	w.Run(0)
	w.Settle()
	_, _, err := w.Pool.Resume(t.Context(), w.Main(), "kid", "run echo again | tee said")
	check(t, err)
	w.State("kid", event.Asking)
	if !w.Answer(w.Info("kid").Question.ID, permission.Once) {
		t.Error("the question is gone")
	}
	w.Settle()
	if es := w.Entries("kid"); !strings.Contains(es[len(es)-2].Text, "again") {
		t.Errorf("kid said %q", es[len(es)-2].Text)
	}
}

// TestOrphans: agents and tasks of one that ended belong to the nearest agent above
// it that lives, three levels deep; nothing ends with its parent.
// Spec: N-35, N-37, R-56, E-11.
func TestOrphans(t *testing.T) {
	for _, how := range []string{"killed", "failed"} {
		t.Run(how, func(t *testing.T) {
			release := make(chan struct{})
			broken := make(chan struct{})
			m := &model{}
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				prompt := asked(req)
				var depth int
				if n, _ := fmt.Sscanf(prompt, "depth %d", &depth); n == 1 && depth < 4 {
					if len(results(req)) == 0 {
						return call("d", "delegate", fmt.Sprintf(`{"name":"k%d","prompt":"depth %d"}`, depth+1, depth+1)), nil
					}
					if depth == 0 {
						return text("rests"), nil
					}
					select {
					case <-broken:
						if how == "failed" && depth < 3 {
							return nil, &llm.Error{Kind: llm.BadRequest, Message: "broken"}
						}
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				if depth == 4 {
					<-release
				}
				return text("done " + prompt), nil
			}
			w := open(t, m, setting{})
			w.Prompt("depth 0")
			w.State("k4", event.Running)
			if how == "killed" {
				check(t, w.Pool.Kill(t.Context(), "k2", false))
				check(t, w.Pool.Kill(t.Context(), "k1", false))
			}
			close(broken)
			w.Until("those above ended", func() bool { return w.Info("k1").State.Terminal() && w.Info("k2").State.Terminal() })
			w.Until("k3 is main's", func() bool { return w.Info("k3").Parent == w.Main() })
			if i := w.Info("k4"); i.State.Terminal() || i.Parent != w.Info("k3").ID {
				t.Errorf("k4 is %+v", i)
			}
			close(release)
			w.Settle()
			from := map[string]string{}
			ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
			check(t, err)
			for _, m := range ms {
				from[m.From] += m.Outcome
			}
			if from["k3"] != "completed" || from["k1"] != how || from["k2"] != how || len(ms) != 3 {
				t.Errorf("main got %v", from)
			}
		})
	}
}

// TestInterrupted_partialOutputIsAResult: what a stopped agent had said is its
// result, marked; without a word it is a failure.
// Spec: N-36, R-17.
func TestInterrupted_partialOutputIsAResult(t *testing.T) {
	w := open(t, &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		if asked(req) == "speaks" {
			return text("half of it"), nil
		}
		return nil, ctx.Err()
	}}, setting{})
	for _, name := range []string{"speaks", "mute"} {
		w.Push(name, name)
		w.Run(0)
		w.Until(name+" is at it", func() bool { return w.Info(name).Doing == "streaming" })
		w.Pool.Stop(w.Info(name).ID)
		w.State(name, event.Killed)
	}
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != 2 {
		t.Fatalf("inbox %+v", ms)
	}
	half, none := ms[0], ms[1]
	if half.Kind != inbox.Result || half.Outcome != "interrupted" || half.Body != "half of it" || half.Error == "" || half.Success() {
		t.Errorf("with output: %+v", half)
	}
	if o := (inbox.Rendering{}).Reported(half); !strings.Contains(o, `"success":false`) || !strings.Contains(o, `"partial_output":"half of it"`) || !strings.Contains(o, `"partial":true`) {
		t.Errorf("object %s", o)
	}
	if none.Kind != inbox.Failure || none.Outcome != "interrupted" || none.Partial != "" {
		t.Errorf("without output: %+v", none)
	}
}

// TestResume_leavesWhatWaits: what a task goes by beside its prompt is taken as an agent is revived, and nothing else that
// waits for it.
// Spec: R-17, N-36.
func TestResume_leavesWhatWaits(t *testing.T) {
	w := open(t, &model{Reply: hung}, setting{})
	w.Push("kid", "hang")
	w.Run(0)
	w.Until("it hangs", func() bool { return w.Info("kid").Doing == "streaming" })
	held := w.drop("kid", strings.Repeat("held mail ", 5000), inbox.Hold)
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.State("kid", event.Killed)
	w.Push("dep", "!echo done")
	w.Run(0)
	w.Settle()
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "kid", Prompt: "hang", Resume: true, After: []string{"dep"}})
	check(t, err)
	w.Run(0)
	w.Until("it hangs again", func() bool { return w.Info("kid").Attempt == 2 && w.Info("kid").Doing == "streaming" })
	if m := w.got(held); !m.Taken.IsZero() {
		t.Errorf("it was taken by %s", m.TakenBy)
	}
	n := 0
	for _, e := range w.Entries("kid") {
		if e.By == "start" {
			n += len(e.Messages)
		}
	}
	if n != 1 {
		t.Errorf("it was given %d messages, want how dep ended", n)
	}
}
