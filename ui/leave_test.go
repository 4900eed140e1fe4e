package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/store"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/notify"
	"fantail/ui/tabs"
)

// memoryDrafts is a store of drafts in memory. It fails with err, and does not go on before free is closed.
type memoryDrafts struct {
	rows  []store.Draft
	saved []store.Draft // what stands in the boxes, as it was told
	saves int
	mu    sync.Mutex // of both
	err   error
	free  chan struct{} // nil: it does at once
	slow  time.Duration // how long Save takes
}

func (s *memoryDrafts) Leave(_ context.Context, ds []store.Draft) (older []store.Draft, err error) {
	if s.free != nil {
		<-s.free
	}
	if s.err != nil {
		return nil, s.err
	}
	older, s.rows = s.rows, ds
	return older, nil
}

func (s *memoryDrafts) Take(context.Context) (ds []store.Draft, err error) {
	ds, s.rows = s.rows, nil
	return ds, s.err
}

func (s *memoryDrafts) Save(_ context.Context, ds []store.Draft) error {
	<-time.After(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.err == nil {
		s.saved = ds
	}
	return s.err
}

// kept is what the shelf keeps, by agent.
func (s *memoryDrafts) kept() map[int64]string {
	texts := map[int64]string{}
	for _, x := range s.rows {
		texts[x.Agent] = x.Text
	}
	return texts
}

// draftScreen is the drafts of a screen with main (1), a helper (2) and a sub-agent (3).
func draftScreen(t *testing.T, e DraftOptions) *Drafts {
	t.Helper()
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	e.Tabs = &tabs.Tabs{Look: tabs.Look{Theme: theme, Now: time.Now}}
	e.Flash, e.Go = notify.NewFlash(time.Now), func(_ string, f func()) { go f() }
	if e.History == "" {
		e.History = filepath.Join(t.TempDir(), "history")
	}
	d := NewDrafts(e)
	d.past.read = true
	for i, kind := range []event.Kind{event.Main, event.Helper, event.Sub} {
		x := e.Tabs.Make(event.Info{ID: int64(i + 1), Name: []string{"main", "oauth", "tests"}[i], Kind: kind})
		if kind.HasPrompt() {
			x.Box = d.Box()
		}
		e.Tabs.Add(x)
	}
	return d
}

// taken takes what the pool has.
func taken(t *testing.T, d *Drafts, p draftStore) intent.Intent {
	t.Helper()
	i, err := d.Offered(p).(intent.Do).F(t.Context())
	if err != nil {
		t.Error(err)
	}
	return i
}

func texts(t *testing.T, d *Drafts) []string {
	t.Helper()
	all, err := readPast(d.History)
	if err != nil {
		t.Error(err)
	}
	return all
}

func TestLeave(t *testing.T) {
	p := &memoryDrafts{}
	d := draftScreen(t, DraftOptions{Withhold: func(s string) string { return strings.ReplaceAll(s, "sk-12345678", "[key]") }})
	taken(t, d, p)
	paste := strings.Repeat("line\n", 500) + "sk-12345678\n"
	d.Tabs.Main().Box.Insert("my key is sk-12345678: ")
	d.Tabs.Main().Box.Paste(paste)
	d.Tabs.ByID(2).Box.Insert("  ")
	d.Command(d.Tabs.ByID(3))
	if err := d.Leave(); err != nil {
		t.Error(err)
	}
	safe := strings.ReplaceAll(paste, "sk-12345678", "[key]")
	if got := p.kept(); !reflect.DeepEqual(got, map[int64]string{1: "my key is [key]: " + safe}) {
		t.Errorf("kept is %.100v", got)
	}
	if got := pastesIn(p.rows[0]); !reflect.DeepEqual(got, []string{safe}) {
		t.Errorf("the pastes in it are %.100q", got)
	}
	if got := texts(t, d); got != nil {
		t.Errorf("the history has %q", got)
	}
}

// An agent has one draft: the answer that was half typed gives way to the box, and what was typed on
// a walk through the history to what is in it. Older ones come before them in the history.
func TestLeave_oneOfEachAgent(t *testing.T) {
	p := &memoryDrafts{rows: []store.Draft{{Agent: 2, Text: "older"}}}
	d := draftScreen(t, DraftOptions{})
	d.store = p
	main, tests := d.Tabs.Main(), d.Tabs.ByID(3)
	main.Box.SetHistory([]string{"sent"})
	main.Box.Insert("draft")
	for _, k := range []string{"up", "!"} {
		main.Box.Key(key(k))
	}
	d.Tabs.ByID(2).Box.Insert("newer")
	d.Tell(tests)
	tests.Line.Box.Insert("a line")
	tests.Question = answer{text: "an answer"}
	if err := d.Leave(); err != nil {
		t.Error(err)
	}
	if got := p.kept(); !reflect.DeepEqual(got, map[int64]string{1: "sent!", 2: "newer", 3: "a line"}) {
		t.Errorf("kept is %v", got)
	}
	if got := texts(t, d); !reflect.DeepEqual(got, []string{"older", "draft", "an answer"}) {
		t.Errorf("the history has %q", got)
	}
	tests.Line = nil
	d.store, d.offer = &memoryDrafts{}, newOffer()
	if err := d.Leave(); err != nil || d.store.(*memoryDrafts).kept()[3] != "an answer" {
		t.Errorf("without the line: %v, %v", d.store.(*memoryDrafts).kept(), err)
	}
}

func TestLeave_readOnly(t *testing.T) {
	p := &memoryDrafts{rows: []store.Draft{{Agent: 1, Text: "older"}}}
	d := draftScreen(t, DraftOptions{ReadOnly: true})
	if i := d.Offered(p); i != nil {
		t.Errorf("it takes: %v", i)
	}
	d.Tabs.Main().Box.Insert("draft")
	if err := d.Leave(); err != nil || p.kept()[1] != "older" {
		t.Errorf("%v, %v", p.kept(), err)
	}
	if _, err := os.Stat(d.History); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a history: %v", err)
	}
}

