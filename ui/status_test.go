package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/event"
	"fantail/inbox/policy"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/tabs"
)

// statusCase is a screen, and what its status line could say on the right, first
// what is dropped last.
type statusCase struct {
	a     *App
	must  string // stands at every width; "": nothing
	order []string
}

// statusOf makes a screen of dice.
func statusOf(t *testing.T, d *rand.Rand) statusCase {
	a := screen(t, 200, 30)
	one := func(xs ...string) string { return xs[d.IntN(len(xs))] }
	i := event.Info{
		ID: 1, Name: one("main", "implement-auth-tests-1", "測試代理人", strings.Repeat("long-", 20)), Kind: event.Main, State: event.Running,
		Model: one("", "anthropic/sonnet"), Judged: event.Judged{Outside: d.IntN(6) == 0}, Pending: d.IntN(3) * 7,
	}
	if i.Pending > 0 {
		i.Urgent = d.IntN(2)
	}
	if d.IntN(2) == 0 {
		i.Window, i.Context, i.Cost, i.Priced = 200_000, 68_000, 123_456, true
	}
	a.with(i)
	a.tabs.Focus.News = i.Pending > 7
	if d.IntN(5) == 0 {
		a.tabs.Focus.Info.Kind = event.Fork
	}
	a.branch = one("", "main", "feature/oauth", "feature/"+strings.Repeat("very-", 30)+"long")
	modes := []string{"ask", "accept-edits", "auto", "plan", "yolo"}
	a.o.Usual = permission.Mode(one(append(modes, "", "ask", "ask")...))
	a.tally.Tally = event.Tally{Mode: permission.Mode(one(modes...)), Running: d.IntN(3), Queued: d.IntN(2), Asking: d.IntN(2) * 2}
	if d.IntN(4) == 0 {
		a.tally.Quiet = policy.Quiet{On: true, Until: a.o.Now().Add(time.Hour)}
	}
	if d.IntN(3) == 0 {
		a.flash.Say(one("Press Ctrl+C again to leave", "not sent: "+strings.Repeat("the disk is full ", 8)))
	}
	c := statusCase{a: a}
	mode := a.tally.Mode
	if i.Outside {
		mode = mode.Tightest()
	}
	if mode != a.o.Usual || mode == permission.Yolo || mode == permission.Plan {
		c.must = string(mode)
	}
	add := func(when bool, text string) {
		if when && text != "" {
			c.order = append(c.order, text)
		}
	}
	add(true, a.flash.Text())
	add(a.tally.Asking > 0, "2 asking")
	add(a.tally.Asking > 0, "2 asking · alt+a")
	add(a.tally.Running > 0, fmt.Sprintf("%d running", a.tally.Running))
	add(a.tally.Queued > 0, "1 queued")
	add(a.tally.Quiet.On, "quiet until")
	add(i.Outside, "from outside")
	add(a.tabs.Focus.Info.Kind == event.Fork, "fork")
	add(a.branch != "", "[Branch: "+strings.TrimSuffix(cells.Cut(a.branch, tabs.BranchLeast), "…"))
	add(mode == permission.Yolo, "yolo · outside the sandbox ")
	add(c.must == "", " "+string(mode)+" ")
	add(i.Model != "", "sonnet")
	add(i.Context > 0, "34%")
	add(i.Context > 0, "$0.12")
	add(cells.Width(a.branch) > tabs.BranchLeast, "[Branch: "+a.branch+"]")
	return c
}

