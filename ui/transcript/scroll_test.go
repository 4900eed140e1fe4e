package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools/permission"
)

// long returns a transcript of n entries of mixed kinds, from Seq from on.
func long(n, from int) []history.Entry {
	var es []history.Entry
	for i := 0; len(es) < n; i++ {
		id := fmt.Sprint("c", from+i)
		es = append(es,
			asked(fmt.Sprintf("question %d: why is it so?", from+i)),
			said(fmt.Sprintf("# Answer %d\n\nBecause **of this**:\n\n- one\n- two\n\n```go\nfunc f() {}\n```\n\nA paragraph of some words that goes on for a while, long enough to wrap at most widths of a terminal.", from+i)),
			called(id, "bash", fmt.Sprintf("bash echo %d", from+i)),
			gave(history.Result{ID: id, Name: "bash", Text: "a\nb\nc\nd\ne\nf\ng\nh\ni\n", Millis: 20}),
		)
	}
	es = es[:n]
	for i := range es {
		es[i].Seq, es[i].At = int64(from+i), noon
	}
	return es
}

func TestLines_whenEmptyOrTiny(t *testing.T) {
	v, _ := view(t)
	for _, size := range [][2]int{{0, 0}, {1, 1}, {80, 0}, {0, 5}, {80, 24}, {2, 2}} {
		check(t, v, size[0], size[1])
	}
	v.Append(day())
	v.SetInfo(busy())
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1, 500}, {500, 1}, {2, 2}, {3, 40}, {9, 9}, {500, 200}, {40, 12}} {
		check(t, v, size[0], size[1])
		for _, j := range v.Jobs() {
			v.Rendered(j.Run())
		}
		check(t, v, size[0], size[1])
		press(v, "home", "pgdown", "ctrl+o", "end", "ctrl+o")
		check(t, v, size[0], size[1])
	}
}

func TestFollow_showsTheEnd(t *testing.T) {
	v, _ := view(t)
	v.Append(long(400, 1))
	got := plain(settled(v, 80, 24))
	if !strings.Contains(got, "echo 100") || strings.HasSuffix(got, "\n") {
		t.Errorf("the end is not shown:\n%s", got)
	}
	v.Append(script(noted("last words")))
	if got := plain(settled(v, 80, 24)); !strings.HasSuffix(got, "last words") {
		t.Errorf("what is appended is not shown:\n%s", got)
	}
}

func TestScrolledUp_staysWhereItIs(t *testing.T) {
	v, c := view(t)
	v.Append(long(400, 1000))
	settled(v, 80, 24)
	v.Scroll(-100)
	want := plain(settled(v, 80, 24))
	still := func(what string) {
		t.Helper()
		if got := plain(v.Lines(80, 24)); got != want {
			t.Fatalf("%s moves the view:\n%s\nwant\n%s", what, got, want)
		}
	}
	v.Append(long(40, 2000))
	still("appending")
	if v.NewBelow() != 30 {
		t.Errorf("%d new below, want 30", v.NewBelow())
	}
	v.Prepend(long(40, 1), true)
	still("an older page")
	for i := range 50 {
		v.Delta(event.Delta{Text: fmt.Sprintf("line %d\n\n", i)})
		c.t = c.t.Add(time.Second)
		still("streaming")
		for _, j := range v.Jobs() {
			v.Rendered(j.Run())
		}
		still("rendering")
	}
	if v.NewBelow() != 31 {
		t.Errorf("%d new below while streaming, want 31", v.NewBelow())
	}
	v.Local("ok", Good)
	still("a local line")
	v.SetInfo(busy())
	still("news of the agent")
	v.Record(script(said("line 0\n\nthe end")))
	still("the record of the reply")
	if v.NewBelow() != 32 {
		t.Errorf("%d new below, want 32", v.NewBelow())
	}
	v.Follow()
	if v.NewBelow() != 0 {
		t.Errorf("%d new below at the end", v.NewBelow())
	}
}

