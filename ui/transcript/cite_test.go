package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
)

func mail(seq, id int64, body string) history.Entry {
	return history.Entry{Seq: seq, Kind: history.EntryMessage, Messages: []inbox.Message{{ID: id, From: "auth", Sender: 2, Kind: inbox.Mail, Body: body, Created: noon}}}
}

// TestCited: a number in an answer is a link if a message of that number entered, and the text around it is unchanged;
// o opens what is named, once each, and a click what is under it.
//
// Spec: M-30.
func TestCited(t *testing.T) {
	v, _ := view(t)
	v.Append([]history.Entry{mail(1, 12, "x"), mail(2, 3, "y"), {Seq: 3, Kind: history.EntryText, Text: "From **auth (#12)** and #3, not #4, a#12, #120 or ##3; #12."}})
	ls := settled(v, 80, 20)
	link := func(s string) string { return v.theme.Paint(themes.Link, s) }
	all := strings.Join(ls, "\n")
	if n := strings.Count(all, link("#12")); n != 2 {
		t.Errorf("#12 is a link %d times:\n%s", n, all)
	}
	if strings.Count(all, link("#3")) != 1 || strings.Contains(all, link("#4")) || strings.Contains(all, link("#120")) {
		t.Errorf("%s", all)
	}
	v.SelectPrev()
	if got := fmt.Sprint(v.Opens()); got != "[12 3]" {
		t.Errorf("it opens %s", got)
	}
	v.SelectPrev()
	if got := fmt.Sprint(v.Opens()); got != "[3]" {
		t.Errorf("the message opens %s", got)
	}
	for y, l := range strings.Split(plain(ls), "\n") {
		if x := strings.Index(l, "#3, not"); x >= 0 {
			for dx, want := range map[int]int64{0: 3, 1: 3, 2: 0, 9: 0} {
				if id, _ := v.Click(x+dx, y); id != want {
					t.Errorf("a click %d cells into %q opens %d", dx, l[x:], id)
				}
			}
		}
	}
	if _, ok := v.Click(0, 19); ok {
		t.Error("a click below means something")
	}
}

// TestDocuments: a document is one line, unfolded its text, and disappears with the entry that named it; its text has
// no control sequences.
//
// Spec: M-10, R-61.
func TestDocuments(t *testing.T) {
	evil := "\x1b]52;c;eA==\a\x1b[2J\u202eabc\x00\u009b31m\r"
	doc := func(seq, behind int64, d history.Recall, text string) history.Entry {
		return history.Entry{Seq: seq, Kind: history.EntryMemory, Behind: behind, Memory: &d, Text: text}
	}
	v, _ := view(t)
	v.Append([]history.Entry{
		mail(1, 12, "see #mem-a"),
		doc(2, 1, history.Recall{Title: "a" + evil, Version: 1, Size: 1240, By: evil + "scout", Parts: "#mem-a/b" + evil}, "# Title\n\n"+evil+"text"),
		doc(3, 1, history.Recall{Title: "gone", Missing: true}, "There is no memory document #mem-gone."+evil),
		{Seq: 4, Kind: history.EntryHost, Behind: 1, Text: "Only 8 come."},
		{Seq: 5, Kind: history.EntryMemory},
	})
	for _, w := range []int{12, 40, 120} {
		for _, l := range settled(v, w, 20) {
			if cells.Width(l) > w || strings.ContainsAny(l, "\a\x00\r") || strings.Contains(l, "]52") && strings.Contains(l, "\x1b]") || strings.Contains(l, "\x1b[2J") {
				t.Errorf("at %d: %q", w, l)
			}
		}
	}
	got := plain(settled(v, 120, 20))
	if !strings.Contains(got, " · 1.2 kB · by ") || !strings.Contains(got, "✗ There is no memory document #mem-gone.") || strings.Contains(got, "Title\n") {
		t.Errorf("%s", got)
	}
	press(v, "ctrl+o")
	if got = plain(settled(v, 120, 30)); !strings.Contains(got, "Title") || !strings.Contains(got, "text") {
		t.Errorf("unfolded:\n%s", got)
	}
	v.Append([]history.Entry{{Seq: 6, Kind: history.EntryWithdrawn, Withdraws: 1, Text: "1 message went back."}})
	if got = plain(settled(v, 120, 30)); strings.Contains(got, "mem-") || strings.Contains(got, "Only 8") || !strings.Contains(got, "went back") {
		t.Errorf("withdrawn:\n%s", got)
	}
}

// TestLongDocument: a document that is too long to be shown at once says so, and where to read it whole.
func TestLongDocument(t *testing.T) {
	v, _ := view(t)
	v.Document(history.Recall{Title: "log", Version: 1, Size: 70_000}, strings.Repeat("line\n\n", 70_000/6))
	const more = "more bytes · /memory edit log to open it whole"
	if got := plain(settled(v, 60, 10)); !strings.Contains(got, "… ") || !strings.Contains(got, more) {
		t.Errorf("%s", got)
	}
	v, _ = view(t)
	v.Document(history.Recall{Title: "log", Version: 1, Size: 5}, "short")
	if got := plain(settled(v, 60, 10)); strings.Contains(got, more) {
		t.Errorf("%s", got)
	}
}

// TestAges: the age on a card stays true for as long as Ages says.
func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]struct {
		says string
		till time.Duration
	}{
		-time.Second: {"just now", time.Minute}, 0: {"just now", time.Minute}, 59 * time.Second: {"just now", time.Second},
		61 * time.Second: {"1m ago", 59 * time.Second}, 59*time.Minute + 30*time.Second: {"59m ago", 30 * time.Second},
		90 * time.Minute: {"1h ago", 30 * time.Minute}, 25 * time.Hour: {"1d ago", 23 * time.Hour},
	} {
		if got := ago(noon.Add(-age), noon); got != want.says || older(noon.Add(-age), noon) != want.till {
			t.Errorf("%s: %s for %s", age, got, older(noon.Add(-age), noon))
		}
	}
	v, _ := view(t)
	v.Append([]history.Entry{{Seq: 1, Kind: history.EntryText, Text: "x"}})
	if v.Lines(40, 5); v.Ages() != 0 {
		t.Errorf("no age shows, and it changes in %s", v.Ages())
	}
	v.Append([]history.Entry{mail(2, 1, "x")})
	if v.Lines(40, 5); v.Ages() <= 0 || v.Ages() > time.Minute {
		t.Errorf("%s", v.Ages())
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1240: "1.2 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 1 << 20: "1.0 MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
