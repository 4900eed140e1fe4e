package slash

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// world is a pool whose agents answer at once, but for prompts that begin with "wait".
func world(t *testing.T) *agentstest.World {
	return agentstest.Open(t, &agentstest.Model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.HasPrefix(agentstest.Asked(req), "wait") {
			<-ctx.Done()
		}
		return agentstest.Text("ok"), nil
	}}, agentstest.Setting{})
}

// crowd is main, an agent that awaits input, one that works and will, one that works, and two that ended, one a fork, as
// a screen shows them. Without a world there is no pool.
func crowd(w *agentstest.World) Options {
	ts := &tabs.Tabs{Look: tabs.Look{Now: time.Now}}
	awaits := &event.Await{For: time.Minute}
	for _, i := range []event.Info{
		{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		{ID: 2, Name: "auth", Kind: event.Sub, State: event.Idle, Await: awaits},
		{ID: 3, Name: "docs", Kind: event.Sub, State: event.Running, Await: awaits},
		{ID: 4, Name: "lint", Kind: event.Sub, State: event.Running},
		{ID: 5, Name: "old", Kind: event.Sub, State: event.Done, Await: awaits},
		{ID: 6, Name: "copy", Kind: event.Fork, State: event.Done},
	} {
		if w != nil && w.Info(i.Name).ID != 0 {
			i.ID = w.Info(i.Name).ID
		}
		ts.Add(&tabs.Tab{Info: i})
	}
	e := Options{Tabs: ts, Now: time.Now}
	if w != nil {
		e.Pool = w.Pool
	}
	return e
}

// pushed is the task that waits to start; it is taken out of the queue.
func pushed(t *testing.T, w *agentstest.World) (task tasks.Task) {
	t.Helper()
	q, err := w.Pool.Queue(t.Context(), w.Main())
	agentstest.Check(t, err)
	for _, task = range q.Tasks {
		agentstest.Check(t, w.Pool.Tasks.Remove(t.Context(), task.Name))
	}
	return task
}

// says carries out a command typed in main's tab and returns what it says.
func says(t *testing.T, e Options, line string) string {
	t.Helper()
	i, err := Run(e, e.Tabs.Main(), line)
	if err != nil {
		return "! " + err.Error()
	}
	do, ok := i.(intent.Do)
	if !ok {
		t.Fatalf("%s wants %T", line, i)
	}
	then, err := do.F(t.Context())
	if err != nil {
		return "! " + err.Error()
	}
	return then.(intent.Said).Text
}

// TestPushInteractive: what the words of /push ask for, and what it answers.
//
// Spec: C-4, C-22.
func TestPushInteractive(t *testing.T) {
	w, minute := world(t), time.Minute
	for _, c := range []struct {
		line string
		want tasks.Task
		says string
	}{
		{"interactive fix it", tasks.Task{Interactive: true, Idle: 5 * minute}, "Queued kid (interactive, closes after 5m00s without input). /run to start"},
		{"interactive idle=60 fix it", tasks.Task{Interactive: true, Idle: minute}, "closes after 1m00s without input"},
		{"idle=1m interactive=true fix it", tasks.Task{Interactive: true, Idle: minute}, "after 1m00s"},
		{"interactive idle=0 fix it", tasks.Task{Interactive: true}, "stays until you end it"},
		{"interactive idle=0s fix it", tasks.Task{Interactive: true}, "stays until you end it"},
		{"interactive=false fix it", tasks.Task{}, "Queued kid. /run to start"},
		{"fix it", tasks.Task{}, "Queued kid. /run to start"},
		{"idle=5m fix it", tasks.Task{}, "! /push: idle= needs an interactive agent: interactive idle=5m. Usage:"},
		{"interactive=false idle=5m fix it", tasks.Task{}, "! /push: idle= needs an interactive agent"},
		{"interactive=yes fix it", tasks.Task{}, "! /push: interactive=yes is neither true nor false"},
		{"interactive idle=soon fix it", tasks.Task{}, "! /push: idle=soon is not a time (300, 90s, 5m; 0: never close)"},
		{"interactive idle=-5m fix it", tasks.Task{}, "! /push: idle=-5m is not a time"},
		{"interactive !make", tasks.Task{}, "! /push: a command reads no input; only a PROMPT can be interactive"},
		{"interactive", tasks.Task{}, "! /push: add a prompt"},
	} {
		got := says(t, crowd(w), "/push name=kid "+c.line)
		if !strings.Contains(got, c.says) {
			t.Errorf("%s says %q, want %q", c.line, got, c.says)
		}
		if !strings.HasPrefix(got, "!") {
			c.want.Prompt = "fix it"
		}
		if task := pushed(t, w); task.Prompt != c.want.Prompt || task.Interactive != c.want.Interactive || task.Idle != c.want.Idle {
			t.Errorf("%s pushes %+v, want %+v", c.line, task, c.want)
		}
	}
}

// TestEndAndRespawn: they ask the pool, and say what comes of it.
//
// Spec: C-19.
func TestEndAndRespawn(t *testing.T) {
	w := world(t)
	for name, prompt := range map[string]string{"auth": "hi", "docs": "wait", "old": "hi"} {
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: name, Prompt: prompt, Interactive: true, Idle: tools.Forever})
		agentstest.Check(t, err)
	}
	w.Consent(3)
	w.State("auth", event.Idle)
	w.State("docs", event.Running)
	w.State("old", event.Idle)
	agentstest.Check(t, w.Pool.End(t.Context(), "old"))
	w.State("old", event.Done)
	for _, c := range [][2]string{
		{"/end", "! /end: name one agent. Usage: /end NAME"},
		{"/end auth docs", "! /end: name one agent. Usage: /end NAME"},
		{"/end auth", "auth ends"},
		{"/end docs", "docs ends after this turn"},
		{"/end docs", "! docs has been told to end already; /kill docs ends it now"},
		{"/respawn", "! /respawn: name one agent. Usage: /respawn NAME"},
		{"/respawn old", "Queued old again (interactive, stays until you end it). It starts on its own"},
		{"/respawn docs", "! respawn: docs has not ended; /kill docs ends it"},
	} {
		if got := says(t, crowd(w), c[0]); got != c[1] {
			t.Errorf("%s says %q, want %q", c[0], got, c[1])
		}
	}
}