func TestScroll_movesByLines(t *testing.T) {
	v, _ := view(t)
	v.Append(long(60, 1))
	all := settled(v, 80, 2000)
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	end := len(all) - 20
	at := end
	r := rand.New(rand.NewPCG(1, 2))
	v.Lines(80, 20)
	for range 2_000 {
		n := r.IntN(41) - 20
		v.Scroll(n)
		at = min(max(at+n, 0), end)
		if got := v.Lines(80, 20); !slices.Equal(got, all[at:at+20]) {
			t.Fatalf("after a step of %d the view is not at line %d:\n%s\nwant\n%s", n, at, plain(got), plain(all[at:at+20]))
		}
	}
	press(v, "home")
	if got := v.Lines(80, 20); !slices.Equal(got, all[:20]) {
		t.Errorf("home shows\n%s", plain(got))
	}
	press(v, "pgdown")
	if got := v.Lines(80, 20); !slices.Equal(got, all[18:38]) {
		t.Errorf("pgdown shows\n%s", plain(got))
	}
	press(v, "end")
	if got := v.Lines(80, 20); !slices.Equal(got, all[end:]) {
		t.Errorf("end shows\n%s", plain(got))
	}
}

func TestRendering_keepsTheAnchor(t *testing.T) {
	v, _ := view(t)
	v.Append(long(200, 1))
	v.Lines(80, 24)
	v.Scroll(-60)
	first := strings.TrimSpace(strings.SplitN(plain(v.Lines(80, 24)), "\n", 2)[0])
	got := plain(settled(v, 80, 24))
	lines := strings.Split(got, "\n")
	if !slices.ContainsFunc(lines[:6], func(l string) bool {
		return strings.Contains(l, strings.Trim(first, "#*-` ")) || first == ""
	}) {
		t.Errorf("%q was at the top, now:\n%s", first, got)
	}
}

func TestResize_keepsTheBlock(t *testing.T) {
	v, _ := view(t)
	v.Append(long(200, 1))
	settled(v, 80, 24)
	v.Scroll(-150)
	settled(v, 80, 24)
	block := v.top.i
	for _, w := range []int{40, 200, 10, 80} {
		settled(v, w, 24)
		if v.top.i != block {
			t.Errorf("at %d columns block %d is at the top, want %d", w, v.top.i, block)
		}
	}
}

func TestOlder_asksOncePerPage(t *testing.T) {
	v, _ := view(t)
	if _, ok := v.Older(); ok {
		t.Error("an empty view asks for older entries")
	}
	v.Append(long(200, 1001))
	settled(v, 80, 24)
	if _, ok := v.Older(); ok {
		t.Error("a view at its end asks for older entries")
	}
	press(v, "home")
	settled(v, 80, 24)
	before, ok := v.Older()
	if !ok || before != 1001 {
		t.Errorf("Older = %d, %v, want 1001", before, ok)
	}
	if _, ok := v.Older(); ok {
		t.Error("the same page is asked for twice")
	}
	top := plain(v.Lines(80, 24))
	v.Prepend(long(100, 901), true)
	if got := plain(v.Lines(80, 24)); got[strings.IndexByte(got, '\n'):] == "" || !strings.Contains(got, strings.SplitN(top, "\n", 2)[0]) {
		t.Errorf("the older page moved the view:\n%s", got)
	}
	press(v, "home")
	settled(v, 80, 24)
	if before, ok := v.Older(); !ok || before != 901 {
		t.Errorf("Older = %d, %v, want 901", before, ok)
	}
	v.Prepend(nil, false)
	if _, ok := v.Older(); ok {
		t.Error("there are no older entries, and they are asked for")
	}
}

// reply streams an answer and records it.
func TestStream_isTheRecord(t *testing.T) {
	text := "# Head\n\nSome **bold** text\nover lines.\n\n- one\n- two\n\n```go\nfunc f() {\n\treturn\n}\n```\n\n" + strings.Repeat("word ", 600) + "\n\nlast"
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		v, c := view(t)
		v.Append(script(asked("go")))
		v.Delta(event.Delta{Block: 0, Thinking: true, Text: "hm"})
		v.Delta(event.Delta{Block: 0, Thinking: true, Text: "\nwell"})
		for rest := text; rest != ""; {
			n := min(1+r.IntN(80), len(rest))
			v.Delta(event.Delta{Block: 1, Text: rest[:n]})
			rest = rest[n:]
			c.t = c.t.Add(33 * time.Millisecond)
			check(t, v, 60, 30)
			for _, j := range v.Jobs() {
				v.Rendered(j.Run())
			}
		}
		if got := v.LastAnswer(); got != text {
			t.Fatalf("the answer being streamed is %q", got)
		}
		c.t = c.t.Add(time.Second)
		live := plain(settled(v, 60, 200))
		again := 0
		v.Record([]history.Entry{{Seq: 2, Kind: history.EntryThinking, Text: "hm\nwell"}, {Seq: 3, Kind: history.EntryText, Text: text}})
		v.Lines(60, 200)
		for _, j := range v.Jobs() {
			again += len(j.items)
		}
		if again > 2 {
			t.Errorf("%d blocks are rendered again for the record", again)
		}
		other, _ := view(t)
		other.Append(script(asked("go"), history.Entry{Kind: history.EntryThinking, Text: "hm\nwell"}, said(text)))
		want := plain(settled(other, 60, 200))
		if got := plain(settled(v, 60, 200)); got != want {
			t.Fatalf("the record shows\n%s\nwant\n%s", got, want)
		}
		if a, b := live[strings.Index(live, "Head"):], want[strings.Index(want, "Head"):]; strings.TrimRight(a, "\n") != strings.TrimRight(b, "\n") {
			t.Fatalf("the stream shows\n%q\nwant\n%q", a, b)
		}
		if got := v.LastAnswer(); got != text {
			t.Fatalf("the answer is %q", got)
		}
	}
}

