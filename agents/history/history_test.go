package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFit: a text that is too long keeps its beginning and its end, says how much is missing, and stays valid text.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.StringN(1, 9, -1).Draw(t, "text"), rapid.IntRange(1, 400).Draw(t, "times"))
		most := rapid.IntRange(300, 2000).Draw(t, "most")
		got := Fit(s, most)
		if len(s) <= most {
			if got != s {
				t.Fatalf("%d bytes of at most %d became %q", len(s), most, got)
			}
			return
		}
		head, rest, _ := strings.Cut(got, "\n… ")
		gone, tail, ok := strings.Cut(rest, " bytes are left out; the agent's tab shows all …\n")
		if !ok || len(got) > most || !utf8.ValidString(got) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) ||
			fmt.Sprint(len(s)-len(head)-len(tail)) != gone || head == "" || tail == "" {
			t.Fatalf("%d bytes of at most %d became %d: %q", len(s), most, len(got), got)
		}
	})
}

// TestSpell: any conversation fits into a room that is not too small, with its first and last part, and no text ends
// an envelope.
func TestSpell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 24).Draw(t, "messages")
		var said []llm.Message
		for i := range n {
			text := fmt.Sprintf("<%d>", i) + strings.Repeat(rapid.SampledFrom([]string{"word ", "x</conversation>", "é", "\n"}).Draw(t, "text"), rapid.IntRange(0, 300).Draw(t, "times")) + "."
			said = append(said, llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant}).Draw(t, "role"), Parts: []llm.Part{llm.Text{Text: text}}})
		}
		room := rapid.IntRange(2048, 10_000).Draw(t, "room")
		got := Spell(said, room)
		if len(got) > room+200 || strings.Contains(got, "</conversation") || !strings.Contains(got, "<0>") || !strings.Contains(got, fmt.Sprintf("<%d>", n-1)) {
			t.Fatalf("%d messages in %d bytes of %d", n, len(got), room)
		}
	})
}

// TestWords: however pieces are added and written to disk, a reader gets the text up to any of them, and the rest
// follows what was written. A long text that is on disk is not in memory.
func TestWords(t *testing.T) {
	pieces := []string{" \n", "word ", strings.Repeat("a", longText), "b"}
	for mask := range 1 << len(pieces) { // after which pieces it is written down
		w, all, disk := &BlockText{}, "", ""
		for n, piece := range pieces {
			all += piece
			if to := w.Add(piece); to != len(all) || w.Size() != len(all) || w.Solid != (n > 0) {
				t.Fatalf("%b: %d bytes, %d in all, solid %t; want %d", mask, to, w.Size(), w.Solid, len(all))
			}
			if mask&(1<<n) != 0 {
				head, upTo, rest := w.Rest()
				if upTo != len(disk) || len(rest) != len(all)-len(disk) || !strings.HasSuffix(all, rest) || (head != 0) != (disk != "") {
					t.Fatalf("%b: after %d of %d bytes, %d come behind piece %d", mask, upTo, len(all), len(rest), head)
				}
				w.Wrote(1, len(all))
				disk = all
			}
			var want string
			switch long := len(disk) > longText; {
			case !long:
				want = all
			case len(all) > len(disk):
				want = fmt.Sprintf("… %d bytes before, which show when the reply is over …\n%s", len(disk), all[len(disk):])
			}
			whole := all
			if len(disk) > longText {
				whole = ""
			}
			if got := w.Before(len(all)); got != want || w.String() != whole {
				t.Fatalf("%b: %d bytes of %d are seen, with %d on disk", mask, len(got), len(all), len(disk))
			}
		}
	}
}

// rows is a database with one agent and a turn of it.
type rows struct {
	db          *store.DB
	agent, turn int64
}

func newRows(t *testing.T) rows {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := rows{db: db}
	r.write(t, func(tx *store.Tx) (err error) {
		if r.agent, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", State: "idle"}); err == nil {
			r.turn, err = tx.BeginTurn(store.Turn{Agent: r.agent, Kind: "agent"})
		}
		return err
	})
	return r
}

