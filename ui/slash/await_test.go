package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/roster"
	"fantail/tools"
	"fantail/ui/intent"
	"fantail/ui/slash/facets"
	"fantail/ui/tabs"
)

// asked notes what the commands ask of the pool.
type asked struct {
	seal string
	facets.Agents
	facets.Steer
	facets.Tasks
	pushed tools.Task
	did    []string
	err    error
}

func (a *asked) Push(_ context.Context, _ int64, t tools.Task) (roster.Task, error) {
	a.pushed = t
	idle := t.Idle
	switch {
	case idle == tools.Forever:
		idle = 0
	case idle == 0:
		idle = 5 * time.Minute
	}
	return roster.Task{Name: "kid", Interactive: t.Interactive, Idle: idle}, a.err
}

func (a *asked) Joins(int64) bool { return false }

func (a *asked) End(_ context.Context, name string) error {
	a.did = append(a.did, "end "+name)
	return a.err
}

func (a *asked) Respawn(_ context.Context, by int64, name string) (roster.Task, error) {
	a.did = append(a.did, fmt.Sprintf("respawn %s by %d", name, by))
	return roster.Task{Name: name + "-2", Interactive: true, Seal: a.seal}, a.err
}

// crowd is main, an agent that awaits input, one that works and will, one that works, and two that ended, one a fork.
func crowd(a *asked) Env {
	ts := &tabs.Tabs{Look: tabs.Look{Now: time.Now}}
	w := &event.Await{For: time.Minute}
	for _, i := range []event.Info{
		{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		{ID: 2, Name: "auth", Kind: event.Sub, State: event.Idle, Await: w},
		{ID: 3, Name: "docs", Kind: event.Sub, State: event.Running, Await: w},
		{ID: 4, Name: "lint", Kind: event.Sub, State: event.Running},
		{ID: 5, Name: "old", Kind: event.Sub, State: event.Done, Await: w},
		{ID: 6, Name: "copy", Kind: event.Fork, State: event.Done},
	} {
		ts.Add(&tabs.Tab{Info: i})
	}
	return Env{Open: true, Tabs: ts, Now: time.Now, Pool: facets.Pool{Agents: a, Steer: a, Tasks: a}}
}

// says carries out a command typed in main's tab and returns what it says.
func says(t *testing.T, e Env, line string) string {
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
	minute := time.Minute
	for _, c := range []struct {
		line string
		want tools.Task
		says string
	}{
		{"interactive fix it", tools.Task{Interactive: true}, "Queued kid, interactive: it awaits input for 5m00s after each turn; /run starts it"},
		{"interactive idle=60 fix it", tools.Task{Interactive: true, Idle: minute}, "awaits input for 1m00s after each turn"},
		{"idle=1m interactive=true fix it", tools.Task{Interactive: true, Idle: minute}, "for 1m00s"},
		{"interactive idle=0 fix it", tools.Task{Interactive: true, Idle: tools.Forever}, "it awaits input for ever after each turn"},
		{"interactive idle=0s fix it", tools.Task{Interactive: true, Idle: tools.Forever}, "for ever"},
		{"interactive=false fix it", tools.Task{}, "Queued kid; /run starts it"},
		{"fix it", tools.Task{}, "Queued kid; /run starts it"},
		{"idle=5m fix it", tools.Task{}, "! /push: idle= says how long an agent awaits input, which only an interactive one does: interactive idle=5m; it is"},
		{"interactive=false idle=5m fix it", tools.Task{}, "! /push: idle= says how long"},
		{"interactive=yes fix it", tools.Task{}, "! /push: interactive=yes is neither true nor false"},
		{"interactive idle=soon fix it", tools.Task{}, "! /push: idle=soon is no time (300, 90s, 5m; 0: it does not end by itself)"},
		{"interactive idle=-5m fix it", tools.Task{}, "! /push: idle=-5m is no time"},
		{"interactive !make", tools.Task{}, "! /push: a command reads no input; only a PROMPT can be interactive"},
		{"interactive", tools.Task{}, "! /push: the prompt is missing"},
	} {
		a := &asked{}
		got := says(t, crowd(a), "/push "+c.line)
		if !strings.Contains(got, c.says) {
			t.Errorf("%s says %q, want %q", c.line, got, c.says)
		}
		if !strings.HasPrefix(got, "!") {
			c.want.Prompt = "fix it"
		}
		if fmt.Sprint(a.pushed) != fmt.Sprint(c.want) {
			t.Errorf("%s pushes %+v, want %+v", c.line, a.pushed, c.want)
		}
	}
}

// TestEndAndRespawn: they ask the pool, and say what comes of it.
//
// Spec: C-19.
func TestEndAndRespawn(t *testing.T) {
	for line, want := range map[string]string{
		"/end auth":      "auth ends",
		"/end docs":      "docs ends after this turn",
		"/end":           "! /end: one name is needed; it is /end NAME",
		"/end auth docs": "! /end: one name is needed; it is /end NAME",
		"/respawn old":   "Queued old-2 again, interactive: it awaits input for ever after each turn; it starts by itself",
		"/respawn":       "! /respawn: one name is needed; it is /respawn NAME",
	} {
		a := &asked{seal: "this host's"}
		if got := says(t, crowd(a), line); got != want {
			t.Errorf("%s says %q, want %q", line, got, want)
		}
		if len(a.did) != 1 && !strings.HasPrefix(want, "!") {
			t.Errorf("%s did %q", line, a.did)
		}
		a = &asked{err: errors.New("it can't be")}
		if got := says(t, crowd(a), line); !strings.HasPrefix(want, "!") && got != "! it can't be" {
			t.Errorf("%s, refused, says %q", line, got)
		}
	}
	if got := says(t, crowd(&asked{}), "/respawn old"); !strings.HasSuffix(got, "/run shows that and asks") {
		t.Errorf("of another host's task it says %q", got)
	}
}

// TestAwaitCompletions: /end is offered those that await input or will, /respawn the tasks that ended, /push idle= behind
// interactive.
func TestAwaitCompletions(t *testing.T) {
	e := crowd(&asked{})
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
	e := crowd(&asked{})
	e.Tabs.ByName("auth").Info.Await = &event.Await{For: time.Minute, Until: now.Add(42 * time.Second)}
	if got := agentList(e.Tabs.All, now); !strings.Contains(got, "• auth [sub-agent] - Idle, ends in 0:42\n") || !strings.Contains(got, "• main [main] - Idle\n") {
		t.Errorf("the list is\n%s", got)
	}
}
