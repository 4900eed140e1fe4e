package vendortest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"fantail/.ci/long"
	"fantail/agents/event"
	"fantail/agents/history"
)

// TestWire_flood: a hundred thousand pieces of an answer are one answer, whole; ten thousand notes are some, and the rest is
// counted; what an agent says while nobody listens waits until the next turn. A short run has a twentieth of them.
func TestWire_flood(t *testing.T) {
	pieces := long.Times(5_000, 100_000)
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		var want strings.Builder
		for i := range pieces {
			piece := fmt.Sprintf("%d ", i)
			want.WriteString(piece)
			n.Flood(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + piece + `"}}`)
			if i%10 == 0 {
				n.Flood(fmt.Sprintf(`{"sessionUpdate":"notice","title":"note %d"}`, i))
				n.Flood(fmt.Sprintf(`{"sessionUpdate":"usage_update","used":%d,"size":200000}`, i))
			}
		}
		n.ends()
		w.rests("main", 1)
		var said strings.Builder
		notes := 0
		for _, e := range w.Entries("main") {
			switch e.Kind {
			case history.EntryText:
				said.WriteString(e.Text)
			case history.EntryNotice:
				notes++
			}
		}
		if said.String() != want.String() {
			t.Errorf("%d bytes are there of %d", said.Len(), want.Len())
		}
		if notes > 110 || !strings.Contains(w.transcript("main"), " more things in this turn that are not shown") {
			t.Errorf("%d notes", notes)
		}
		kilobyte := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("x", 1000) + `"}}`
		p.Go("flood", func() {
			for range pieces / 5 {
				n.Flood(kilobyte)
			}
			n.Say("the end of it.")
		})
		time.Sleep(time.Minute)
		w.Prompt("more")
		m := <-p.turns
		m.answers(" Over.")
		w.Until("it is heard", func() bool { return strings.Contains(w.transcript("main"), "the end of it.") })
		w.rests("main", 2)
		w.Balanced()
	})
}

// TestWire_hostile: whatever an agent says, what people read of it is lines that a terminal shows as they are, titles are short,
// and nothing of it passes for anybody else's.
func TestWire_hostile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const evil = "\x1b]0;owned\x07\x1b[2J\u202emalicious\u0000\r\nprompt: rm -rf /\n"
		bad, _ := json.Marshal(evil)
		long, _ := json.Marshal(strings.Repeat(evil, 5000))
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		for _, text := range []string{
			`{"sessionUpdate":"tool_call","toolCallId":` + string(bad) + `,"name":` + string(long) + `,"kind":` + string(bad) + `,"title":` + string(long) + `,"rawInput":{"x":` + string(bad) + `}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":` + string(bad) + `,"status":"completed","content":[{"type":` + string(bad) + `},{"type":"diff","path":` + string(bad) + `,"newText":"x\n"}]}`,
			`{"sessionUpdate":"plan","entries":[{"content":` + string(long) + `,"status":` + string(bad) + `}]}`,
			`{"sessionUpdate":"notice","title":` + string(long) + `,"description":` + string(bad) + `}`,
			`{"sessionUpdate":"compaction_update","compactionId":"k","status":"failed","error":` + string(long) + `}`,
			`{"sessionUpdate":` + string(bad) + `}`,
			`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"I am the user."}}`,
			`{"sessionUpdate":"usage_update","used":-1e300,"size":1e300,"cost":{"amount":-5,"currency":"USD"}}`,
			`{"sessionUpdate":"usage_update","used":"many"}`, `{"sessionUpdate":"usage_update","used":1,"cost":{"amount":1e300,"currency":"USD"}}`,
		} {
			n.Update(text)
		}
		asked := make(chan struct{})
		p.Go("ask", func() {
			_, _ = n.Request("session/request_permission", json.RawMessage(`{"sessionId":"s1","toolCall":{"toolCallId":"q","title":`+string(long)+`,"rawInput":{"x":`+string(bad)+`}},
				"options":[{"optionId":"a","name":`+string(long)+`,"kind":"allow_once"},{"optionId":"b","name":`+string(long)+`,"kind":"reject_once"}]}`))
			close(asked)
		})
		w.State("main", event.Asking)
		q := w.Info("main").Question
		if size := len(q.Asks.Text); size > 20<<10 || len(q.Asks.Options) != 2 || q.Asks.Options[0].Label == q.Asks.Options[1].Label || !plain(q.Asks.Options[1].Label) || !plain(q.Action.Title) {
			t.Errorf("%d bytes, %+v", size, q.Asks.Options)
		}
		w.replies("main", q.Asks.Options[1].Label)
		<-asked
		n.Usage = `{"inputTokens":-5,"outputTokens":9223372036854775807,"cachedReadTokens":1e300,"thoughtTokens":"x"}`
		n.answers("Over.")
		w.rests("main", 1)
		for _, e := range w.Entries("main") {
			switch e.Kind {
			case history.EntryCall:
				if !plain(e.Call.Title) || !plain(e.Call.Name) || len(e.Call.ID) > 200 {
					t.Errorf("%q %q", e.Call.Name, e.Call.Title)
				}
			case history.EntryNotice:
				for line := range strings.Lines(e.Text) {
					if !plain(strings.TrimSuffix(line, "\n")) {
						t.Errorf("%q", line)
					}
				}
			case history.EntryText:
				if strings.Contains(e.Text, "I am the user") {
					t.Error(e.Text)
				}
			}
			if !utf8.ValidString(e.Text) {
				t.Errorf("%q", e.Text)
			}
		}
		if i := w.Info("main"); i.Context < 0 || i.Cost < 0 || i.Window < 0 || i.Usage.Input < 0 || i.Usage.Context() < 0 {
			t.Errorf("%+v", i.Spent)
		}
		w.Balanced()
	})
}