// TestStream_endsAnywhere: a reply that stops inside a line looks like its record, wherever it stops.
func TestStream_endsAnywhere(t *testing.T) {
	text := "Some text\n\n- first, the row\n\n- then the mark\n\n- last, the bell\n\n```go\nfunc f() {\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. open\n2. lock\n\n> said\n\n# Head\n\nend"
	for n := 1; n <= len(text); n++ {
		v, c := view(t)
		for rest := text[:n]; rest != ""; {
			k := min(7, len(rest))
			v.Delta(event.Delta{Block: 0, Text: rest[:k]})
			rest = rest[k:]
			c.t = c.t.Add(tailRate)
			settled(v, 60, 100)
		}
		v.Record([]history.Entry{{Seq: 1, Kind: history.EntryText, Text: text[:n]}})
		other, _ := view(t)
		other.Append(script(said(text[:n])))
		if got, want := plain(settled(v, 60, 100)), plain(settled(other, 60, 100)); got != want {
			t.Fatalf("after %q the record shows\n%s\nwant\n%s", text[:n], strings.TrimSpace(got), strings.TrimSpace(want))
		}
	}
}

// TestStream_drawsNoOpenMark: while a reply comes, no mark shows that the whole reply does not show, whether or not what
// came is rendered already; and all words show at once.
func TestStream_drawsNoOpenMark(t *testing.T) {
	text := "Why the **test** `failed`:\n\n- one **bold and long point of a list** with `code`\n- *two*\n\n| Case | **After** |\n|---|---|\n| `down` | **4 tries** |\n\n" +
		"`Get` stopped **one try too early**: `Retries: 3` made *three* attempts in all, which is why **the last one** failed.\n\n## The `end`\n\nSee [the **notes**](https://x.y/z) and **go**."
	for _, every := range []int{1, 3, 1000} { // how often a job gets its turn
		v, c := view(t)
		for n := range len(text) {
			v.Delta(event.Delta{Block: 0, Text: text[n : n+1]})
			c.t = c.t.Add(30 * time.Millisecond)
			got := plain(v.Lines(60, 100))
			if strings.ContainsAny(got, "`|") || strings.Contains(got, "**") || strings.Contains(got, "# ") {
				t.Fatalf("jobs run at every %d: after %q it shows\n%s", every, text[:n+1], strings.TrimSpace(got))
			}
			words := strings.FieldsFunc(text[:n+1], func(r rune) bool { return !unicode.IsLetter(r) })
			if last := words[len(words)-1]; !strings.Contains(text[max(0, n-1):n+1], "\n") && !strings.Contains(strings.Join(strings.Fields(got), ""), last) && !strings.Contains(text[:n+1], "](") && !strings.Contains(text[strings.LastIndexByte(text[:n], '\n')+1:n+1], "|") {
				t.Fatalf("jobs run at every %d: after %q it lacks %q:\n%s", every, text[:n+1], last, strings.TrimSpace(got))
			}
			if n%every == 0 {
				for _, j := range v.Jobs() {
					v.Rendered(j.Run())
				}
			}
		}
	}
}

