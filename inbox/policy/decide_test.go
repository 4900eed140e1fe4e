package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/inbox"
)

// monday is a Monday at that time of day, local.
func monday(hour, minute int) time.Time {
	return time.Date(2026, 11, 16, hour, minute, 0, 0, time.Local)
}

// hybrid is a policy that uses every part of a file.
func hybrid() Rules {
	weekdays := [7]bool{false, true, true, true, true, true, false}
	return Rules{
		Default:  Queue,
		From:     map[string]Mode{"main": Interrupt, "testing-*": Fork, "testing-slow*": Queue, "*-bot": Manual},
		Priority: map[inbox.Priority]Mode{inbox.Urgent: Interrupt, inbox.High: Fork, inbox.Low: Manual},
		Tags:     map[string]Mode{"blocker": Interrupt, "fyi": Queue, "later": Manual},
		Schedule: []Period{
			{Name: "weekdays 9am-5pm", Days: weekdays, From: 9 * 60, To: 17 * 60, Mode: Fork},
			{Name: "weekdays 5pm-9am", Days: weekdays, From: 17 * 60, To: 9 * 60, Mode: Queue},
			{Name: "weekends", Days: [7]bool{0: true, 6: true}, Mode: Manual},
		},
		File: ".agents/oauth-impl.yml",
	}
}

// TestDecide_precedence goes down the order of precedence: each case lacks what decided the one before.
//
// Spec: M-14, M-15, M-16, M-17, M-18, M-20, M-21, M-22, M-45, R-39, R-40, R-41, R-42, E-29.
func TestDecide_precedence(t *testing.T) {
	who := Recipient{Doing: Streaming, Prompt: true}
	for _, c := range []struct {
		name string
		m    inbox.Message
		p    Policy
		mode Mode
		when When
		rule string
	}{
		{
			"quiet is above all",
			inbox.Message{From: "main", Priority: inbox.Urgent, Tags: []string{"blocker"}},
			Policy{Quiet: Quiet{On: true}, Human: Overrides{Mode: Interrupt, From: map[string]Mode{"main": Interrupt}}, Rules: hybrid()},
			"", Held, "quiet mode",
		},
		{
			"a muted thread is above every rule",
			inbox.Message{From: "main", Priority: inbox.Urgent, Muted: true},
			Policy{Human: Overrides{Mode: Interrupt}, Rules: hybrid()},
			"", Held, "a muted thread",
		},
		{
			"the end of a row between agents is above every rule",
			inbox.Message{From: "main", Priority: inbox.Urgent, Hops: inbox.MaxHops + 1},
			Policy{Human: Overrides{Mode: Interrupt}, Rules: hybrid()},
			"", Held, "the bound on mail between agents",
		},
		{
			"the last that goes in by itself",
			inbox.Message{From: "main", Hops: inbox.MaxHops},
			Policy{Human: Overrides{Mode: Interrupt}},
			Interrupt, AtSeam, "/messages mode interrupt",
		},
		{
			"what the human said of the sender",
			inbox.Message{From: "testing-a", Priority: inbox.Urgent},
			Policy{Human: Overrides{Mode: Interrupt, From: map[string]Mode{"testing-a": Queue}}, Rules: hybrid()},
			Queue, AtPause, "/messages from testing-a queue",
		},
		{
			"of senders by a pattern",
			inbox.Message{From: "testing-a", Priority: inbox.Urgent},
			Policy{Human: Overrides{Mode: Fork, From: map[string]Mode{"test*": Queue}}, Rules: hybrid()},
			Queue, AtPause, "/messages from test* queue",
		},
		{
			"what the human said of all mail",
			inbox.Message{From: "main", Priority: inbox.Urgent},
			Policy{Human: Overrides{Mode: Manual, From: map[string]Mode{"ci": Queue}}, Rules: hybrid()},
			Manual, WithPrompt, "/messages mode manual",
		},
		{"the rule for urgent mail before that for its sender", inbox.Message{From: "testing-a", Priority: inbox.Urgent}, Policy{Rules: hybrid()}, Interrupt, AtSeam, "its rule for urgent messages in .agents/oauth-impl.yml"},
		{"a sender by its name", inbox.Message{From: "main", Tags: []string{"fyi"}}, Policy{Rules: hybrid()}, Interrupt, AtSeam, "its rule for messages from main in"},
		{"a sender by a pattern", inbox.Message{From: "testing-a", Tags: []string{"blocker"}}, Policy{Rules: hybrid()}, Fork, Forked, "from testing-* in"},
		{"the longer pattern of two", inbox.Message{From: "testing-slow-1"}, Policy{Rules: hybrid()}, Queue, AtPause, "from testing-slow* in"},
		{"tags before priority", inbox.Message{From: "x", Tags: []string{"fyi"}, Priority: inbox.High}, Policy{Rules: hybrid()}, Queue, AtPause, "the tag fyi in"},
		{"the quickest of several tags", inbox.Message{From: "x", Tags: []string{"later", "fyi", "blocker"}, Priority: inbox.Low}, Policy{Rules: hybrid()}, Interrupt, AtSeam, "the tag blocker in"},
		{"a tag nobody knows says nothing", inbox.Message{From: "x", Tags: []string{"BLOCKER"}, Priority: inbox.High}, Policy{Rules: hybrid()}, Fork, Forked, "its rule for high messages"},
		{"priority before the schedule", inbox.Message{From: "x", Priority: inbox.Low}, Policy{Rules: hybrid()}, Manual, WithPrompt, "its rule for low messages"},
		{"the schedule", inbox.Message{From: "x"}, Policy{Rules: hybrid()}, Fork, Forked, "its schedule (weekdays 9am-5pm)"},
		{"an urgent one where no rule names urgent", inbox.Message{From: "x", Priority: inbox.Urgent}, Policy{Rules: Rules{Default: Queue, File: "f"}}, Queue, AtPause, "the default in f"},
		{"the default of the command over that of the file", inbox.Message{From: "x"}, Policy{Human: Overrides{Default: Interrupt}, Rules: Rules{Default: Queue}}, Interrupt, AtSeam, "/agent config message-handling interrupt"},
		{"the default of the file", inbox.Message{From: "x"}, Policy{Rules: Rules{Default: Queue, File: "f"}}, Queue, AtPause, "the default in f"},
		{"nothing", inbox.Message{From: "x", Priority: inbox.Urgent, Tags: []string{"blocker"}}, Policy{}, Manual, WithPrompt, "no policy says otherwise"},
		{"urgent only: urgent", inbox.Message{From: "main", Priority: inbox.Urgent}, Policy{Human: Overrides{From: map[string]Mode{"main": UrgentOnly}}}, Interrupt, AtSeam, "/messages from main interrupt-urgent-only"},
		{"urgent only: not urgent", inbox.Message{From: "main", Priority: inbox.High}, Policy{Human: Overrides{From: map[string]Mode{"main": UrgentOnly}}}, Queue, AtPause, "/messages from main interrupt-urgent-only"},
	} {
		if c.m.Deliver == "" {
			c.m.Deliver = inbox.Next
		}
		d := Decide(c.m, c.p, who, monday(10, 0))
		if d.Mode != c.mode || d.When != c.when || !strings.Contains(d.Rule, c.rule) || d.Reason == "" {
			t.Errorf("%s: %q %q by %q (%s), want %q %q by %q", c.name, d.Mode, d.When, d.Rule, d.Reason, c.mode, c.when, c.rule)
		}
	}
}