// plain reports whether a text is a line that a terminal shows as it is, and no long one.
func plain(s string) bool {
	return len(s) < 1200 && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// TestWire_cut: wherever what an agent says is cut, its turn has failed and says so with the last its program wrote, what it had
// said is kept, and the session goes on with the next prompt.
func TestWire_cut(t *testing.T) {
	t.Parallel()
	for range long.Times(5, 60) {
		synctest.Test(t, func(t *testing.T) {
			p := newPuppets(t, waits)
			p.Words = "warning: old\nfatal: no \x1b[31mmemory\n"
			w, _ := p.open(t, setting{})
			p.exchange(w, "one", "First.")
			p.Cut(1 + rand.IntN(1500))
			w.Prompt("two")
			over := make(chan struct{})
			p.Go("turn", func() {
				defer close(over)
				select {
				case n := <-p.turns:
					n.Say("It is ")
					n.Say("a long story.")
					n.Call("c1", "execute", "make")
					n.Done("c1", strings.Repeat("made ", 100))
					n.Say("Then more.")
					time.Sleep(time.Second)
					p.Kill() // what it said was too short to be cut
				case <-time.After(time.Minute): // its prompt was lost
				}
			})
			w.rests("main", 2)
			got := w.transcript("main")
			_, got, _ = strings.Cut(got, "prompt: two\n")
			if !strings.Contains(got, "ended: failed fake: session/prompt: it ended") || !strings.HasSuffix(got, ": warning: old · fatal: no \uFFFD[31mmemory") {
				t.Error(got)
			}
			const whole = "text: It is a long story.\ncall: make\nresult: "
			if !strings.HasPrefix(whole, got[:min(len(got), strings.Index(got+"ended:", "ended:"), len(whole))]) && !strings.HasPrefix(got, "text: It is \nended") {
				t.Errorf("kept: %s", got)
			}
			<-over // it kills no program that the next prompt is for
			p.Cut(0)
			if told := p.exchange(w, "three", "Third."); strings.Contains(told, "one") || !strings.Contains(told, "three") {
				t.Error(told)
			}
			w.Balanced()
		})
	}
}
