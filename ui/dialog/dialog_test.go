package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
)

func theme(tb testing.TB) *themes.Theme {
	tb.Helper()
	t, err := themes.Load("dark", false)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// clock is a time that a test moves by hand.
func press(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	rest := name
	for {
		head, tail, ok := strings.Cut(rest, "+")
		if !ok || tail == "" {
			break
		}
		switch head {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		}
		rest = tail
	}
	named := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "delete": tea.KeyDelete,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	}
	if code, ok := named[rest]; ok {
		k.Code = code
		if rest == "space" {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(rest)[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

// keys presses a script: words are key names, '...' is typed as it stands. It
// stops at the first decision.
func keys(b Box, script string) Decision {
	for script != "" {
		script = strings.TrimLeft(script, " ")
		if strings.HasPrefix(script, "'") {
			var lit string
			lit, script, _ = strings.Cut(script[1:], "'")
			for _, r := range lit {
				if d := b.Key(tea.KeyPressMsg{Code: r, Text: string(r)}); d != nil {
					return d
				}
			}
			continue
		}
		var name string
		name, script, _ = strings.Cut(script, " ")
		if name == "" {
			continue
		}
		if d := b.Key(press(name)); d != nil {
			return d
		}
	}
	return nil
}

func command(s string) permission.Question {
	return permission.Question{
		ID: 7, Name: "auth", Rule: "bash(go test *)",
		Action: permission.Action{Tool: "bash", Kind: permission.Command, Title: "bash " + s, Command: s, Dir: "/work/app"},
	}
}

func write(diff string) permission.Question {
	return permission.Question{
		ID: 8, Name: "main", Rule: "write(/etc/hosts)",
		Action: permission.Action{
			Tool: "edit_file", Kind: permission.Write, Title: "edit hosts", Paths: []string{"/etc/hosts"},
			Outside: true, Sensitive: "it decides where names lead", Diff: diff,
		},
	}
}

// edit is a question about an edit in the workspace, which mode accept-edits would allow.
func edit() permission.Question {
	q := write(strings.ReplaceAll(diff, "hosts", "net/hosts"))
	q.Rule, q.Edits = "write(net/hosts)", true
	q.Action.Title, q.Action.Dir, q.Action.Paths = "edit net/hosts", "/work/app", []string{"/work/app/net/hosts"}
	q.Action.Outside, q.Action.Sensitive = false, ""
	return q
}

const diff = `--- a/hosts
+++ b/hosts
@@ -1,4 +1,4 @@
 127.0.0.1 localhost
--- not a header
-10.0.0.1 old
+10.0.0.1 new	# 日本語 and a comment that is long enough to run on in a box that is not very wide at all
 the end
`

func asked(tb testing.TB, q permission.Question) *question {
	tb.Helper()
	return NewQuestion(theme(tb), q).(*question)
}

func TestQuestionAnswers(t *testing.T) {
	t.Parallel()
	answer := func(c permission.Choice, reason string) Decision {
		return Answered{Question: 7, Answer: permission.Answer{Choice: c, Reason: reason}}
	}
	for _, c := range []struct {
		script string
		norule bool
		want   Decision
	}{
		{script: "y", want: answer(permission.Once, "")},
		{script: "1"},
		{script: "'Y'", want: answer(permission.Once, "")},
		{script: "s", want: answer(permission.Session, "")},
		{script: "2"},
		{script: "s", norule: true},
		{script: "2", norule: true},
		{script: "n"},
		{script: "n enter", want: answer(permission.No, "")},
		{script: "3 n 'too slow' enter", want: answer(permission.No, "too slow")},
		{script: "n 'use make' left left left left left 'r' end '!' enter", want: answer(permission.No, "user make!")},
		{script: "tab"}, // only a command that may be changed opens
		{script: "n esc y", want: answer(permission.Once, "")},
		{script: "n 'abc def' ctrl+w backspace 'd' enter", want: answer(permission.No, "abcd")},
		{script: "esc", want: Cancelled{}},
		{script: "n esc esc", want: Cancelled{}},
		// Enter answers nothing before an arrow chose, and the first arrow chooses no.
		{script: "enter"},
		{script: "enter enter space", want: Whole{}},
		{script: "down enter enter", want: answer(permission.No, "")},
		{script: "up enter enter", want: answer(permission.No, "")},
		{script: "up up enter", want: answer(permission.Project, "")},
		{script: "up up up enter", want: answer(permission.Session, "")},
		{script: "p", want: answer(permission.Project, "")},
		{script: "4"},
		{script: "p", norule: true},
		{script: "4", norule: true},
		{script: "down up up up enter", want: answer(permission.Once, "")},
		{script: "up up enter", norule: true, want: answer(permission.Once, "")},
		{script: "up up up up up enter enter", want: answer(permission.No, "")},
		// Keys that look alike are not answers.
		{script: "ctrl+y alt+y alt+1 ctrl+s 5 0 a pgup pgdown home end j k"},
	} {
		q := command("go test ./...")
		if c.norule {
			q.Rule = ""
		}
		b := asked(t, q)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
	}
}

// TestQuestionEdit: Tab opens the command; only Enter sends a change of it, and an unchanged one answers nothing.
func TestQuestionEdit(t *testing.T) {
	t.Parallel()
	change := func(to string) Decision {
		return Answered{Question: 7, Answer: permission.Answer{Choice: permission.Edited, Command: to}}
	}
	for _, c := range []struct {
		script, draft string
		want          Decision
	}{
		{script: "tab ' -v' enter", want: change("go test -v")},
		{script: "tab ' -v' alt+enter 'y' enter", want: change("go test -v\ny")},
		{script: "tab enter"},
		{script: "tab ctrl+u enter"},
		{script: "tab 'ys' esc"},
		{script: "tab esc y", want: Answered{Question: 7, Answer: permission.Answer{Choice: permission.Once}}},
		{script: "'x' enter", draft: "rm -r ", want: change("rm -r x")},
	} {
		q := command("go test")
		q.Editable, q.Draft = true, c.draft
		b := asked(t, q)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
	}
	q := command("go test -v")
	q.Was = "go test"
	if s := ansi.Strip(strings.Join(NewQuestion(theme(t), q).Lines(80, 24), "\n")); !strings.Contains(s, "Run your command for auth?") || !strings.Contains(s, "asked for:") {
		t.Errorf("a changed command is shown as\n%s", s)
	}
}

// TestEditAnswers: s lets all edits run, f only those of the file.
func TestEditAnswers(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]permission.Choice{"y": permission.Once, "s": permission.Edits, "f": permission.Session, "p": permission.Project} {
		if d := keys(asked(t, edit()), key); d != (Answered{Question: 8, Answer: permission.Answer{Choice: want}}) {
			t.Errorf("%s: %+v", key, d)
		}
	}
	if d := keys(asked(t, write(diff)), "f"); d != nil {
		t.Errorf("f elsewhere: %+v", d)
	}
}

// TestStrictly: over what letters mean something else to none answers; a digit
// selects, and Enter confirms what is highlighted.
func TestStrictly(t *testing.T) {
	t.Parallel()
	for r := rune(' '); r < 0x7f; r++ {
		for _, b := range []Question{asked(t, command("go test ./...")), posed(t, which(false)), posed(t, which(true))} {
			b.Strictly()
			b.Lines(80, 24)
			if d := b.Key(press(string(r))); d != nil {
				t.Errorf("%q decides %+v", r, d)
			}
			d := b.Key(press("enter"))
			_, call := b.(*question)
			if digit := r >= '1' && r <= '3' || call && r == '4'; digit != (d != nil) && !(r == '3' && b.(interface{ Means(tea.KeyPressMsg) bool }).Means(press("x"))) {
				t.Errorf("%q and Enter decide %+v", r, d)
			}
		}
	}
	b := asked(t, command("go test ./..."))
	b.Strictly()
	if shown := text(b, 80, 24); !strings.Contains(shown, " 1  Yes, once") || strings.Contains(shown, " y  Yes") || !strings.Contains(shown, "enter confirm") {
		t.Errorf("it shows:\n%s", shown)
	}
	keys(b, "2")
	if d, ok := b.Key(press("enter")).(Answered); !ok || d.Answer.Choice != permission.Session {
		t.Errorf("2 and Enter: %+v", d)
	}
	if d := keys(b, "3 enter 'not now' enter"); d != (Answered{7, permission.Answer{Choice: permission.No, Reason: "not now"}}) {
		t.Errorf("3, Enter and a reason: %+v", d)
	}
}

// TestMeans: of what is typed, only what answers means something to a question.
func TestMeans(t *testing.T) {
	t.Parallel()
	bare := command("ls")
	bare.Rule = ""
	for _, c := range []struct {
		what string
		b    Question
		want string
	}{
		{"a call", asked(t, command("ls")), " yYsSpPnN"},
		{"without a rule", asked(t, bare), " yYnN"},
	} {
		c.b.Lines(80, 24)
		for r := rune(' '); r < 0x7f; r++ {
			if got := c.b.Means(press(string(r))); got != strings.ContainsRune(c.want, r) {
				t.Errorf("%s: %q means something: %t", c.what, r, got)
			}
		}
	}
	b := asked(t, command("ls"))
	if b.Means(press("tab")) || b.Means(press("enter")) {
		t.Error("keys that type nothing mean something")
	}
	keys(b, "n")
	if !b.Means(press("x")) {
		t.Error("a reason is part of an answer")
	}
	long := asked(t, command(strings.Repeat("ls\n", 100)))
	long.Lines(80, 24)
	if !long.Means(press("space")) {
		t.Error("a long one does not scroll by the space bar")
	}
	if w := posed(t, which(false)); !w.Means(press("p")) {
		t.Error("words are an answer")
	}
}

// TestReadingEndsByNoLetter: whoever types a sentence or a command into a box that is
// only read goes on reading, and what lists and what picks is not left either.
func TestReadingEndsByNoLetter(t *testing.T) {
	t.Parallel()
	th, now := theme(t), func() time.Time { return time.Unix(1000, 0) }
	long := strings.Repeat("a line of it\n", 200)
	boxes := map[string]func() Box{
		"page":   func() Box { return NewTable(th, "Help", []Row{{"/messages", long}}) },
		"reader": func() Box { return NewReader(th, "#1 from db", []Row{{"from", "db"}}, long, 80) },
		"fleet": func() Box {
			f := NewFleet(th, 1, func(int64) Glance { return Glance{} }, func(int64, int, int) []string { return nil })
			f.Members([]Member{{ID: 1, Name: "main"}, {ID: 2, Parent: 1, Name: "db"}})
			return f
		},
		"board": func() Box {
			b := NewBoard(th, now, "Inbox", "", []Verb{{Key: "a", Name: "archive"}}, true)
			b.Show([]Line{{ID: 1, Text: "one"}, {ID: 2, Text: "two"}}, false, false)
			return b
		},
		"peek": func() Box {
			b := NewBoard(th, now, "Inbox", "", []Verb{{Key: "a", Name: "archive"}}, true)
			b.Show([]Line{{ID: 1, Text: "one"}, {ID: 2, Text: "two"}}, false, false)
			b.Lines(40, 12)
			b.Key(press("p"))
			return b
		},
		"picker":   func() Box { return NewFinder(th, "Go to", []Item{{Value: "a", Label: "a"}}) },
		"question": func() Box { return asked(t, command("ls")) },
		"ask":      func() Box { return posed(t, which(false)) },
	}
	for name, box := range boxes {
		for r := rune(' '); r < 0x7f; r++ {
			b := box()
			b.Lines(80, 24)
			if _, gone := b.Key(press(string(r))).(Cancelled); gone {
				t.Errorf("%s: %q closes it", name, r)
			}
			if p, ok := b.(*Board); ok && name == "peek" && r >= 'a' && r <= 'z' && !p.peeks {
				t.Errorf("%q closes the preview", r)
			}
		}
		b := box()
		b.Lines(80, 24)
		for _, r := range "quit, /messages show 2 or so" {
			if d := b.Key(press(string(r))); d == (Cancelled{}) {
				t.Errorf("%s: a command typed into it closes it at %q", name, r)
			}
		}
		left := box()
		left.Lines(80, 24)
		for range 3 {
			if _, gone := left.Key(press("esc")).(Cancelled); gone {
				left = nil
				break
			}
		}
		if left != nil {
			t.Errorf("%s: Esc does not close it", name)
		}
	}
}

func TestPasteAnswersNothing(t *testing.T) {
	t.Parallel()
	b := asked(t, command("ls"))
	b.Paste("y")
	b.Paste("\r\n")
	if b.reason != nil {
		t.Fatal("a paste opened the line for a reason")
	}
	keys(b, "n")
	b.Paste("two\r\nlines\x1b[2J")
	for _, l := range b.Lines(60, 20) {
		if strings.ContainsAny(ansi.Strip(l), "\x1b\r\n") {
			t.Fatalf("got %q", l)
		}
	}
	if d, ok := keys(b, "enter").(Answered); !ok || d.Answer.Reason != "two lines[2J" {
		t.Fatalf("got %+v", d)
	}
}

// text is a box without styles.
func text(b Box, w, h int) string {
	return ansi.Strip(strings.Join(b.Lines(w, h), "\n"))
}

// TestQuestionShowsAll scrolls through a command and finds every byte of it.
func TestQuestionShowsAll(t *testing.T) {
	t.Parallel()
	var sb strings.Builder
	for i := range 60 {
		fmt.Fprintf(&sb, "echo  %d   日本 \x1b[1A%s  && \\\n", i, strings.Repeat("x", i*3))
	}
	sb.WriteString("rm -rf  build")
	want := cells.Reveal(sb.String())
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}, {30, 8}} {
		b := asked(t, command(sb.String()))
		seen := map[int]string{}
		for range 1000 {
			b.Lines(size[0], size[1])
			end := min(len(b.body), b.scroll.top+b.scroll.view)
			shown := text(b, size[0], size[1])
			for i := b.scroll.top; i < end; i++ {
				l := b.body[i]
				if !strings.Contains(shown, l.Gutter+l.Text) {
					t.Fatalf("%v: row %d %q is not on the screen:\n%s", size, i, l.Text, shown)
				}
				seen[i] = l.Gutter + l.Text
			}
			if rest := len(b.body) - end; rest > 0 && !strings.Contains(shown, more(rest)) {
				t.Fatalf("%v: %d rows remain and it does not say so:\n%s", size, rest, shown)
			}
			if end == len(b.body) {
				break
			}
			keys(b, "shift+down")
		}
		var got strings.Builder
		for i := range len(b.body) {
			row, ok := seen[i]
			if !ok {
				t.Fatalf("%v: row %d was never shown", size, i)
			}
			if strings.HasPrefix(row, "> ") {
				got.WriteByte('\n')
			}
			if i < len(b.body) && b.body[i].Role == themes.Code && b.body[i].Gutter != "" {
				got.WriteString(row[2:])
			}
		}
		if s, _, _ := strings.Cut(got.String(), "the rule:"); !strings.HasPrefix(s, want) {
			t.Fatalf("%v: what was shown is not the command", size)
		}
	}
}

func TestQuestionShowsTheExactRule(t *testing.T) {
	t.Parallel()
	q := command("x")
	q.Rule = permission.Rule("bash(" + strings.Repeat("word ", 60) + "*)")
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}, {40, 7}} {
		b := asked(t, q)
		b.Lines(size[0], size[1])
		var body strings.Builder
		for _, l := range b.body {
			body.WriteString(l.Text)
		}
		foot := text(b, size[0], size[1])
		if !strings.Contains(body.String(), string(q.Rule)) {
			t.Fatalf("%v: the rule is not in the part that scrolls:\n%s", size, foot)
		}
	}
	q.Rule = "bash(go test *)"
	if got := text(asked(t, q), 40, 12); !strings.Contains(got, `s  Yes, and allow "go test …"`) {
		t.Fatalf("got\n%s", got)
	}
	if got := text(asked(t, q), 40, 7); !strings.Contains(got, "y once  s session  p project  n no") {
		t.Fatalf("got\n%s", got)
	}
	q.Rule = ""
	if got := text(asked(t, q), 80, 24); strings.Contains(got, "session") {
		t.Fatalf("got\n%s", got)
	}
}

