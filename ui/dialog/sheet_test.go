package dialog

import (
	"strings"
	"testing"
	"time"

	"fantail/tools/permission"
)

// sheetOf returns a sheet with questions of agents 1, 2, …, and its clock.
func sheetOf(t *testing.T, all ...SheetItem) (*Sheet, *time.Time) {
	t.Helper()
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	b := NewSheet(theme(t), func() time.Time { return now })
	b.Show(numbered(now, all...))
	b.Lines(100, 30)
	return b, &now
}

func numbered(now time.Time, all ...SheetItem) []SheetItem {
	for i := range all {
		all[i].ID, all[i].Agent, all[i].Since = int64(i+1), int64(i+1), now
	}
	return all
}

func called(name, cmd string) SheetItem {
	q := command(cmd)
	q.Name, q.Action.Boxed = name, true
	return SheetItem{Question: q}
}

// TestSheet_equalOnes: one answer is for all questions of a row that were shown for half a second, and for none that
// joined later or differs in anything.
func TestSheet_equalOnes(t *testing.T) {
	other, dir, rule, box, outside := called("other", "go vet ."), called("dir", "go vet ./..."), called("rule", "go vet ./..."), called("box", "go vet ./..."), called("out", "go vet ./...")
	dir.Action.Dir, rule.Rule, box.Action.Boxed, outside.Outside = "/elsewhere", "bash(go *)", false, true
	all := []SheetItem{called("vet", "go vet ./..."), called("bench", "go vet ./..."), other, dir, rule, box, outside}
	b, now := sheetOf(t, all...)
	if got := text(b, 100, 30); strings.Count(got, "go vet ./...") != 5 || !strings.Contains(got, "vet · bench ×2") || !strings.Contains(got, "7 questions from 7 agents") {
		t.Fatalf("it shows\n%s", got)
	}
	if d := b.Key(press("y")); d != nil {
		t.Fatalf("at once: %+v", d)
	}
	*now = now.Add(400 * time.Millisecond)
	b.Show(numbered(*now, append(all, called("late", "go vet ./..."))...))
	b.Lines(100, 30)
	*now = now.Add(100 * time.Millisecond)
	d, ok := b.Key(press("y")).(SheetAnswer)
	if !ok || len(d.Questions) != 2 || d.Questions[0] != 1 || d.Questions[1] != 2 || d.Answer.Choice != permission.Once {
		t.Fatalf("after half a second: %+v", d)
	}
	if got := text(b, 100, 30); strings.Contains(got, "bench") || !strings.Contains(got, "late") {
		t.Errorf("afterwards it shows\n%s", got)
	}
	if d := b.Key(press("y")); d != nil {
		t.Errorf("a second y at once answers %+v", d)
	}
}

// TestSheet_mustBeOpened: what is risky, or is not shown whole, is never allowed on the sheet; a no and opening work.
func TestSheet_mustBeOpened(t *testing.T) {
	widens, secret, again := called("a", "curl x"), called("a", "cat .env"), called("a", "ls")
	widens.Action.Kind, widens.Action.Wants, widens.Rule = permission.Widen, permission.NetworkRule, permission.NetworkRule
	secret.Action.Sensitive, again.Again = "it holds keys", "its file changed"
	tamper := called("a", "")
	tamper.Action.Kind = permission.Tamper
	for name, it := range map[string]SheetItem{
		"leaves the sandbox": widens, "a secret": secret, "asked again": again, "protected files": tamper, "an edit": {Question: edit()},
		"outside": {Question: write("")}, "too long": called("a", strings.Repeat("ls ", 60)), "words": {Question: permission.Question{Name: "a"}, Text: "Which?"},
	} {
		b, now := sheetOf(t, it)
		for _, key := range []string{"y", "s", "p", "1", "a", "f"} {
			*now = now.Add(time.Hour)
			if d := b.Key(press(key)); d != nil {
				t.Errorf("%s: %s answers %+v", name, key, d)
			}
		}
		*now = now.Add(time.Hour)
		if d := b.Key(press("space")); d != (SheetOpen{1}) {
			t.Errorf("%s: space: %+v", name, d)
		}
		d, no := keys(b, "n 'use make' enter").(SheetAnswer)
		if no != (name != "words") || no && d.Answer != (permission.Answer{Choice: permission.No, Reason: "use make"}) {
			t.Errorf("%s: n: %+v", name, d)
		}
	}
}

// TestSheet_order: harmless questions come first, the selection stays where it was, and a letter that answers nothing
// has the next one wait.
func TestSheet_order(t *testing.T) {
	risky, plain, words := called("risky", "cat .env"), called("plain", "go test ."), SheetItem{Question: permission.Question{Name: "asks"}, Text: "Which?"}
	risky.Action.Sensitive = "it holds keys"
	b, now := sheetOf(t, risky, words, plain)
	got := text(b, 100, 30)
	if p, w, r := strings.Index(got, "go test ."), strings.Index(got, "Which?"), strings.Index(got, "cat .env"); p > w || w > r {
		t.Errorf("the order is\n%s", got)
	}
	keys(b, "down")
	selected := b.at
	b.Show(numbered(*now, risky, words, plain, called("new", "go build .")))
	b.Lines(100, 30)
	if b.at != selected {
		t.Error("a new question moves the selection")
	}
	keys(b, "up up")
	*now = now.Add(time.Hour)
	b.Key(press("e"))
	if d := b.Key(press("s")); d != nil {
		t.Errorf("a sentence answers %+v", d)
	}
	*now = now.Add(time.Second)
	if d, ok := b.Key(press("s")).(SheetAnswer); !ok || d.Answer.Choice != permission.Session {
		t.Errorf("s: %+v", d)
	}
}

// TestSheet_fits: at every size the sheet has the size asked for, and shows no control character.
func TestSheet_fits(t *testing.T) {
	evil := called("e\x1b[2Jvil\n", "echo \x1b[1A\u202e x")
	b, _ := sheetOf(t, evil, called("a", "ls"), SheetItem{Question: permission.Question{Name: "日本"}, Text: "\x1b]0;x\aWhich\n?"})
	for w := 24; w < 130; w += 3 {
		for h := 4; h < 30; h += 3 {
			for _, l := range strings.Split(text(b, w, h), "\n") {
				if n := len([]rune(l)); strings.ContainsAny(l, "\x1b\a\u202e") || n > w {
					t.Fatalf("%dx%d: %q", w, h, l)
				}
			}
		}
	}
}
