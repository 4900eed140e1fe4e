package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/ui/attach"
)

// watch reads what an agent's transcript gets.
type watch struct {
	agent string

	mu      sync.Mutex
	entries []attach.Entry
	lines   []string
	ended   bool
	changed chan struct{}
}

// watch begins to read an agent's transcript.
func (s *site) watch(t testing.TB, agent string) *watch {
	t.Helper()
	c := s.command("agents", "attach", agent, "--json")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	hold, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{agent: agent, changed: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			w.add(lines.Text())
		}
		w.add("")
	}()
	t.Cleanup(func() {
		_ = hold.Close()
		_ = c.Process.Kill()
		<-read
		_ = c.Wait()
	})
	return w
}

func (w *watch) add(line string) {
	var l struct {
		Type  string
		Entry *attach.Entry
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
	if w.ended = line == ""; !w.ended && json.Unmarshal([]byte(line), &l) == nil && l.Entry != nil {
		w.entries = append(w.entries, *l.Entry)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// now are the entries that there are.
func (w *watch) now() []attach.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.entries)
}

// until waits for the entries to be as wanted.
func (w *watch) until(t testing.TB, what string, is func(es []attach.Entry) bool) {
	t.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		w.mu.Lock()
		entries, ended, changed := w.entries, w.ended, w.changed
		w.mu.Unlock()
		if is(entries) {
			return
		}
		if ended {
			t.Fatalf("%s ended without %s:\n%s", w.agent, what, w.text())
		}
		select {
		case <-changed:
		case <-late.C:
			t.Fatalf("%s: no %s:\n%s", w.agent, what, w.text())
		}
	}
}

// ends waits for the n-th turn to end, and returns the entries since the turn before that ended.
func (w *watch) ends(t testing.TB, n int) (es []attach.Entry, outcome string) {
	t.Helper()
	w.until(t, fmt.Sprintf("end of turn %d", n), func(all []attach.Entry) bool {
		count := 0
		es = nil
		for _, e := range all {
			es = append(es, e)
			if e.Kind != "ended" {
				continue
			}
			if count++; count == n {
				outcome = e.Ended
				return true
			}
			es = nil
		}
		return false
	})
	return es, outcome
}

func (w *watch) text() string {
	var lines []string
	for _, e := range w.now() {
		lines = append(lines, llm.Clip(described(e), 400))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(lines, "\n") + "\n" + strings.Join(w.lines[max(0, len(w.lines)-3):], "\n")
}

func described(e attach.Entry) string {
	text := strings.TrimSpace(strings.Join([]string{e.Kind, e.Title, e.Text, e.Ended}, " "))
	if e.Error {
		text += " (error)"
	}
	for _, m := range e.Messages {
		text += fmt.Sprintf(" #%d from %s: %s", m.ID, m.From, m.Gist)
	}
	return text
}

// has returns the first entry of that kind that holds the text.
func has(es []attach.Entry, kind, text string) (e attach.Entry, found bool) {
	for _, e := range es {
		if e.Kind == kind && strings.Contains(described(e), text) {
			return e, true
		}
	}
	return e, false
}
