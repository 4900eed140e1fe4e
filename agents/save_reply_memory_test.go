package agents_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
)

// replies is a life in which main's model says one reply, which says of itself how
// long it is.
func replies(t *testing.T, dir, base string) {
	w := open(t, openai.New(openai.Options{Key: "k", BaseURL: base + "/v1"}), setting{Dir: dir})
	feed, _ := w.Pool.Subscribe()
	defer feed.Close()
	w.Prompt("go")
	bytes := 0
	for bytes == 0 {
		<-feed.Wait()
		w.Feed.Take()
		for _, e := range feed.Take() {
			if a, ok := e.(event.Appended); ok && len(a.Entries) > 0 && a.Entries[0].Kind == history.EntryText {
				bytes = len(a.Entries[0].Text)
			}
		}
	}
	w.Settle()
	status, err := os.ReadFile("/proc/self/status")
	check(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var peak int // KiB
	_, err = fmt.Sscan(rest, &peak)
	check(t, err)
	fmt.Println("said", bytes, peak)
}

// TestScribe_aLongReplyTakesLittleMemory: the program grows by less than three times
// the text, over real HTTP, from the socket to the row (torture L4, L26).
func TestScribe_aLongReplyTakesLittleMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the peak is read from /proc")
	}
	peak := func(size int) int {
		const chunk = 4096
		s := llmtest.New(llmtest.Reply{Parts: []llm.Part{llm.Text{Text: strings.Repeat("A line of a long reply, 32 bytes\n"[:31]+"\n", size/32)}}, Chunk: chunk})
		base, stop, err := s.Start()
		check(t, err)
		defer stop()
		said, most := 0, 0
		agentstest.Lived(t, "replies", t.TempDir(), base, func(line string) bool {
			_, err := fmt.Sscanf(line, "said %d %d", &said, &most)
			return err == nil
		})
		if said != size {
			t.Fatalf("it said %d bytes of %d", said, size)
		}
		return most << 10
	}
	const long = 40 << 20
	small := peak(64)
	if grown := peak(long) - small; grown > maxGrowth*long {
		t.Errorf("a reply of %d MB takes %d MB", long>>20, grown>>20)
	} else {
		t.Logf("a reply of %d MB takes %d MB beside %d MB", long>>20, grown>>20, small>>20)
	}
}