// TestStatusLine_atEveryWidth: the line is as wide as the screen; the mode that is
// not the usual one, and yolo and plan, show at every width; the rest shows in one
// order of importance; and what a width shows every larger one shows.
func TestStatusLine_atEveryWidth(t *testing.T) {
	d := rand.New(rand.NewPCG(9, 7))
	for n := range long.Times(60, 300) {
		c := statusOf(t, d)
		before, branch, agent := 0, 0, 0
		for w := 20; w <= 200; w++ {
			text := plain(c.a.statusLine(w))
			fail := func(format string, args ...any) {
				t.Helper()
				t.Fatalf("case %d at %d: %s\n%q", n, w, fmt.Sprintf(format, args...), text)
			}
			if got := cells.Width(text); got != w {
				fail("it is %d wide", got)
			}
			if c.must != "" && !strings.HasSuffix(text, c.must+" ") && !strings.Contains(text, c.must+" · quiet") && !strings.Contains(text, "yolo · outside the sandbox ") {
				fail("%s does not show", c.must)
			}
			shown := 0
			for shown < len(c.order) && strings.Contains(text, c.order[shown]) {
				shown++
			}
			for _, x := range c.order[shown:] {
				if strings.Contains(text, x) && !strings.Contains(strings.Join(c.order[:shown], "\n"), x) {
					fail("%q shows, but %q does not", x, c.order[shown])
				}
			}
			if shown < before {
				fail("%q was shown one column before", c.order[shown])
			}
			before = shown

			_, name, _ := strings.Cut(text, "[Branch: ")
			name, _, _ = strings.Cut(name, "]")
			if cells.Width(name) < branch {
				fail("the branch is shorter than one column before")
			}
			branch = cells.Width(name)

			name, ok := strings.CutPrefix(text, "[Agent: ")
			if at := strings.IndexAny(name, "|]"); ok && at >= 0 {
				got := cells.Width(strings.TrimRight(name[:at], " "))
				if got < agent {
					fail("the agent's name is shorter than one column before")
				}
				agent = got
			}
		}
		if before != len(c.order) && agent < 30 && cells.Width(strings.Join(c.order, "   ")) < 120 {
			t.Errorf("case %d: at 200 only %q show", n, c.order[:before])
		}
	}
}

// TestStatusLine_shortensTheBranchFirst: all else stays while the branch can give room.
func TestStatusLine_shortensTheBranchFirst(t *testing.T) {
	a := screen(t, 200, 30).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Running, Model: "anthropic/sonnet", Pending: 2})
	a.branch, a.o.Usual = "feature/oauth-for-the-shop", permission.Ask
	a.tally.Tally = event.Tally{Asking: 2, Mode: permission.AcceptEdits}
	for w, want := range map[int]string{
		110: "[Agent: main | 2 pending] [Branch: feature/oauth-for-the-shop]       2 asking · alt+a   sonnet · accept-edits ",
		90:  "[Agent: main | 2 pending] [Branch: feature/oau…] 2 asking · alt+a   sonnet · accept-edits ",
		80:  "[Agent: main | 2 pending] [Branch: feature…]    2 asking · alt+a   accept-edits ",
		70:  "[Agent: main | 2 pending]             2 asking · alt+a   accept-edits ",
		50:  "[Agent: main | 2 pending] 2 asking   accept-edits ",
		30:  "[Agent: m… | ✉2] accept-edits ",
	} {
		if got := plain(a.statusLine(w)); got != want {
			t.Errorf("at %d it is\n%q, want\n%q", w, got, want)
		}
	}
}

func TestStatusLineLeft(t *testing.T) {
	for _, c := range []struct {
		info   event.Info
		branch string
		want   string
	}{
		{event.Info{Name: "main"}, "", "[Agent: main]"},
		{event.Info{Name: "main"}, "trunk", "[Agent: main] [Branch: trunk]"},
		{event.Info{Name: "main", Pending: 3}, "trunk", "[Agent: main | 3 pending] [Branch: trunk]"},
		{event.Info{Name: "main", Pending: 3, Urgent: 1}, "trunk", "[Agent: main | 🔴 urgent · 3 pending] [Branch: trunk]"},
		{event.Info{Name: "a\x1b[31mb", Pending: 1}, "x\x07\ny", "[Agent: ab | 1 pending] [Branch: x␇⏎y]"},
	} {
		a := screen(t, 80, 24)
		c.info.ID, c.info.Kind = 1, event.Main
		a.with(c.info)
		a.branch = c.branch
		if got := strings.TrimRight(plain(a.statusLine(80)), " "); got != c.want {
			t.Errorf("it is %q, want %q", got, c.want)
		}
	}
}

// TestStatusLineWithoutAModel: that main has no language model stands out.
func TestStatusLineWithoutAModel(t *testing.T) {
	for _, model := range []string{tabs.PlainEngine, "ollama/qwen3"} {
		a := screen(t, 120, 36).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Model: model})
		loud := a.tabs.Theme.Paint(themes.Strong, tabs.PlainEngine)
		if got := strings.Contains(a.statusLine(120), loud); got != (model == tabs.PlainEngine) {
			t.Errorf("%q: the status line warns: %v", model, got)
		}
	}
}