// TestDecide_schedule: ranges are half-open, may cross midnight, and belong to the
// day it is.
// Spec: M-18, R-41, E-29.
func TestDecide_schedule(t *testing.T) {
	who := Recipient{Doing: Resting, Prompt: true}
	p := Policy{Rules: hybrid()}
	const day, night, weekend = "weekdays 9am-5pm", "weekdays 5pm-9am", "weekends"
	for _, c := range []struct {
		at     time.Time
		mode   Mode
		period string // the one that decides, not a default with the same mode
	}{
		{monday(0, 0), Queue, night},
		{monday(8, 59), Queue, night},
		{monday(9, 0), Fork, day},
		{monday(16, 59), Fork, day},
		{monday(17, 0), Queue, night},
		{monday(23, 59), Queue, night},
		{monday(3, 0).AddDate(0, 0, 4), Queue, night},      // Friday
		{monday(3, 0).AddDate(0, 0, 5), Manual, weekend},   // Saturday
		{monday(23, 59).AddDate(0, 0, 6), Manual, weekend}, // Sunday
		{monday(0, 0).AddDate(0, 0, 7), Queue, night},
	} {
		d := Decide(inbox.Message{From: "x", Deliver: inbox.Hold}, p, who, c.at)
		if d.Mode != c.mode || !strings.Contains(d.Rule, "its schedule ("+c.period+")") {
			t.Errorf("%s: %s by %s, want %s by %s", c.at.Format("Mon 15:04"), d.Mode, d.Rule, c.mode, c.period)
		}
	}
	for at, want := range map[time.Time]time.Time{
		monday(8, 59):                        monday(9, 0),
		monday(9, 0):                         monday(17, 0),
		monday(17, 0):                        monday(24, 0),
		monday(12, 0).AddDate(0, 0, 5):       monday(17, 0).AddDate(0, 0, 5), // no other period begins then
		monday(23, 59).Add(time.Second):      monday(24, 0),
		monday(16, 59).Add(30 * time.Second): monday(17, 0),
	} {
		if got := p.Changes(at); !got.Equal(want) {
			t.Errorf("after %s it changes at %s, want %s", at.Format("Mon 15:04:05"), got.Format("Mon 15:04:05"), want.Format("Mon 15:04"))
		}
	}
}

