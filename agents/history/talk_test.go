package history_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"weak"

	"pgregory.net/rapid"

	"fantail/agents/history"
	"fantail/agents/history/historytest"
	"fantail/agents/llm"
)

// unwritten returns messages without what providers store beside them, sharing no memory.
func unwritten(ms []llm.Message) []llm.Message {
	ms = slices.Clone(ms)
	for n, m := range ms {
		ms[n] = llm.Message{Role: m.Role, Parts: slices.Clone(m.Parts)}
	}
	return ms
}

// TestTalk: a talk that has grown sends the same as its entries alone, and what it has sent does not change.
func TestTalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, then [][]llm.Message
		historytest.Tell(t, "test", func(a historytest.Asked) {
			if kept, alone := unwritten(a.Kept), unwritten(a.Alone); !reflect.DeepEqual(kept, alone) {
				t.Fatalf("kept\n%+v\nmade anew\n%+v", kept, alone)
			}
			sent, then = append(sent, a.Kept), append(then, unwritten(a.Kept))
		})
		for n := range sent {
			if now := unwritten(sent[n]); !reflect.DeepEqual(now, then[n]) {
				t.Fatalf("request %d was\n%+v\nand is\n%+v", n+1, then[n], now)
			}
		}
	})
}

// form is that of this test.
type form struct{}

// TestTalk_once: however many requests there are, no entry is written more than twice: as the last of a request, and
// together with later ones. What a provider stored is dropped with the messages.
func TestTalk_once(t *testing.T) {
	talk, writes := &history.Talk{}, 0
	seq := int64(0)
	add := func(e history.Entry) {
		seq++
		e.Seq = seq
		talk.Add(e)
	}
	write := func(_ form, m *llm.Message) int {
		writes += len(m.Parts)
		return 0
	}
	add(history.Entry{Kind: history.EntryPrompt, Text: "go"})
	parts := 0
	var last []llm.Message
	for n := range 100 {
		id := fmt.Sprint(n)
		add(history.Entry{Kind: history.EntryText, Text: "I look."})
		add(history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: "f"}})
		add(history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: id, Text: "x"}})
		if n%10 == 0 {
			add(history.Entry{Kind: history.EntryMessage, Text: "mail"})
		}
		last, parts = talk.Request("m"), 0
		for range 2 { // with a retry
			for i := range last {
				llm.EncodeOnce(&last[i], form{}, write)
				parts += len(last[i].Parts)
			}
		}
		parts /= 2
	}
	if parts != 311 || writes > 2*parts {
		t.Errorf("%d parts were written %d times", parts, writes)
	}
	kept := weak.Make(last[0].Encoded)
	last = nil
	if talk.Forget(); talk.Request("m")[0].Encoded == kept.Value() {
		t.Error("the messages are the old ones")
	}
	runtime.GC()
	if kept.Value() != nil {
		t.Error("what was written is still in memory")
	}
	runtime.KeepAlive(talk)
}