func TestVoid_takesTheStreamBack(t *testing.T) {
	v, _ := view(t)
	v.Append(script(asked("go"), said("old answer")))
	want := plain(settled(v, 60, 20))
	v.Delta(event.Delta{Text: "half an "})
	v.Append([]history.Entry{{Seq: 9, Kind: history.EntryNotice, Text: "beside"}})
	v.Delta(event.Delta{Text: "answer\n\nmore"})
	if got := plain(v.Lines(60, 20)); !strings.Contains(got, "half an answer") || strings.Index(got, "beside") > strings.Index(got, "half") {
		t.Errorf("the stream shows\n%s", got)
	}
	v.Void()
	got := plain(settled(v, 60, 20))
	if strings.Contains(got, "half") || !strings.Contains(got, "beside") {
		t.Errorf("after Void:\n%s", got)
	}
	if !strings.HasPrefix(got, strings.TrimRight(want, "\n")) {
		t.Errorf("Void changed what stood before:\n%s\nwant\n%s", got, want)
	}
	if v.LastAnswer() != "old answer" {
		t.Errorf("the last answer is %q", v.LastAnswer())
	}
}

func TestCall_liveAndDone(t *testing.T) {
	v, c := view(t)
	v.Record(script(called("x", "bash", "bash make")))
	if got := plain(v.Lines(60, 5)); !strings.HasPrefix(got, "○ bash make\n") {
		t.Errorf("before it runs:\n%s", got)
	}
	if v.Animating() {
		t.Error("a call that does not run moves")
	}
	v.Append([]history.Entry{{Seq: 2, At: noon, Kind: history.EntryStarted, Call: &history.Call{ID: "x"}}})
	v.Output(event.Output{Call: "x", Tail: "1\n2\n3\n4\n5\n6\n7\n"})
	c.t = noon.Add(12500 * time.Millisecond)
	if got := plain(v.Lines(60, 7)); !strings.Contains(got, "bash make · 12s") || strings.Contains(got, "│ 2") || !strings.Contains(got, "│ 7") {
		t.Errorf("while it runs:\n%s", got)
	}
	if !v.Animating() {
		t.Error("a running call does not move")
	}
	a := v.Lines(60, 7)[0]
	c.t = c.t.Add(100 * time.Millisecond)
	if b := v.Lines(60, 7)[0]; a == b {
		t.Error("the spinner stands still")
	}
	v.Append([]history.Entry{{Seq: 3, Kind: history.EntryResult, Result: &history.Result{ID: "x", Name: "bash", Text: "all\nmade", Millis: 13000}}})
	if got := plain(v.Lines(60, 7)); !strings.HasPrefix(got, "✓ bash make · 13s\n  │ all\n  │ made\n") {
		t.Errorf("when it is done:\n%s", got)
	}
	if v.Animating() {
		t.Error("a call that is done moves")
	}
}

func TestResult_whenItsCallIsOnAnOlderPage(t *testing.T) {
	v, _ := view(t)
	v.Append([]history.Entry{{Seq: 9, Kind: history.EntryResult, Result: &history.Result{ID: "x", Name: "bash", Text: "made"}}})
	if got := plain(v.Lines(60, 3)); !strings.HasPrefix(got, "✓ bash\n  │ made") {
		t.Errorf("without its call:\n%s", got)
	}
	e := called("x", "bash", "bash make")
	e.Seq = 8
	v.Prepend([]history.Entry{e}, false)
	if got := plain(v.Lines(60, 3)); got != "✓ bash make\n  │ made\n" {
		t.Errorf("with its call:\n%s", got)
	}
}

// A calm view shows no spinner, and its clock goes on.
func TestCalm(t *testing.T) {
	v, _ := view(t)
	v.Calm()
	v.SetInfo(event.Info{State: event.Running, Doing: "streaming", Started: noon.Add(-3 * time.Second)})
	if got := plain(v.Lines(60, 1)); !strings.HasPrefix(got, "● thinking · 3s") || v.Animating() || v.Ages() != time.Second {
		t.Errorf("%q, animating: %v, true for %v", got, v.Animating(), v.Ages())
	}
}