func (r rows) write(t testing.TB, f func(tx *store.Tx) error) {
	t.Helper()
	if err := r.db.Write(context.Background(), "test", f); err != nil {
		t.Fatal(err)
	}
}

// TestExtend: a loop that extends its history sends the same as a new one that reads the rows.
func TestExtend(t *testing.T) {
	r := newRows(t)
	rapid.Check(t, func(rt *rapid.T) {
		var agent int64
		var going []Entry
		r.write(t, func(tx *store.Tx) (err error) {
			agent, err = tx.AddAgent(store.Agent{Name: fmt.Sprint("a", rapid.Uint64().Draw(rt, "name")), Kind: "sub", State: "done", Ended: tx.Now(), Closed: tx.Now()})
			if err != nil {
				return err
			}
			b := Writer{Agent: agent}.Batch(tx)
			for range rapid.IntRange(1, 12).Draw(rt, "entries") {
				e := rapid.SampledFrom([]Entry{
					{Kind: EntryPrompt, Text: "do it"}, {Kind: EntryText, Text: "done"}, {Kind: EntryText, Text: "more"}, {Kind: EntryCleared}, {Kind: EntrySummary, Text: "sum", Summary: &Summary{}},
				}).Draw(rt, "entry")
				if e.Kind == EntrySummary {
					if len(going) == 0 || going[len(going)-1].Kind == EntrySummary {
						continue // there is nothing to sum up
					}
					at := rapid.IntRange(0, len(going)-1).Draw(rt, "up to")
					if going[at].Kind == EntrySummary {
						continue
					}
					e.Summary = &Summary{UpTo: going[at].Seq}
				}
				if _, err := b.Add(0, e); err != nil {
					return err
				}
				going = b.out[len(b.out)-1].Extend(going)
				if e.Kind == EntrySummary && (going[0].Kind != EntrySummary || slices.ContainsFunc(going, func(h Entry) bool { return h.Seq <= e.Summary.UpTo })) {
					rt.Fatalf("the summary up to %d stands before %+v", e.Summary.UpTo, going)
				}
			}
			return nil
		})
		var read Talk
		if err := r.db.Read(context.Background(), func(rx *store.Rx) error {
			newest, err := rx.NewestSeq()
			if err != nil {
				return err
			}
			return read.Read(rx, agent, newest, 0)
		}); err != nil {
			rt.Fatal(err)
		}
		if a, b := Request(going, "m"), Request(read.Entries, "m"); !reflect.DeepEqual(a, b) {
			rt.Fatalf("it would send\n%+v\nand read anew\n%+v", a, b)
		}
	})
}

// TestBatch: after a commit Tell gets the appended entries, with their numbers; it is called for a live batch even if
// that is empty, and never for one that was rolled back.
func TestBatch(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		what    string
		live    bool
		entries int
		err     error
		want    []string
	}{
		{"two entries", false, 2, nil, []string{"2 live false"}},
		{"two live ones", true, 2, nil, []string{"2 live true"}},
		{"none", false, 0, nil, nil},
		{"no live ones", true, 0, nil, []string{"0 live true"}},
		{"rolled back", true, 2, failed, nil},
	} {
		r := newRows(t)
		var told []string
		var got []Entry
		writer := Writer{Agent: r.agent, Tell: func(es []Entry, live bool) {
			told, got = append(told, fmt.Sprintf("%d live %t", len(es), live)), es
		}}
		err := r.db.Write(t.Context(), "append", func(tx *store.Tx) error {
			b := writer.Batch(tx)
			if c.live {
				b = writer.LiveBatch(tx)
			}
			for n := range c.entries {
				if _, err := b.Add(r.turn, Entry{Kind: EntryText, Text: fmt.Sprint(n)}); err != nil {
					return err
				}
			}
			return c.err
		})
		if !errors.Is(err, c.err) || !slices.Equal(told, c.want) {
			t.Errorf("%s: told %q, %v; want %q", c.what, told, err, c.want)
		}
		for n, e := range got {
			if e.Seq == 0 || e.Agent != r.agent || e.Turn != r.turn || e.At.IsZero() || e.Text != fmt.Sprint(n) {
				t.Errorf("%s: told of %+v", c.what, e)
			}
		}
	}
}

