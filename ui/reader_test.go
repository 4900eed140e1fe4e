package ui

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/history"
	"fantail/agents/llm"
)

// newReader is a reader of a pool, or of none yet.
func newReader(t *testing.T, p *agents.Pool) *reader {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return &reader{ctx: t.Context(), root: dir, head: func() string { return "main" }, pool: p}
}

// silent is a pool whose agents say nothing.
func silent(t *testing.T) *agentstest.World {
	return agentstest.Open(t, &agentstest.Model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return nil, nil }}, agentstest.Setting{})
}

// TestReaderReadsAPageOnce: a tab's newest page is read once, and not before there is a
// pool; the answer says whose it is.
func TestReaderReadsAPageOnce(t *testing.T) {
	a, w := screen(t, 80, 24), silent(t)
	main := a.tabs.Main()
	if newReader(t, nil).transcript(main) != nil || main.Asked {
		t.Error("without a pool a page is asked for")
	}
	w.Prompt("hi")
	w.Settle()
	main.Info.ID = w.Main()
	r := newReader(t, w.Pool)
	if r.transcript(nil) != nil {
		t.Error("without a tab a page is asked for")
	}
	m, ok := r.transcript(main)().(paged)
	if !ok || m.agent != main.Info.ID || m.before != 0 || len(m.entries) == 0 || m.entries[0].Text != "hi" {
		t.Errorf("the answer is %+v", m)
	}
	if r.transcript(main) != nil {
		t.Error("it is asked for again")
	}
	if r.older(main) != nil {
		t.Error("an older page is asked for before the newest is there")
	}
}

// TestReaderReadsTheBranchAfterWork: what may have checked out another branch has it read
// again, a mere text does not.
func TestReaderReadsTheBranchAfterWork(t *testing.T) {
	r := newReader(t, nil)
	for kind, want := range map[history.EntryKind]bool{
		history.EntryText: false, history.EntryPrompt: false, history.EntryResult: true, history.EntryShell: true, history.EntryEnded: true,
	} {
		c := r.branchAfter([]history.Entry{{Kind: history.EntryText}, {Kind: kind}})
		if (c != nil) != want {
			t.Errorf("after %s it is read: %v", kind, c != nil)
		} else if want && c() != (branched{"main"}) {
			t.Errorf("after %s: %v", kind, c())
		}
	}
}

// TestReaderReadsWhatIsCompleted: files are listed at the first @, documents at each # and
// where the arguments of /memory begin.
func TestReaderReadsWhatIsCompleted(t *testing.T) {
	w := silent(t)
	if _, err := w.Pool.Memory.Write(t.Context(), "oauth", "how", nil); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, w.Pool)
	box := screen(t, 80, 24).tabs.Main().Box
	typed := func(text, key string) (ms []tea.Msg) {
		box.Set(text)
		for _, c := range []tea.Cmd{r.list(box), r.remembered(tea.KeyPressMsg{Text: key}, box)} {
			if c != nil {
				ms = append(ms, c())
			}
		}
		return ms
	}
	for _, c := range []struct {
		text, key    string
		files, texts int
	}{
		{"look at ", " ", 0, 0},
		{"look at @", "@", 1, 0},
		{"look at @s", "s", 0, 0},
		{"look at @shop.go #", "#", 0, 1},
		{"/memory ", " ", 0, 1},
		{"/memoryless ", " ", 0, 0},
	} {
		files, texts := 0, 0
		for _, m := range typed(c.text, c.key) {
			switch m := m.(type) {
			case listed:
				if files++; len(m.files.Find("shop", 9)) != 1 {
					t.Errorf("%q: shop.go is not listed", c.text)
				}
			case known:
				texts += len(m.documents)
			default:
				t.Errorf("%q: %+v", c.text, m)
			}
		}
		if files != c.files || texts != c.texts {
			t.Errorf("%q: files are listed %d times, %d documents", c.text, files, texts)
		}
	}
}