func TestInfo_atTheEnd(t *testing.T) {
	for _, c := range []struct {
		info  event.Info
		want  string
		moves bool
	}{
		{event.Info{State: event.Idle}, "", false},
		{event.Info{State: event.Running, Doing: "streaming", Started: noon.Add(-3 * time.Second)}, "⠋ thinking · 3s · esc stop", true},
		{event.Info{State: event.Running, Retry: &event.Retry{Attempt: 2, Of: 10, At: noon.Add(7 * time.Second), Reason: "overloaded (529)"}}, "↻ overloaded (529) · retry in 7s, attempt 2 of 10", false},
		{event.Info{State: event.Asking, Question: &event.Question{Question: permission.Question{Action: permission.Action{Title: "bash rm\x1b[2J x"}}}}, "", false},
		{event.Info{State: event.Waiting, Why: "waiting for auth"}, "◌ waiting for auth", false},
		{event.Info{State: event.Queued, Prompt: "run the tests"}, "▏ run the tests · queued", false},
		{event.Info{State: event.Idle, Prompts: []event.Prompt{{Text: "a\nb\nc\nd\ne"}}}, "▏ a\n▏ b\n▏ c… · queued", false},
	} {
		v, _ := view(t)
		v.SetInfo(c.info)
		if got := strings.TrimRight(plain(v.Lines(60, 10)), "\n"); got != c.want {
			t.Errorf("%+v shows %q, want %q", c.info, got, c.want)
		}
		if v.Animating() != c.moves {
			t.Errorf("%q: Animating is %v", c.want, !c.moves)
		}
	}
	v, _ := view(t)
	v.SetInfo(event.Info{State: event.Running, Doing: "streaming"})
	v.Delta(event.Delta{Text: "Well"})
	if got := plain(v.Lines(60, 10)); !strings.Contains(got, "⠋ writing · esc stop") {
		t.Errorf("while the reply comes it shows %q", got)
	}
}