// Spec: M-22, R-43.
func TestDecide_quiet(t *testing.T) {
	now := monday(10, 0)
	urgent := inbox.Message{From: "x", Priority: inbox.Urgent, Deliver: inbox.Wake}
	until := Policy{Quiet: Quiet{On: true, Until: now.Add(time.Hour)}, Human: Overrides{Mode: Interrupt}}
	who := Recipient{Doing: Resting, Prompt: true}
	if d := Decide(urgent, until, who, now); d.When != Held || !strings.Contains(d.Reason, "11:00") {
		t.Errorf("%+v", d)
	}
	if d := Decide(urgent, until, who, now.Add(time.Hour)); d.When != AtOnce {
		t.Errorf("when quiet is over: %+v", d)
	}
	if at := until.Changes(now); !at.Equal(now.Add(time.Hour)) {
		t.Errorf("it changes at %s", at)
	}
	if d := Decide(urgent, until, Recipient{Doing: Tooling}, now); d.When != AtSeam {
		t.Errorf("work in the background goes on: %+v", d)
	}
	if d := Decide(inbox.Message{Kind: inbox.Question}, until, who, now); d.When != Answered {
		t.Errorf("a question: %+v", d)
	}
}

// TestDecide_cells checks every combination of policy and state against its one outcome. Which tab is shown is not part
// of the state: it changes nothing.
//
// Spec: M-1, M-2, M-3, M-4, M-28, R-44, R-51, R-53, E-11, E-24.
func TestDecide_cells(t *testing.T) {
	const pause = IdleAfter
	states := []struct {
		name string
		who  Recipient
	}{
		{"idle", Recipient{Doing: Resting, Prompt: true, Away: pause}},
		{"idle, typing", Recipient{Doing: Resting, Prompt: true, Away: time.Second}},
		{"idle, a draft", Recipient{Doing: Resting, Prompt: true, Away: time.Hour, Draft: true}},
		{"idle, stopped by hand", Recipient{Doing: Resting, Prompt: true, Away: time.Hour, Stopped: true}},
		{"streaming", Recipient{Doing: Streaming, Prompt: true, Away: time.Hour}},
		{"tool running", Recipient{Doing: Tooling, Prompt: true, Away: time.Hour}},
		{"question open", Recipient{Doing: Asking, Prompt: true, Away: time.Hour}},
		{"waiting in receive", Recipient{Doing: Receiving, Prompt: true, Away: time.Hour}},
		{"compacting", Recipient{Doing: Compacting, Prompt: true, Away: time.Hour}},
		{"background, working", Recipient{Doing: Tooling}},
		{"background, asking", Recipient{Doing: Asking}},
		{"background, about to end", Recipient{Doing: Tooling, Ends: true}},
		{"a fork", Recipient{Doing: Tooling, Forked: true}},
		{"another vendor's", Recipient{Doing: Tooling, Prompt: true, Abroad: true}},
		{"ended", Recipient{Doing: Ended, Prompt: true}},
	}
	// hold, next and wake are manual, with that deliver; ! marks that it happens now.
	want := map[string][]string{
		//                          hold     next           wake           interrupt      queue          fork
		"idle":                     {"held", "with-prompt", "wakes!", "at-once!", "at-pause!", "forked!"},
		"idle, typing":             {"held", "with-prompt", "wakes!", "at-once!", "at-pause", "forked!"},
		"idle, a draft":            {"held", "with-prompt", "wakes!", "at-once!", "at-pause", "forked!"},
		"idle, stopped by hand":    {"held", "with-prompt", "with-prompt", "with-prompt", "at-pause", "forked!"},
		"streaming":                {"held", "with-prompt", "wakes", "at-seam", "at-pause", "forked!"},
		"tool running":             {"held", "with-prompt", "wakes", "at-seam", "at-pause", "forked!"},
		"question open":            {"held", "with-prompt", "wakes", "at-seam", "at-pause", "forked!"},
		"waiting in receive":       {"held", "with-prompt", "wakes", "at-seam", "at-pause", "forked!"},
		"compacting":               {"held", "with-prompt", "wakes", "at-seam", "at-pause", "forked!"},
		"background, working":      {"held", "at-seam!", "at-seam!", "at-seam", "at-pause", "forked!"},
		"background, asking":       {"held", "at-seam!", "at-seam!", "at-seam", "at-pause", "forked!"},
		"background, about to end": {"held", "at-seam!", "at-seam!", "at-seam", "at-pause!", "forked!"},
		"a fork":                   {"held", "at-seam!", "at-seam!", "at-seam", "at-pause", "at-seam"},
		"another vendor's":         {"held", "with-prompt", "wakes", "at-seam", "at-pause", "held"},
		"ended":                    {"never", "never", "never", "never", "never", "never"},
	}
	columns := []struct {
		deliver inbox.Deliver
		mode    Mode
	}{{inbox.Hold, Manual}, {inbox.Next, Manual}, {inbox.Wake, Manual}, {inbox.Hold, Interrupt}, {inbox.Hold, Queue}, {inbox.Hold, Fork}}
	reasons := map[string]bool{}
	for _, s := range states {
		for i, c := range columns {
			d := Decide(inbox.Message{ID: 7, From: "x", Deliver: c.deliver}, Policy{Human: Overrides{Mode: c.mode}}, s.who, monday(10, 0))
			got := string(d.When)
			if d.Due {
				got += "!"
			}
			if got != want[s.name][i] {
				t.Errorf("%s, %s %s: %s, want %s", s.name, c.mode, c.deliver, got, want[s.name][i])
			}
			if !strings.HasSuffix(d.Reason, ".") || !strings.HasPrefix(d.String(), "it waits ") {
				t.Errorf("%s, %s: says %q", s.name, c.mode, d)
			}
			reasons[d.Reason] = true
		}
	}
	if len(reasons) < 15 {
		t.Errorf("only %d different reasons", len(reasons))
	}
}