// TestDecode: a row that can't be read becomes a notice that says so.
func TestDecode(t *testing.T) {
	e := Decode(store.Entry{Seq: 7, Agent: 1, Turn: 2, Kind: string(EntryText), Data: "{"})
	if e.Kind != EntryNotice || e.Seq != 7 || e.Agent != 1 || e.Turn != 2 || !strings.HasPrefix(e.Text, "entry 7 (text) can't be read: ") {
		t.Errorf("%+v", e)
	}
}

// TestWithdrawn: a withdrawn entry takes those with it that came along with it.
func TestWithdrawn(t *testing.T) {
	es := []Entry{
		{Seq: 1, Kind: EntryMessage, Text: "a"},
		{Seq: 2, Kind: EntryMemory, Behind: 1, Memory: &Recall{}},
		{Seq: 3, Kind: EntryMessage, Text: "b"},
		{Seq: 4, Kind: EntryMemory, Behind: 3, Memory: &Recall{}},
		{Seq: 5, Kind: EntryWithdrawn, Withdraws: 1},
	}
	if got, want := Withdrawn(es), map[int64]bool{1: true, 2: true}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v are gone, want %v", got, want)
	}
}

// TestAnswered: an entry that no answer of the model follows is not answered.
func TestAnswered(t *testing.T) {
	for kinds, want := range map[string]int{
		"": 0, "prompt": 0, "prompt text": 2, "prompt text prompt": 2, "prompt call result message memory host": 3,
		"prompt text ended prompt shell notice withdrawn": 3, "summary prompt": 1, "cleared": 1,
	} {
		var es []Entry
		for _, k := range strings.Fields(kinds) {
			es = append(es, Entry{Kind: EntryKind(k)})
		}
		if got := len(Answered(es)); got != want {
			t.Errorf("%q: the first %d are answered, want %d", kinds, got, want)
		}
	}
}

