package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// TestStand: a question that comes while somebody writes is a line above the box;
// it takes the box's place only where nothing is written and nobody was typing.
func TestStand(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		draft   bool
		typed   time.Duration // before
		visited bool
		want    QuestionState
	}{
		{false, time.Hour, false, placed},
		{false, 2 * time.Second, false, placed},
		{false, 2*time.Second - time.Millisecond, false, carded},
		{false, 0, false, carded},
		{true, time.Hour, false, carded},
		{true, 0, false, carded},
		{false, 0, true, placed},
		{true, time.Hour, true, carded},
	} {
		m := moment{now: now, typed: now.Add(-c.typed), draft: c.draft}
		if got := m.stand(c.visited); got != c.want {
			t.Errorf("%+v: it stands %d", c, got)
		}
	}
	if got := (moment{now: now}).stand(false); got != placed {
		t.Errorf("before any key it stands %d", got)
	}
}

// TestWhose is the whole of who gets a key: how the question stands and for how
// long, how long ago one closed, what is in the box, and what the key is.
func TestWhose(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const just, half, second, long = 499 * time.Millisecond, 500 * time.Millisecond, time.Second, time.Hour
	words := map[taker]string{beneath: "beneath", question: "question", nobody: "nobody", kept: "kept"}
	for _, c := range []struct {
		name  string
		m     moment
		means bool     // of a letter and a habit
		want  [4]taker // other, letter, habit, enter
	}{
		{"nobody asks", moment{boxed: true}, false, [4]taker{beneath, beneath, beneath, beneath}},
		{"a card, draft", moment{stands: carded, boxed: true, draft: true, since: ago(long)}, true, [4]taker{beneath, beneath, beneath, beneath}},
		{"a card, just come", moment{stands: carded, boxed: true, since: now}, true, [4]taker{beneath, beneath, beneath, beneath}},
		{"a card, empty box, long there", moment{stands: carded, boxed: true, since: ago(long)}, true, [4]taker{beneath, beneath, beneath, beneath}},
		{"a card in a tab without a box", moment{stands: carded, since: ago(long)}, true, [4]taker{beneath, beneath, beneath, beneath}},

		{"in place, just come", moment{stands: placed, boxed: true, since: now}, true, [4]taker{nobody, beneath, kept, nobody}},
		{"in place, nearly a second", moment{stands: placed, boxed: true, since: ago(second - 1)}, true, [4]taker{nobody, beneath, kept, nobody}},
		{"in place, a second", moment{stands: placed, boxed: true, since: ago(second)}, true, [4]taker{question, question, question, question}},
		{"in place, no answer", moment{stands: placed, boxed: true, since: ago(long)}, false, [4]taker{question, beneath, beneath, question}},
		{"in place, no box, just come", moment{stands: placed, since: now}, true, [4]taker{nobody, beneath, nobody, nobody}},
		{"in place, no box, a second", moment{stands: placed, since: ago(second)}, true, [4]taker{question, question, question, question}},

		{"gone to, just now", moment{stands: Sought, boxed: true, since: ago(just)}, true, [4]taker{nobody, nobody, nobody, nobody}},
		{"gone to, draft, just now", moment{stands: Sought, boxed: true, draft: true, since: ago(just)}, true, [4]taker{nobody, nobody, nobody, nobody}},
		{"gone to", moment{stands: Sought, boxed: true, draft: true, since: ago(half)}, true, [4]taker{question, question, question, question}},
		{"gone to, no answer", moment{stands: Sought, since: ago(half)}, false, [4]taker{question, question, question, question}},
		{"over a panel, just now", moment{stands: Strict, since: ago(just)}, true, [4]taker{nobody, nobody, nobody, nobody}},
		{"over a panel", moment{stands: Strict, since: ago(half)}, true, [4]taker{question, question, question, question}},

		{"just closed, empty box", moment{boxed: true, closed: ago(just)}, false, [4]taker{beneath, beneath, kept, nobody}},
		{"just closed, draft", moment{boxed: true, draft: true, closed: ago(just)}, false, [4]taker{beneath, beneath, beneath, nobody}},
		{"just closed, a panel beneath", moment{closed: ago(just)}, false, [4]taker{beneath, nobody, nobody, nobody}},
		{"just closed, a card", moment{stands: carded, boxed: true, closed: ago(just)}, false, [4]taker{beneath, beneath, kept, nobody}},
		{"closed a while ago", moment{boxed: true, closed: ago(half)}, false, [4]taker{beneath, beneath, beneath, beneath}},
		{"closed a while ago, a panel", moment{closed: ago(half)}, false, [4]taker{beneath, beneath, beneath, beneath}},
		{"just closed, the next in place", moment{stands: placed, boxed: true, since: now, closed: now}, true, [4]taker{nobody, beneath, kept, nobody}},
	} {
		c.m.now, c.m.means = now, c.means
		for class, want := range c.want {
			if got := c.m.whose(class4(class)); got != want {
				t.Errorf("%s, class %d: %s, want %s", c.name, class, words[got], words[want])
			}
		}
	}
}