// TestUnseen: what a running agent does is said elsewhere while its own line is below a view that is scrolled up, and
// only then.
func TestUnseen(t *testing.T) {
	v, _ := view(t)
	v.Append(script(said("one\n\ntwo\n\nthree\n\nfour\n\nfive\n\nsix")))
	v.SetInfo(event.Info{State: event.Running, Doing: "streaming", Started: noon.Add(-12 * time.Second)})
	v.Delta(event.Delta{Text: "Well"})
	at := func(want string) {
		t.Helper()
		v.Lines(40, 5)
		if got := v.Unseen(); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
	at("")
	v.Scroll(-6)
	at("⠋ writing · 12s")
	v.SetInfo(event.Info{State: event.Idle})
	at("")
	v.SetInfo(event.Info{State: event.Running, Doing: "tool bash"})
	at("⠋ running bash")
	v.Follow()
	at("")
}

func TestSelection(t *testing.T) {
	v, _ := view(t)
	v.Append(script(asked("first"), said("one **a**\n\ntwo"), called("x", "bash", "bash make"), gave(history.Result{ID: "x", Text: "made\nit"}), noted("n")))
	settled(v, 40, 6)
	if v.Selected() != "" || v.Key(key("up")) || v.Key(key("y")) {
		t.Error("without a selection the arrows are taken")
	}
	for _, want := range []string{"n", "made\nit", "one **a**\n\ntwo", "first"} {
		if !v.SelectPrev() || v.Selected() != want {
			t.Fatalf("selected %q, want %q", v.Selected(), want)
		}
		if got := plain(v.Lines(40, 6)); !strings.Contains(got, "▎") {
			t.Errorf("the selected %q is not shown:\n%s", want, got)
		}
	}
	if v.SelectPrev() {
		t.Error("there is something above the first block")
	}
	press(v, "down")
	if v.Selected() != "one **a**\n\ntwo" {
		t.Errorf("down selects %q", v.Selected())
	}
	press(v, "down", "down", "down")
	if v.Selected() != "" || !v.follow {
		t.Errorf("below the last block %q is selected", v.Selected())
	}
	v.SelectPrev()
	v.Deselect()
	if strings.Contains(plain(v.Lines(40, 6)), "▎") {
		t.Error("a bar shows without a selection")
	}
}

func TestUnfold(t *testing.T) {
	v, _ := view(t)
	text := strings.TrimRight(strings.Repeat("line\n", 40), "\n")
	v.Append(script(called("x", "bash", "bash a"), gave(history.Result{ID: "x", Text: text}), called("y", "bash", "bash b"), gave(history.Result{ID: "y", Text: text})))
	count := func() int { return strings.Count(plain(v.Lines(60, 200)), "│ line") }
	if n := count(); n != 12 {
		t.Errorf("%d lines show folded, want 12", n)
	}
	press(v, "ctrl+o")
	if n := count(); n != 80 {
		t.Errorf("%d lines show unfolded, want 80", n)
	}
	press(v, "ctrl+o")
	v.SelectPrev()
	press(v, "ctrl+o")
	if n := count(); n != 46 {
		t.Errorf("%d lines show with one unfolded, want 46", n)
	}
}

// Ctrl+O unfolds what is in sight and leaves the line at the top where it is; once nothing in sight is folded, it folds
// all.
func TestUnfold_inSight(t *testing.T) {
	v, _ := view(t)
	text := func(s string) string { return strings.TrimRight(strings.Repeat(s+"\n", 40), "\n") }
	for _, s := range []string{"one", "two", "three"} {
		v.Append(script(called(s, "bash", "bash "+s), gave(history.Result{ID: s, Text: text(s)})))
	}
	first := func() string {
		top, _, _ := strings.Cut(plain(settled(v, 60, 12)), "\n")
		return top
	}
	if got := first(); got != "  │ two" {
		t.Fatalf("at first the top is %q", got)
	}
	press(v, "ctrl+o")
	if got := first(); got != "  │ two" {
		t.Errorf("unfolded, the top is %q", got)
	}
	all := func(s string) int { return strings.Count(plain(v.Lines(60, 500)), "│ "+s+"\n") }
	v.Follow()
	if all("one") != 6 || all("two") != 40 || all("three") < 39 {
		t.Errorf("it shows %d, %d and %d lines", all("one"), all("two"), all("three"))
	}
	settled(v, 60, 12)
	press(v, "home")
	settled(v, 60, 12)
	press(v, "ctrl+o")
	if all("one") != 40 {
		t.Errorf("of the first, then in sight, show %d lines", all("one"))
	}
	settled(v, 60, 12)
	press(v, "home")
	settled(v, 60, 12)
	press(v, "ctrl+o")
	if all("one") != 6 || all("two") != 6 {
		t.Errorf("folded again, %d and %d lines show", all("one"), all("two"))
	}
}

// A selected block that is unfolded stays where it is.
func TestUnfold_selected(t *testing.T) {
	v, _ := view(t)
	v.Append(script(said("before"), called("x", "bash", "bash a"), gave(history.Result{ID: "x", Text: strings.Repeat("line\n", 40)})))
	settled(v, 60, 8)
	v.SelectPrev()
	was, _, _ := strings.Cut(plain(settled(v, 60, 8)), "\n")
	press(v, "ctrl+o")
	if got, _, _ := strings.Cut(plain(settled(v, 60, 8)), "\n"); got != was {
		t.Errorf("the top was %q and is %q", was, got)
	}
}

func TestMessage_isBounded(t *testing.T) {
	v, _ := view(t)
	m := inbox.Message{ID: 1, Sender: 2, From: "a", Kind: inbox.Mail, Body: strings.Repeat("a line of **text**\n\n", 50_000), Created: noon}
	v.Append([]history.Entry{{Seq: 1, Kind: history.EntryMessage, Messages: []inbox.Message{m}}})
	if got := plain(settled(v, 60, 40)); !strings.Contains(got, "more lines · ctrl+o") || strings.Count(got, "a line of text") != 5 {
		t.Errorf("a mail of 1 MB shows as\n%s", got)
	}
	press(v, "ctrl+o", "end")
	if got := plain(v.Lines(60, 40)); !strings.Contains(got, "more bytes") {
		t.Errorf("unfolded its end shows as\n%s", got)
	}
}

// TestMessage_lines: mail has its line breaks; text from outside is no markdown. The kind of a message is in its head.
//
// Spec: M-33, M-36.
func TestMessage_lines(t *testing.T) {
	for want, m := range map[string]inbox.Message{
		"▌ ✉ from a · #1 · just now · high external mail [ci]\n▌\n▌ # one **word**\n▌ two\n▌     three\n▌ ---\n▌ four": {
			From: "a", Priority: inbox.High, Tags: []string{"ci"}, Body: "# one **word**\ntwo\n    three\n---\nfour",
		},
		"▌ ✉ from a · #1 · just now · mail\n▌\n▌ alpha\n▌ beta word": {From: "a", Sender: 2, Body: "alpha\nbeta **word**"},
	} {
		m.ID, m.Kind, m.Created = 1, inbox.Mail, noon
		v, _ := view(t)
		v.Append([]history.Entry{{Seq: 1, Kind: history.EntryMessage, Messages: []inbox.Message{m}}})
		if got := plain(settled(v, 60, 12)); !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestHostileText(t *testing.T) {
	evil := "\x1b]52;c;eA==\a\x1b[2J\u202eabc\x00\u009b31m\r\b\xff\u200b日本\n\n- \x1b[8mx\n```\x1b[1m\n\x1b]0;t"
	one := 1
	es := script(
		asked(evil), said(evil), noted(evil), history.Entry{Kind: history.EntryThinking, Text: evil}, history.Entry{Kind: history.EntryHost, Text: evil}, history.Entry{Kind: history.EntryBriefed, Briefs: []history.Brief{{Name: evil, Bytes: 1}}},
		called("x", evil, evil), begun("x"), gave(history.Result{ID: "x", Name: evil, Text: evil, Error: true, Exit: &one}),
		called("y", "edit_file", evil), gave(history.Result{ID: "y", Diff: "@@ " + evil + "\n+" + evil}),
		history.Entry{Kind: history.EntryShell, Shell: &history.Shell{Command: evil, Output: evil, Exit: 1}},
		history.Entry{Kind: history.EntryMessage, Messages: []inbox.Message{{From: evil, Subject: evil, Body: evil, Outcome: evil, Error: evil, Partial: evil, Kind: inbox.Kind(evil)}}},
		over(history.End{Outcome: history.Outcome(evil), Error: evil}), called("z", "bash", evil), begun("z"),
	)
	for _, w := range []int{12, 40, 120} {
		v, _ := view(t)
		v.Append(es)
		v.Output(event.Output{Call: "z", Tail: evil})
		v.SetInfo(event.Info{State: event.Waiting, Why: evil, Prompts: []event.Prompt{{Text: evil}}})
		v.Local(evil, Bad)
		v.Delta(event.Delta{Thinking: true, Text: evil})
		v.Delta(event.Delta{Block: 1, Text: evil})
		for range 2 {
			check(t, v, w, 300)
			settled(v, w, 300)
			check(t, v, w, 300)
			press(v, "ctrl+o")
		}
		v.SetInfo(event.Info{State: event.Running, Doing: evil, Retry: &event.Retry{Reason: evil}})
		check(t, v, w, 300)
	}
}

// In any order of events a frame is a complete frame.
func TestRandomLife(t *testing.T) {
	light, err := themes.Load("light", true)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		v, c := view(t)
		seq, block := 10_000, 0
		keys := []string{"pgup", "pgdown", "home", "end", "ctrl+o", "up", "down"}
		w, h := 80, 24
		for range 300 {
			switch r.IntN(16) {
			case 0, 1:
				v.Append(long(1+r.IntN(8), seq))
				seq += 10
			case 2:
				v.Prepend(long(1+r.IntN(8), seq/2), r.IntN(2) == 0)
			case 3, 4, 5:
				v.Delta(event.Delta{Block: block, Thinking: block%3 == 0, Text: strings.Repeat("some **text**\n", r.IntN(5)) + "\n- x"})
			case 6:
				block++
			case 7:
				v.Record(long(1+r.IntN(3), seq))
				seq, block = seq+10, 0
			case 8:
				v.Void()
				block = 0
			case 9:
				v.SetInfo(busy())
			case 10:
				v.SetInfo(event.Info{State: event.Idle})
			case 11:
				v.Key(key(keys[r.IntN(len(keys))]))
			case 12:
				v.Scroll(r.IntN(60) - 30)
			case 13:
				w, h = 1+r.IntN(120), 1+r.IntN(50)
			case 14:
				v.SelectPrev()
			case 15:
				v.Local("local", Plain)
				if r.IntN(4) == 0 {
					v.SetTheme(light)
				}
			}
			c.t = c.t.Add(time.Duration(r.IntN(200)) * time.Millisecond)
			check(t, v, w, h)
			jobs := v.Jobs()
			if r.IntN(3) > 0 {
				for _, j := range jobs {
					v.Rendered(j.Run())
				}
			}
			_ = v.Selected()
			v.Older()
		}
	}
}

func TestMemory_letsFarLinesGo(t *testing.T) {
	v, _ := view(t)
	v.Append(long(8_000, 1))
	settled(v, 80, 24)
	for range 1_500 {
		v.Scroll(-20)
		v.Lines(80, 24)
		for _, j := range v.Jobs() {
			v.Rendered(j.Run())
		}
	}
	held := 0
	for _, b := range v.blocks {
		if b.drawn != nil {
			held++
		}
	}
	if held > 2_000 || held != len(v.warm) {
		t.Errorf("%d of %d blocks hold lines, %d are known to", held, len(v.blocks), len(v.warm))
	}
}

func benchmarkLines(b *testing.B, n int) {
	v, c := view(b)
	v.Append(long(n, 1))
	v.SetInfo(busy())
	settled(v, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		c.t = c.t.Add(33 * time.Millisecond)
		v.Lines(200, 60)
	}
}

func BenchmarkLines200x60(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkLines(b, n) })
	}
}