// TestSaid: an agent's last words, and the output of a command that was cut.
func TestSaid(t *testing.T) {
	exit := func(n int) *int { return &n }
	say := func(s string) Entry { return Entry{Kind: EntryText, Text: s} }
	result := func(text string, code *int) Entry {
		return Entry{Kind: EntryResult, Result: &Result{Text: text, Exit: code, Millis: 1540}}
	}
	command := Entry{Kind: EntryCall, Call: &Call{ID: CommandCall}}
	for _, c := range []struct {
		es   []Entry
		want string
	}{
		{nil, ""},
		{[]Entry{say(" one "), say("two")}, "one\n\ntwo"},
		{[]Entry{say("one"), {Kind: EntryPrompt}, say("two"), {Kind: EntryEnded}}, "two"},
		{[]Entry{say("one"), result("x", exit(0))}, "one"},
		{[]Entry{say("one"), result("part", exit(-1)), {Kind: EntryEnded}}, "one\n\nThe output of the command that ran then ended with:\n\n```\npart\n```"},
		{[]Entry{command, result("all\n[exit code 2]", exit(2))}, "exit 2, took 1.5s\n\n```\nall\n```"},
		{[]Entry{command, result("", exit(-1))}, "ended by a signal, took 1.5s"},
		{[]Entry{command, result("a ``` b", nil)}, "took 1.5s\n\n````\na ``` b\n````"},
		{[]Entry{command, result(strings.Repeat("x\n", 20), exit(0))}, "exit 0, took 1.5s\n\n```\n" + strings.TrimSuffix(strings.Repeat("x\n", 20), "\n") + "\n```"},
		{[]Entry{command, result(strings.Repeat("x\n", 21), exit(0))}, "exit 0, took 1.5s; its last 20 lines are:\n\n```\n" + strings.TrimSuffix(strings.Repeat("x\n", 20), "\n") + "\n```"},
	} {
		if got := Said(c.es); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for text, want := range map[string]string{"": "", "\n```\n# \n---\n  done  \nmore": "done", "# **Title**\nx": "Title", strings.Repeat("é", 300): llm.Clip(strings.Repeat("é", 300), 200)} {
		if got := GistOf(text); got != want {
			t.Errorf("the gist of %q is %q", text, got)
		}
	}
}

// TestCut: a transcript that is not recovered ends as recovery would end it, with what was written to disk of an
// unfinished reply; other agents' turns do not count.
func TestCut(t *testing.T) {
	r := newRows(t)
	var other int64
	r.write(t, func(tx *store.Tx) (err error) {
		if other, err = tx.AddAgent(store.Agent{Name: "other", Kind: "sub", State: "idle"}); err != nil {
			return err
		}
		for _, a := range []int64{r.agent, other} {
			if _, err = (Writer{Agent: a}).Batch(tx).Add(0, Entry{Kind: EntryPrompt, Text: "go"}); err != nil {
				return err
			}
		}
		_, err = tx.Say(r.turn, 0, string(EntryText), "m", "half a rep")
		return err
	})
	for agent, want := range map[int64][]string{r.agent: {"prompt go", "text half a rep", "ended "}, other: {"prompt go"}} {
		if err := r.db.Read(t.Context(), func(rx *store.Rx) error {
			all, err := rx.EntriesAfter(agent, 0, 100)
			if err != nil {
				return err
			}
			es, err := Cut(&rx.View, agent, DecodeAll(all))
			var got []string
			for _, e := range es {
				got = append(got, string(e.Kind)+" "+e.Text)
				if e.Seq != es[0].Seq || e.Kind == EntryEnded && (e.End.Outcome != OutCrashed || e.End.Error != CutShort || e.Turn != r.turn) {
					t.Errorf("agent %d: %+v", agent, e)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("agent %d: %q, want %q", agent, got, want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, func(tx *store.Tx) error { return (Writer{Agent: r.agent}).Batch(tx).Salvage(r.turn) })
	if err := r.db.Read(t.Context(), func(rx *store.Rx) error {
		left, err := Partial(&rx.View, r.turn)
		all, err2 := rx.TurnEntries(r.turn)
		if es := DecodeAll(all); len(left) != 0 || len(es) != 1 || es[0].Text != "half a rep" || es[0].Model != "m" {
			t.Errorf("recovered: %+v, left: %+v", es, left)
		}
		return errors.Join(err, err2)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestKindOf: an entry counts in a context exactly if a request would send it.
func TestKindOf(t *testing.T) {
	call, result := &Call{ID: "c", Name: "bash"}, &Result{ID: "c", Text: "out"}
	for _, e := range []Entry{
		{Kind: EntryPrompt, Text: "x"},
		{Kind: EntryMessage, Text: "x", Messages: []inbox.Message{{}}},
		{Kind: EntryMessage, Messages: []inbox.Message{{}}},
		{Kind: EntryText, Text: "x"},
		{Kind: EntryCall, Call: call},
		{Kind: EntryResult, Result: result},
		{Kind: EntryHost, Text: "x"},
		{Kind: EntrySnapshot, Text: "x"},
		{Kind: EntryNotice, Text: "x"},
		{Kind: EntryShell, Shell: &Shell{Command: "ls"}},
		{Kind: EntrySummary, Text: "x", Summary: &Summary{}},
		{Kind: EntryCleared},
		{Kind: EntryStarted, Call: call},
		{Kind: EntryWithdrawn, Withdraws: 3},
		{Kind: EntryMemory, Text: "x", Memory: &Recall{Title: "a"}},
	} {
		if kind, n := KindOf(e), Weight(e); (kind == "") != (n == 0) {
			t.Errorf("%s: %d tokens of %q", e.Kind, n, kind)
		}
	}
}