// A box with hardly any rows has all of a question's choices in one of them.
func TestQuestionShowsEveryChoice(t *testing.T) {
	t.Parallel()
	widens, auto, tamper := command("x"), command("x"), command("")
	widens.Action.Kind, widens.Rule = permission.Widen, permission.NetworkRule
	auto.Auto = true
	tamper.Action.Kind = permission.Tamper
	for _, c := range []struct {
		q    permission.Question
		want string
	}{
		{widens, "y once  s session  p project  n no"},
		{auto, "y once  s sess  p proj  a auto  n no"},
		{tamper, "y keep · n put back"},
	} {
		b := asked(t, c.q)
		if got := text(b, 40, 7); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s", c.want, got)
		}
		for h := 7; h < 24; h++ {
			got, last := text(b, 40, h), b.choices[len(b.choices)-1]
			if !strings.Contains(got, "n "+last.word) && !strings.Contains(got, "n  "+last.word) && !strings.Contains(got, "n "+last.brief) && !strings.Contains(got, "n  "+chopLine(last.label, 32)[0]) {
				t.Errorf("%d rows do not show no:\n%s", h, got)
			}
		}
		if b.Strictly(); !strings.Contains(text(b, 40, 7), "3 "+b.choices[len(b.choices)-1].word) {
			t.Errorf("%s, by digits:\n%s", c.want, text(b, 40, 7))
		}
	}
}

func TestChopDropsNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "a", "   ", "aaaa bbbb  cccc   ", "日本語の文章がここにある", "a👨‍👩‍👧b👨‍👩‍👧c", "e\u0301e\u0301e\u0301", strings.Repeat("x", 99), "abc 日 def",
	} {
		for w := 1; w < 20; w++ {
			rows := chopLine(s, w)
			if got := strings.Join(rows, ""); got != s {
				t.Fatalf("%q at %d: got %q", s, w, got)
			}
			for _, r := range rows {
				if cells.Width(r) > max(w, 2) {
					t.Fatalf("%q at %d: row %q", s, w, r)
				}
			}
		}
	}
}

func TestPicker(t *testing.T) {
	t.Parallel()
	items := []Item{{"1", "main", "running", false}, {"2", "auth-tests", "idle", false}, {"3", "Lint", "", false}, {"4", "docs", "done", false}}
	for _, c := range []struct {
		script string
		fuzzy  bool
		want   Decision
	}{
		{"enter", true, Picked{"1"}},
		{"down down enter", true, Picked{"3"}},
		{"up enter", true, Picked{"4"}},
		{"up down enter", true, Picked{"1"}},
		{"end enter", true, Picked{"1"}},
		{"ctrl+end enter", true, Picked{"4"}},
		{"'ats' enter", true, Picked{"2"}},
		{"'ats' enter", false, nil},
		{"'TEST' enter", false, Picked{"2"}},
		{"'i' down enter", false, Picked{"3"}},
		{"'zz' enter", true, nil},
		{"'zz' backspace backspace down enter", true, Picked{"2"}},
		{"'zz' up down pgup pgdown tab enter", true, nil},
		{"'2' enter", true, nil},
		{"esc", true, Cancelled{}},
		{"'li' esc", true, Cancelled{}},
	} {
		pick := NewPicker
		if c.fuzzy {
			pick = NewFinder
		}
		b := pick(theme(t), "Switch to", items)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
	}
	b := NewFinder(theme(t), "Nothing", nil)
	b.Lines(80, 24)
	if got := keys(b, "down up pgdown enter"); got != nil {
		t.Fatalf("got %+v", got)
	}
}

