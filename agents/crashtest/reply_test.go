package crashtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
)

// streams is a life in which a task's model streams a reply that does not end.
func streams(t *testing.T, dir, base string) {
	w := agentstest.Open(t, openai.New(openai.Options{Key: "k", BaseURL: base + "/v1"}), agentstest.Setting{Dir: dir})
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "job", Prompt: "go on and on"})
	agentstest.Check(t, err)
	w.Run(1)
	fmt.Println("READY")
	<-make(chan struct{})
}

// body is a reply of pieces as it is on the wire, and where each of them ends there.
func body(pieces []string) (stream string, ends []int) {
	var b strings.Builder
	for _, p := range pieces {
		data, _ := json.Marshal(p) // of a string never fails
		fmt.Fprintf(&b, `data: {"choices":[{"delta":{"content":%s}}]}`+"\n\n", data)
		ends = append(ends, b.Len())
	}
	return b.String(), ends
}

// TestKill_duringAReply kills the program while a reply is streamed. All that had come
// a second before is in the transcript of the next start, and in the failure of the
// task, once; after another crash too (torture A1, L29).
// Spec: E-1, N-19, Q-44.
func TestKill_duringAReply(t *testing.T) {
	t.Parallel()
	var pieces []string
	for i := range 3000 {
		pieces = append(pieces, fmt.Sprintf("Piece %d says: %s €\n", i, strings.Repeat("word ", rand.IntN(200))))
	}
	stream, ends := body(pieces)
	for life := range long.Times(2, 5) {
		n := 1 + rand.IntN(len(pieces))
		all := strings.Join(pieces[:n], "")
		s := &llmtest.Server{Answer: func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: stream, Stall: ends[n-1] + 1} }}
		if n == len(pieces) {
			s.Answer = func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: stream + ":", Stall: len(stream)} }
		}
		base, stop, err := s.Start()
		agentstest.Check(t, err)
		dir := t.TempDir()
		least := len(all)
		if life%2 == 1 { // before all of it is written down
			least = 1 + rand.IntN(len(all))
		}
		if !agentstest.Lived(t, "streams", dir, base, func(line string) bool {
			if line != "READY" {
				t.Errorf("it said %q", line)
			}
			onDisk(t, dir, least)
			return true
		}) {
			t.Fatal("it ended by itself")
		}
		stop()
		for range 2 {
			restored(t, dir, all, least)
		}
	}
}

// onDisk waits until so much of the reply is in the database that another process has open.
func onDisk(t *testing.T, dir string, size int) {
	t.Helper()
	db, err := storetest.Open(t.Context(), dir+"/fantail.db", store.Options{})
	agentstest.Check(t, err)
	defer db.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for seen := 0; seen < size; {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("only %d of %d bytes are written down", seen, size)
		}
		agentstest.Check(t, db.Read(t.Context(), func(rx *store.Rx) error {
			turns, err := rx.OpenTurns()
			for _, turn := range turns {
				said, err := rx.Sayings(turn.ID)
				if err != nil {
					return err
				}
				for _, s := range said {
					seen = s.Size
				}
			}
			return err
		}))
	}
}

// restored starts the program and looks for the reply, or at least so many bytes of it.
func restored(t *testing.T, dir, all string, least int) {
	t.Helper()
	w := agentstest.Open(t, &agentstest.Model{}, agentstest.Setting{Dir: dir})
	defer w.Close()
	w.State("job", event.Crashed)
	text, found := "", 0
	for _, e := range w.Entries("job") {
		if e.Kind == history.EntryText {
			text, found = e.Text, found+1
		}
	}
	if found != 1 || !strings.HasPrefix(all, text) || len(text) < least {
		t.Errorf("%d texts, the last of %d bytes; %d of %d were written down", found, len(text), least, len(all))
	}
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	agentstest.Check(t, err)
	if len(ms) != 1 {
		t.Fatalf("%d messages", len(ms))
	}
	failure := ms[0]
	if failure.Kind != inbox.Failure || failure.Outcome != "crashed" || len(all) < inbox.MaxBody && failure.Partial != strings.TrimSpace(text) {
		t.Errorf("failure %s with %d bytes", failure.Outcome, len(failure.Partial))
	}
}