// A frame whose view is scrolled: other blocks become visible each time.
func BenchmarkScroll200x60(b *testing.B) {
	v, _ := view(b)
	v.Append(long(10_000, 1))
	settled(v, 200, 60)
	i := 0
	for b.Loop() {
		if i++; i%3000 == 0 {
			v.Follow()
		}
		v.Scroll(-10)
		v.Lines(200, 60)
	}
}

// A reply of 80 KB in pieces of four bytes: batches of a hundred, a frame each.
func BenchmarkDelta(b *testing.B) {
	text := strings.Repeat("# Head\n\nSome **bold** words of a paragraph that is as long as they are.\n\n- one\n- two `code`\n\n```go\nfunc f() int { return 1 }\n```\n\n", 700)[:80<<10]
	for _, jobs := range []bool{false, true} {
		b.Run(fmt.Sprintf("jobs=%v", jobs), func(b *testing.B) {
			for b.Loop() {
				v, c := view(b)
				v.Append(long(1_000, 1))
				var batch strings.Builder
				for i := 0; i < len(text); i += 4 {
					batch.WriteString(text[i:min(i+4, len(text))])
					if i%400 == 0 || i+4 >= len(text) {
						v.Delta(event.Delta{Text: batch.String()})
						batch.Reset()
						c.t = c.t.Add(33 * time.Millisecond)
						v.Lines(120, 40)
						for _, j := range v.Jobs() {
							if jobs {
								v.Rendered(j.Run())
							}
						}
					}
				}
			}
		})
	}
}