// TestAwaitCompletions: /end is offered those that await input or will, /respawn the tasks that ended, /push idle= behind
// interactive.
func TestAwaitCompletions(t *testing.T) {
	e := crowd(nil)
	for line, want := range map[string]string{
		"/end ":                     "auth docs",
		"/end auth ":                "",
		"/respawn ":                 "old",
		"/respawn old ":             "",
		"/push name=a ":             "name= model= agent= timeout= budget= deliver=hold deliver=next deliver=wake after= interactive",
		"/push interactive ":        "name= model= agent= timeout= budget= deliver=hold deliver=next deliver=wake after= idle=",
		"/push interactive the ":    "",
		"/push interactive=false ":  "name= model= agent= timeout= budget= deliver=hold deliver=next deliver=wake after= interactive",
		"/push interactive name=b ": "name= model= agent= timeout= budget= deliver=hold deliver=next deliver=wake after= idle=",
	} {
		var got []string
		for _, i := range Complete(e, "", line, "") {
			got = append(got, i.Insert)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q completes to %q, want %q", line, got, want)
		}
	}
}

// TestAgentListKnowsIdle: the list says how an agent awaits input.
//
// Spec: C-17.
func TestAgentListKnowsIdle(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	e := crowd(nil)
	e.Tabs.ByName("auth").Info.Await = &event.Await{For: time.Minute, Until: now.Add(42 * time.Second)}
	if got := agentList(e.Tabs.All, now); !strings.Contains(got, "• auth [sub-agent] - Idle, closes in 0:42\n") || !strings.Contains(got, "• main [main] - Idle\n") {
		t.Errorf("the list is\n%s", got)
	}
}