// TestRefill: what was typed and the item under the bar stay when the list is completed; what matches nothing picks nothing.
func TestRefill(t *testing.T) {
	b := NewPicker(theme(t), "Model", []Item{{Value: "a-two", Label: "a-two"}, {Value: "c-one", Label: "c-one"}})
	for _, k := range []string{"-", "down"} {
		b.Key(press(k))
	}
	Refill(b, []Item{{Value: "a-two", Label: "a-two"}, {Value: "b-new", Label: "b-new"}, {Value: "c-one", Label: "c-one"}, {Value: "hidden", Label: "hidden"}})
	if d := b.Key(press("enter")); d != (Picked{"c-one"}) {
		t.Errorf("enter picks %v", d)
	}
	if text := ansi.Strip(strings.Join(b.Lines(60, 12), "\n")); !strings.Contains(text, "b-new") || strings.Contains(text, "hidden") {
		t.Errorf("it shows\n%s", text)
	}
	b.Key(press("x"))
	if d := b.Key(press("enter")); d != nil || !strings.Contains(ansi.Strip(strings.Join(b.Lines(60, 12), "\n")), "No matches") {
		t.Errorf("without a match enter picks %v", d)
	}
	Refill(NewTable(theme(t), "Help", nil), nil) // no list to pick from
}