// Spec: M-3, R-44.
func TestDecide_saysHowLongThePauseIs(t *testing.T) {
	p := Policy{Human: Overrides{Default: Queue, IdleAfter: 90 * time.Second}}
	d := Decide(inbox.Message{From: "x"}, p, Recipient{Doing: Resting, Prompt: true, Away: 20 * time.Second}, monday(10, 0))
	if d.Wait != 70*time.Second || !strings.Contains(d.Reason, "no key came for 1m30s (1m10s to go)") {
		t.Errorf("%+v", d)
	}
	if !(Policy{}).Plain() || p.Plain() || (Policy{Quiet: Quiet{On: true}}).Plain() || (Policy{Rules: Rules{Tags: map[string]Mode{"a": Manual}}}).Plain() {
		t.Error("what is plain")
	}
	for _, c := range []struct {
		p    Policy
		mode Mode
		may  bool
	}{
		{Policy{}, Manual, true},
		{Policy{}, Queue, false},
		{p, Manual, false},
		{Policy{Rules: hybrid()}, Manual, true},
		{Policy{Rules: hybrid(), Human: Overrides{Mode: Queue}}, Manual, false},
		{Policy{Rules: hybrid(), Human: Overrides{Mode: Queue, From: map[string]Mode{"a": Manual}}}, Manual, true},
		{Policy{Rules: Rules{Default: Queue, Schedule: []Period{{Mode: Manual}}}}, Manual, true},
	} {
		if c.p.May(c.mode) != c.may {
			t.Errorf("%+v may handle so: %s %v", c.p, c.mode, !c.may)
		}
	}
	if s := (Policy{Rules: hybrid(), Human: p.Human, Quiet: Quiet{On: true}}).String(); !strings.Contains(s, "quiet") || !strings.Contains(s, "from testing-*: fork") ||
		strings.Index(s, "urgent: interrupt") > strings.Index(s, "from main: interrupt") {
		t.Errorf("listed as\n%s", s)
	}
}

func BenchmarkDecide(b *testing.B) {
	p := Policy{Rules: hybrid(), Human: Overrides{From: map[string]Mode{"ci": Queue, "nightly-*": Manual}}}
	for i := range 20 {
		p.Rules.From[fmt.Sprintf("team-%d-*", i)] = Queue
	}
	m := inbox.Message{From: "x", Deliver: inbox.Next, Priority: inbox.Normal, Tags: []string{"a", "b", "c"}}
	who, now := Recipient{Doing: Streaming, Prompt: true}, monday(18, 0)
	for b.Loop() {
		Decide(m, p, who, now)
	}
}
