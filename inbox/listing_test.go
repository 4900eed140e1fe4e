package inbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func TestListing(t *testing.T) {
	if got := Listing(nil, noon); got != "No messages." {
		t.Error(got)
	}
	got := Listing([]Message{
		{ID: 4, From: "worker-a", Kind: Result, Outcome: "completed", Body: "3\nfailures", Created: noon.Add(-30 * time.Second)},
		{ID: 5, From: "b\nad", Kind: Mail, Priority: Urgent, Tags: []string{"ci"}, Body: "x", Created: noon.Add(-26 * time.Hour), Taken: noon.Add(-time.Minute), TakenBy: "tool"},
		{ID: 6, From: "c", Kind: Result, Body: "\n```go\nfunc f() {}\n```\n", Created: noon},
		{ID: 7, From: "c", Kind: Result, Outcome: "completed", Body: "exit 0, took 1s\n\n````\nok\n````", Created: noon},
	}, noon)
	if want := "Messages:\n  - from: worker-a (received 30s ago)\n    #4 · completed · 3 failures\n" +
		"  - from: b ad (received 1d ago)\n    #5 · urgent external mail [ci] · x · taken by a tool call 1m ago\n" +
		"  - from: c (received 0s ago)\n    #6 · result · func f() {}\n  - from: c (received 0s ago)\n    #7 · completed · exit 0, took 1s ok"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestListing_cutsAtWords: a listing ends its lines with a whole word and shows that the text goes on; a text that fits
// is unchanged.
func TestListing_cutsAtWords(t *testing.T) {
	a := func(n int) string { return strings.TrimSpace(strings.Repeat("abcd ", n)) }
	for body, want := range map[string]string{
		a(20):                           a(20),            // 99 characters
		a(19) + " abcde":                a(19) + " abcde", // 100
		a(19) + " abcdef":               a(19) + "…",
		a(30):                           a(20) + "…",
		strings.Repeat("é", 130):        strings.Repeat("é", 99) + "…",
		"x " + strings.Repeat("y", 130): "x " + strings.Repeat("y", 97) + "…",
		"short\n\nand more":             "short and more",
	} {
		got := Listing([]Message{{ID: 4, From: "w", Sender: 2, Kind: Mail, Body: body, Created: noon}}, noon)
		if want = "#4 · mail · " + want; !strings.HasSuffix(got, want) {
			t.Errorf("%q is listed as\n%s\nwant %s", body, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 12*time.Second + 999*time.Millisecond: "12s", 59 * time.Second: "59s", time.Minute: "1m",
		59*time.Minute + 59*time.Second: "59m", time.Hour: "1h", 23 * time.Hour: "23h", 24 * time.Hour: "1d", 1000 * time.Hour: "41d",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestLabel(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "  a \n\t b\u202e\x1b[31mc ": "a b [31mc", "👨\u200d👩": "👨\u200d👩", "a\xffb": "a\uFFFDb",
		strings.Repeat("é", 101):       strings.Repeat("é", 100),
		strings.Repeat("é", 99) + " x": strings.Repeat("é", 99),
		strings.Repeat("é", 98) + " x": strings.Repeat("é", 98) + " x",
		strings.Repeat(" ", 500) + "x": "x",
	} {
		if got := Label(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func FuzzMessage_json(f *testing.F) {
	f.Add("a", "b\xff", "c\x00")
	f.Fuzz(func(t *testing.T, body, subject, key string) {
		m := Message{ID: 1, From: key, Kind: Mail, Body: body, Subject: subject, Partial: body, Error: subject, Key: key, Created: noon}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if back.Body != body || back.Subject != subject || back.Partial != body || back.Error != subject || back.Key != key || back.From != key ||
			!back.Created.Equal(noon) || !back.Taken.IsZero() {
			t.Fatalf("%q is not %+v", b, m)
		}
	})
}