func TestPickerKeepsTheChosenInView(t *testing.T) {
	t.Parallel()
	var items []Item
	for i := range 100 {
		items = append(items, Item{Value: fmt.Sprint(i), Label: fmt.Sprintf("agent-%d-", i)})
	}
	b := NewFinder(theme(t), "Agents", items).(*picker)
	for _, key := range []string{"down", "pgdown", "up", "pgup", "ctrl+end", "ctrl+home", "up", "down"} {
		for range 15 {
			keys(b, key)
			if got := text(b, 50, 12); !strings.Contains(got, "▸ "+items[b.at].Label) {
				t.Fatalf("%s: %d is not in view:\n%s", key, b.at, got)
			}
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	options := []Option{{"w", "wait for them"}, {"k", "kill them"}, {"K", "kill all"}, {"ctrl+x", "odd"}}
	for _, c := range []struct {
		script string
		want   Decision
	}{
		{"k", Confirmed{"k"}},
		{"'K'", Confirmed{"K"}},
		{"'W'", Confirmed{"w"}},
		{"ctrl+x", Confirmed{"ctrl+x"}},
		{"ctrl+k alt+k x enter", nil},
		{"down enter", Confirmed{"w"}},
		{"down down enter", Confirmed{"k"}},
		{"up enter", Confirmed{"ctrl+x"}},
		{"esc", Cancelled{}},
	} {
		b := NewConfirm(theme(t), "Quit", "2 agents run.", options)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
	}
}

// The one that is chosen already is highlighted until the list is narrowed.
func TestPicker_beginsWhereItStands(t *testing.T) {
	t.Parallel()
	items := []Item{{Value: "1", Label: "dark"}, {Value: "2", Label: "light"}, {Value: "3", Label: "ansi", Chosen: true}}
	for _, c := range []struct{ script, want string }{{"enter", "3"}, {"down enter", "1"}, {"'i' enter", "2"}} {
		b := NewPicker(theme(t), "Theme", items)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != (Picked{c.want}) {
			t.Errorf("%s: got %+v, want %s", c.script, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var rows []Row
	for i := range 100 {
		rows = append(rows, Row{Left: fmt.Sprintf("line-%d-", i)})
	}
	b := NewTable(theme(t), "Help", rows)
	for _, c := range []struct{ script, want string }{
		{"", "line-0-"},
		{"down", "line-1-"},
		{"up up", "line-0-"},
		{"pgdown", "line-9-"},
		{"end", "line-90-"},
		{"home j j k", "line-1-"},
		{"g", "line-0-"},
	} {
		keys(b, c.script)
		if got := strings.Split(text(b, 40, 12), "\n")[1]; !strings.Contains(got, c.want) {
			t.Errorf("%s: the first line is %q, want %q", c.script, got, c.want)
		}
	}
	for _, key := range []string{"esc", "enter"} {
		if got := keys(b, key); got != (Cancelled{}) {
			t.Errorf("%s: got %+v", key, got)
		}
	}
}

// boxes are one of each, for what holds of all.
func boxes(tb testing.TB) map[string]Box {
	tb.Helper()
	th := theme(tb)
	long := command("for f in *.go; do\n\tgofmt -w \"$f\" && echo 'done with a file whose name is 日本語.go' >> /tmp/log\ndone\u202e; true")
	long.Action.Sensitive = "it holds keys"
	reason := asked(tb, long)
	keys(reason, "n 'because 日本'")
	huge := command(strings.Repeat("echo a line of many && \\\n", 300) + "true")
	huge.Rule = ""
	scrolled := asked(tb, huge)
	scrolled.Lines(80, 24)
	keys(scrolled, "pgdown up")
	help := []Row{
		{"/push [model=] [name=] [timeout=] [deliver=] PROMPT", "queue a task for an agent of its own"},
		{"/quit", "leave"},
		{},
		{"alt+tab", "the agent before"},
		{"pgup pgdn", strings.Repeat("words that wrap ", 40)},
	}
	return map[string]Box{
		"command": asked(tb, command("go test ./...")), "script": asked(tb, long), "reason": reason, "huge": scrolled, "diff": asked(tb, write(diff)), "edit": asked(tb, edit()),
		"picker": NewFinder(th, "Switch to", []Item{
			{Value: "1", Label: "main", Help: "running 0:42"},
			{Value: "2", Label: "auth", Help: "asks", Chosen: true},
			{Value: "3", Label: "日本語-エージェント", Help: "idle"},
			{Value: "4", Label: "e\x1b[2Jvil", Help: strings.Repeat("long help ", 20)},
		}),
		"narrowed": func() Box {
			b := NewFinder(th, "Switch to", []Item{{Value: "1", Label: "main"}, {Value: "2", Label: "maintain"}, {Value: "3", Label: "lint"}})
			keys(b, "'mn' down")
			return b
		}(),
		"confirm": NewConfirm(th, "Quit", "2 agents still run: auth, tests. What they found so far stays in the inbox.", []Option{{"w", "wait"}, {"k", "kill them and quit"}}),
		"table":   NewTable(th, "Help", help),
	}
}

func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			var out strings.Builder
			all := boxes(t)
			for _, name := range []string{"command", "script", "reason", "huge", "diff", "edit", "picker", "narrowed", "confirm", "table"} {
				b := all[name]
				fmt.Fprintf(&out, "== %s\n%s\n", name, strings.ReplaceAll(text(b, size[0], size[1]), "\n", "┊\n")+"┊")
				if x, y, ok := b.Cursor(); ok {
					fmt.Fprintf(&out, "cursor %d,%d\n", x, y)
				}
			}
			golden.RequireEqual(t, out.String())
		})
	}
}

// TestGoldenStyles holds the escape sequences of what the other goldens show bare.
func TestGoldenStyles(t *testing.T) {
	q := asked(t, write(diff))
	keys(q, "up")
	b := boxes(t)
	out := append(q.Lines(60, 20), b["narrowed"].Lines(60, 20)...)
	golden.RequireEqual(t, strings.Join(out, "\n"))
}

func TestEverySize(t *testing.T) {
	t.Parallel()
	for name, b := range boxes(t) {
		for w := -1; w < 130; w += 1 + w/8 {
			for h := -1; h < 30; h++ {
				lines := b.Lines(w, h)
				if len(lines) > max(h, 0) {
					t.Fatalf("%s %d×%d: %d lines", name, w, h, len(lines))
				}
				for _, l := range lines {
					bare := ansi.Strip(l)
					if cells.Width(l) > w || cells.Width(l) != cells.Width(lines[0]) {
						t.Fatalf("%s %d×%d: %q has %d columns", name, w, h, l, cells.Width(l))
					}
					if !utf8.ValidString(bare) || strings.ContainsAny(bare, "\x1b\n\t\r\u202e") {
						t.Fatalf("%s %d×%d: the screen gets %q", name, w, h, l)
					}
				}
				if x, y, ok := b.Cursor(); ok && len(lines) > 3 && w > 20 && (x >= w || y >= len(lines)) {
					t.Fatalf("%s %d×%d: cursor %d,%d of %d lines", name, w, h, x, y, len(lines))
				}
				keys(b, "pgdown")
			}
		}
	}
}

func FuzzBoxes(f *testing.F) {
	f.Add("rm -rf \x1b[2K/\r\n", "bash(rm *)", []byte("y1s2n3\x00\x01\x02abc"), uint8(80), uint8(24))
	f.Add("日本\u202e\xff", "", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(3), uint8(4))
	names := []string{"tab", "up", "down", "pgup", "pgdown", "home", "end", "left", "right", "backspace", "ctrl+u", "ctrl+w", "space"}
	f.Fuzz(func(t *testing.T, s, rule string, data []byte, w, h uint8) {
		th := theme(t)
		q := command(s)
		q.Name, q.Rule, q.Action.Diff, q.Action.Dir, q.Action.Sensitive = s, permission.Rule(rule), s, rule, rule
		all := []Box{
			asked(t, q), NewPicker(th, s, []Item{{s, s, rule, false}, {rule, rule, s, true}}),
			NewFinder(th, s, []Item{{s, s, rule, false}, {rule, rule, s, true}}),
			NewConfirm(th, s, rule, []Option{{"y", s}, {rule, rule}}), NewTable(th, s, []Row{{s, rule}, {rule, s}}),
		}
		for _, b := range all {
			for _, op := range data {
				if int(op) < len(names) {
					b.Key(press(names[op]))
				} else if op < 0x80 {
					b.Key(tea.KeyPressMsg{Code: rune(op), Text: string(rune(op))})
				} else {
					b.Paste(s)
				}
				lines := b.Lines(int(w), int(h))
				for _, l := range lines {
					if cells.Width(l) > int(w) || strings.ContainsAny(ansi.Strip(l), "\x1b\n\r\t") {
						t.Fatalf("the screen gets %q", l)
					}
				}
			}
		}
	})
}

func BenchmarkQuestion(b *testing.B) {
	th := theme(b)
	q := write(strings.Repeat("+a line that was added to a file\t// with a tab\n", 20_000))
	b.Run("open 1 MB", func(b *testing.B) {
		for b.Loop() {
			NewQuestion(th, q).Lines(120, 36)
		}
	})
	box := NewQuestion(th, q)
	box.Lines(120, 36)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			box.Lines(120, 36)
		}
	})
}