// TestResize: while the width changes everything is wrapped and nothing rendered; an earlier rendering for a width
// shows at once when that comes back.
func TestResize(t *testing.T) {
	v, c := view(t)
	v.Append(script(asked("go"), said(strings.Repeat("Some **bold** words and `code` of a paragraph.\n\n- one\n- two\n\n", 20))))
	settled(v, 80, 24)
	at80 := strings.Join(v.Lines(80, 24), "\n")
	for w := 81; w < 100; w++ {
		c.t = c.t.Add(settles - time.Millisecond)
		if got := strings.Join(v.Lines(w, 24), "\n"); !strings.Contains(got, "**bold**") {
			t.Fatalf("at %d it is not plain:\n%s", w, got)
		}
		if js := v.Jobs(); len(js) > 0 || v.Settling(c.t) != settles {
			t.Fatalf("at %d there are %d jobs, and it settles in %v", w, len(js), v.Settling(c.t))
		}
	}
	if got := strings.Join(v.Lines(80, 24), "\n"); got != at80 {
		t.Errorf("back without a rest it shows\n%s", got)
	}
	v.Lines(99, 24)
	c.t = c.t.Add(settles)
	if js := v.Jobs(); len(js) != 1 || v.Settling(c.t) != 0 {
		t.Fatalf("after a rest there are %d jobs, and it settles in %v", len(js), v.Settling(c.t))
	} else {
		v.Rendered(js[0].Run())
	}
	at99 := strings.Join(v.Lines(99, 24), "\n")
	if strings.Contains(at99, "**bold**") {
		t.Errorf("rendered for 99 it shows\n%s", at99)
	}
	for range 3 {
		for w, want := range map[int]string{80: at80, 99: at99} {
			if got := strings.Join(v.Lines(w, 24), "\n"); got != want {
				t.Errorf("back at %d it shows\n%s", w, got)
			}
		}
	}
}

func BenchmarkResize(b *testing.B) {
	v, _ := view(b)
	v.Append(long(10_000, 1))
	settled(v, 200, 60)
	w := 100
	for b.Loop() {
		if w++; w > 200 {
			w = 100
		}
		v.Lines(w, 60)
	}
}

func BenchmarkAppend10000(b *testing.B) {
	es := long(10_000, 1)
	for b.Loop() {
		v, _ := view(b)
		v.Append(es)
	}
}