// TestFreely: the choice of a mode answers its own question with a yes and then chooses the mode, which answers
// none. Where another screen was first, or the answer can't be written, the mode stays.
func TestFreely(t *testing.T) {
	for name, c := range map[string]struct {
		is   permission.Choice
		err  error
		want string
	}{
		"answered":  {permission.Freely, nil, "answer 7 once, auto"},
		"edits":     {permission.Edits, nil, "answer 7 once, accept-edits"},
		"too late":  {permission.Freely, fmt.Errorf("it was: %w", event.ErrAnswered), "answer 7 once"},
		"full disk": {permission.Edits, errors.New("the disk is full"), "answer 7 once"},
	} {
		var calls []string
		a := NewApprovals(ApprovalOptions{Tabs: &tabs.Tabs{Look: tabs.Look{Now: time.Now}}})
		a.Answer = func(_ context.Context, q int64, ans event.Answer) error {
			calls = append(calls, fmt.Sprint("answer ", q, " ", ans.Choice))
			return c.err
		}
		a.SetMode = func(_ context.Context, m permission.Mode) error { calls = append(calls, string(m)); return nil }
		i, ok := a.answered(dialog.Answered{Question: 7, Answer: permission.Answer{Choice: c.is}}).(intent.Do)
		if !ok {
			t.Fatal("it does nothing")
		}
		if _, err := i.F(t.Context()); err != nil || strings.Join(calls, ", ") != c.want {
			t.Errorf("%s: %q, %v; want %q", name, calls, err, c.want)
		}
	}
}

func class4(i int) class { return [...]class{other, letter, habit, enter}[i] }

// TestNoDraftIsEverAnswered: whatever else is the case, no key goes to a question
// while it is a card, and none that types something is lost to a draft.
func TestNoDraftIsEverAnswered(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	pauses := []time.Duration{0, 1, 499 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond, time.Second, 2 * time.Second, time.Hour}
	n := 0
	for _, typed := range pauses {
		for _, since := range pauses {
			for _, closed := range pauses {
				for bits := range 8 {
					m := moment{now: now, typed: now.Add(-typed), since: now.Add(-since), closed: now.Add(-closed), draft: bits&1 > 0, boxed: bits&2 > 0 || bits&1 > 0, means: bits&4 > 0}
					m.stands = m.stand(false)
					for _, c := range []class{other, letter, habit, enter} {
						n++
						who := m.whose(c)
						if m.stands == carded && who == question || m.draft && c.types() && who != beneath {
							t.Fatalf("%+v: class %d goes to %d", m, c, who)
						}
						if who == question && since < time.Second {
							t.Fatalf("%+v: class %d answers within the first second", m, c)
						}
					}
				}
			}
		}
	}
	if n < 10_000 {
		t.Errorf("only %d moments", n)
	}
}

// TestClasses: what every key is.
func TestClasses(t *testing.T) {
	for r := rune(' '); r < 0x7f; r++ {
		want := letter
		if strings.ContainsRune("ynsYNS123456789", r) {
			want = habit
		}
		if got := classOf(tea.KeyPressMsg{Code: r, Text: string(r)}); got != want {
			t.Errorf("%q is of class %d", r, got)
		}
		for _, mod := range []tea.KeyMod{tea.ModAlt, tea.ModCtrl, tea.ModMeta} {
			if got := classOf(tea.KeyPressMsg{Code: r, Mod: mod, Text: string(r)}); got != other {
				t.Errorf("%s+%q is of class %d", fmt.Sprint(mod), r, got)
			}
		}
	}
	for k, want := range map[*tea.KeyPressMsg]class{
		{Code: tea.KeyEnter}: enter, {Code: tea.KeyKpEnter}: enter, {Code: tea.KeyEnter, Mod: tea.ModShift}: other,
		{Code: tea.KeyTab}: other, {Code: tea.KeyEsc}: other, {Code: tea.KeyUp}: other, {Code: tea.KeyF5}: other, {Code: tea.KeyBackspace}: other,
		{Code: 'å', Text: "å"}: letter, {Text: "yes"}: letter, {Code: tea.KeySpace, Text: " "}: letter,
	} {
		if got := classOf(*k); got != want {
			t.Errorf("%s is of class %d, want %d", k, got, want)
		}
	}
}