// What the pool does not keep is in the history, however long; that waits for nothing, and says so.
func TestLeave_thePoolFails(t *testing.T) {
	long := strings.Repeat("x", pastLongest+1)
	d := draftScreen(t, DraftOptions{})
	d.store = &memoryDrafts{err: errors.New("the disk is full")}
	d.Tabs.Main().Box.Insert(long)
	if err := d.Leave(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
	if got := texts(t, d); !reflect.DeepEqual(got, []string{long}) {
		t.Errorf("the history has %.50q", got)
	}

	d.store, d.offer = nil, newOffer()
	if err := d.Leave(); err != nil {
		t.Error(err)
	}
	if got := texts(t, d); len(got) != 2 {
		t.Errorf("the history has %d texts", len(got))
	}
}

func TestLeave_thePoolHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := draftScreen(t, DraftOptions{})
		p := &memoryDrafts{err: errors.New("no disk"), free: make(chan struct{})}
		d.store = p
		d.Tabs.Main().Box.Insert("draft")
		began := time.Now()
		if err := d.Leave(); err == nil || !strings.Contains(err.Error(), "not on disk within 300ms") {
			t.Error(err)
		}
		if took := time.Since(began); took != leavesWithin {
			t.Errorf("it took %v", took)
		}
		close(p.free)
		synctest.Wait()
		if got := texts(t, d); !reflect.DeepEqual(got, []string{"draft"}) {
			t.Errorf("the history has %q", got)
		}
	})
}

// A program that failed in one tab leaves the drafts of the others.
func TestLeave_ofAProgramThatFailed(t *testing.T) {
	p := &memoryDrafts{}
	d := draftScreen(t, DraftOptions{})
	d.store = p
	d.Tabs.Main().Box.Insert("draft")
	d.Tabs.ByID(2).Question = answer{}
	d.Tabs.ByID(3).Question = answer{text: "an answer"}
	if err := d.Leave(); err == nil || !strings.Contains(err.Error(), "typed for oauth is lost: panic: no text") {
		t.Error(err)
	}
	if got := p.kept(); !reflect.DeepEqual(got, map[int64]string{1: "draft", 3: "an answer"}) {
		t.Errorf("kept is %v", got)
	}
}

// What was taken for a screen that ended before it had it waits for the next one, as old as it was.
func TestLeave_whatNobodySaw(t *testing.T) {
	then := time.Now().Add(-time.Hour)
	was := []store.Draft{{Agent: 1, Text: "one", Left: then}, {Agent: 2, Text: "two", Pastes: "[[0,1]]", Left: then}}
	p := &memoryDrafts{rows: was}
	d := draftScreen(t, DraftOptions{})
	taken(t, d, p)
	d.Tabs.Main().Box.Insert("newer")
	if err := d.Leave(); err != nil {
		t.Error(err)
	}
	if got := p.rows; len(got) != 2 || got[0].Text != "newer" || got[1] != was[1] {
		t.Errorf("kept is %+v", got)
	}
	if got := texts(t, d); !reflect.DeepEqual(got, []string{"one"}) {
		t.Errorf("the history has %q", got)
	}
}

// A draft of an agent that has gone, or for which there is no place any more, is main's.
func TestBack(t *testing.T) {
	p := &memoryDrafts{rows: []store.Draft{{Agent: 1, Text: "one"}, {Agent: 3, Text: "/queue "}, {Agent: 9, Text: "nine"}}}
	d := draftScreen(t, DraftOptions{})
	all := taken(t, d, p).(intent.Call)().(intent.All)
	for _, i := range all {
		if more, ok := i.(intent.All); ok {
			more[0].(intent.Run).F(t.Context())
		}
	}
	main := d.Tabs.Main().Box
	if got := main.Value(); got != "one" {
		t.Errorf("main's box has %q", got)
	}
	if l := d.Tabs.ByID(3).Line; l == nil || l.For != tabs.Command || l.Box.Value() != "/queue " {
		t.Errorf("the line of the sub-agent is %+v", l)
	}
	if got := texts(t, d); !reflect.DeepEqual(got, []string{"nine"}) {
		t.Errorf("the history has %q", got)
	}
	main.Key(key("up"))
	if got := main.Value(); got != "nine" {
		t.Errorf("the newest in main's history is %q", got)
	}
	if got := d.Flash.Text(); !strings.HasSuffix(got, "is back; 2 more drafts are back") {
		t.Error(got)
	}
}

// A span that a text does not have is no paste.
func TestPastesIn(t *testing.T) {
	for _, spans := range []string{"", "{", "[[1,9]]", "[[-1,2]]", "[[2,1]]"} {
		if got := pastesIn(store.Draft{Text: "text", Pastes: spans}); got != nil {
			t.Errorf("%s: %q", spans, got)
		}
	}
}

// answer is a question with that half-typed answer; "": it fails.
type answer struct {
	dialog.Question
	text string
}

func (a answer) Typed() string {
	if a.text == "" {
		panic("no text")
	}
	return a.text
}

func key(name string) tea.KeyPressMsg {
	if name == "up" {
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}