// TestConsent: a yes counts once the end of the text was on the screen; before, it shows what comes next. A no counts at once.
func TestConsent(t *testing.T) {
	text := strings.Repeat("a line\n", 30) + "the end"
	options := []Option{{Key: "y", Label: "yes"}, {Key: "n", Label: "no"}}
	yes, no := tea.KeyPressMsg{Code: 'y', Text: "y"}, tea.KeyPressMsg{Code: 'n', Text: "n"}
	b := NewConsent(theme(t), "May it?", []Part{{Text: text}}, options)
	pages := 0
	for ; pages < 20; pages++ {
		shown := strings.Contains(strings.Join(b.Lines(40, 12), "\n"), "the end")
		d := b.Key(yes)
		if _, is := d.(Confirmed); is != shown {
			t.Fatalf("page %d: the end is shown: %v, decided %v", pages, shown, d)
		}
		if shown {
			break
		}
	}
	if pages < 2 || pages == 20 {
		t.Errorf("it took %d pages", pages)
	}
	b = NewConsent(theme(t), "May it?", []Part{{Text: text}}, options)
	b.Lines(40, 12)
	if d := b.Key(no); d != (Confirmed{"n"}) {
		t.Errorf("a no: %v", d)
	}
}

// TestKeys: keys stand in up to three columns, as wide as there is room, and ? closes the sheet.
func TestKeys(t *testing.T) {
	var rows []Row
	for _, s := range strings.Fields("alpha bravo charlie delta echo foxtrot") {
		rows = append(rows, Row{s[:1], s})
	}
	for w, first := range map[int]string{100: "a  alpha c  charlie e  echo", 80: "a  alpha d  delta", 40: "a  alpha"} {
		b := NewKeys(theme(t), "Keys", rows)
		lines := b.Lines(w, 12)
		if got := strings.Join(strings.Fields(strings.Trim(ansi.Strip(lines[1]), "│ ")), " "); got != strings.Join(strings.Fields(first), " ") {
			t.Errorf("at %d columns the first line is %q", w, got)
		}
		for _, l := range lines {
			if cells.Width(l) != w {
				t.Errorf("at %d columns a line has %d: %q", w, cells.Width(l), ansi.Strip(l))
			}
		}
		for key, closes := range map[tea.KeyPressMsg]bool{{Code: '?', Text: "?"}: true, {Code: tea.KeyEscape}: true, {Code: 'a', Text: "a"}: false} {
			if d := b.Key(key); (d == Cancelled{}) != closes {
				t.Errorf("%s gives %v", key, d)
			}
		}
	}
}
