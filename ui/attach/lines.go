package attach

import (
	"time"
	"unicode/utf8"

	"fantail/agents/event"
)

// The types of the lines an agent's side writes.
const (
	EntryLine  = "entry"  // Entry, an item of the transcript; Reply, if it records what the deltas of that number showed
	DeltaLine  = "delta"  // Reply, Block, Kind and Text: the next piece of a reply being streamed
	VoidLine   = "void"   // Reply: what its deltas showed is not recorded; the reply starts over
	StateLine  = "state"  // State, Doing, Why, Asks, Left, Attached: the agent's present state
	OutputLine = "output" // Call and Tail: the end of a running command's output so far; it replaces the call's previous tail
	ErrorLine  = "error"  // Error, and the Text it is about: an input line was not carried out
	EndLine    = "end"    // State, Outcome, Error: the agent has ended; nothing follows
)

// Line is a line of an agent's output. Its Type says which fields are set; more fields and types may be added. First
// come the existing entries, then a state, or the end of an agent that has ended; then events as they happen.
type Line struct {
	Type string `json:"type"`

	// Reply numbers the replies that were streamed to this program, from 1. The entries with that number replace its
	// deltas; pieces of one Block belong together.
	Reply int    `json:"reply,omitempty"`
	Block *int   `json:"block,omitempty"`
	Kind  string `json:"kind,omitempty"` // of a delta: text, thinking, summary
	Text  string `json:"text,omitempty"`

	Entry *Entry `json:"entry,omitempty"`

	Agent    string `json:"agent,omitempty"`
	State    string `json:"state,omitempty"`
	Doing    string `json:"doing,omitempty"`
	Why      string `json:"why,omitempty"`
	Asks     string `json:"asks,omitempty"`         // the question that waits for the human
	Left     *int64 `json:"seconds_left,omitempty"` // until an idle agent ends by itself; omitted if no time limit runs
	Attached *int   `json:"attached,omitempty"`     // programs attached, for an agent that awaits input; omitted for others

	Call string `json:"call,omitempty"`
	Tail string `json:"tail,omitempty"`

	Outcome string `json:"outcome,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Teller makes the lines of an agent's events.
type Teller struct {
	Now func() time.Time

	reply    int       // how many replies were streamed and are over
	streamed bool      // some of the next one was
	block    int       // of the last delta
	cut      string    // the beginning of a character, with which that one ended
	told     Line      // the last state
	until    time.Time // and when it said that the agent ends
}

// Lines returns the lines of an event from an [event.Follower].
func (t *Teller) Lines(e event.Event) []Line {
	switch e := e.(type) {
	case event.Appended:
		return t.entries(e)
	case event.Delta:
		return t.delta(e)
	case event.Void:
		return t.voids()
	case event.Changed:
		return t.state(e.Info)
	case event.Output:
		return []Line{{Type: OutputLine, Call: e.Call, Tail: e.Tail}}
	case event.Closed:
		return []Line{{Type: EndLine, Agent: t.told.Agent, State: Closed}}
	}
	return nil
}

// Closed is the state of an agent whose tab was closed.
const Closed = "closed"

// delta returns the line of a piece of a reply. It holds back an incomplete last character.
func (t *Teller) delta(e event.Delta) []Line {
	if e.Block != t.block || !t.streamed {
		t.block, t.cut = e.Block, ""
	}
	t.streamed = true
	text := t.cut + e.Text
	n := len(text) - unfinished(text)
	text, t.cut = text[:n], text[n:]
	if text == "" {
		return nil
	}
	kind := "text"
	switch {
	case e.Summary:
		kind = "summary"
	case e.Thinking:
		kind = "thinking"
	}
	return []Line{{Type: DeltaLine, Reply: t.reply + 1, Block: &e.Block, Kind: kind, Text: text}}
}

// unfinished returns how many bytes at the end of s begin a character.
func unfinished(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// entries returns the lines of entries that were appended.
func (t *Teller) entries(e event.Appended) (ls []Line) {
	if e.Live && len(e.Entries) == 0 {
		return t.voids()
	}
	for _, entry := range e.Entries {
		l := Line{Type: EntryLine}
		j := EntryOf(entry)
		l.Entry = &j
		if e.Live && t.streamed && recorded[entry.Kind] {
			l.Reply = t.reply + 1
		}
		ls = append(ls, l)
	}
	if e.Live && t.streamed {
		t.reply, t.streamed = t.reply+1, false
	}
	return ls
}

// voids returns the line that says that the streamed reply is void, if any was streamed.
func (t *Teller) voids() []Line {
	if !t.streamed {
		return nil
	}
	t.reply, t.streamed = t.reply+1, false
	return []Line{{Type: VoidLine, Reply: t.reply}}
}

// state returns the line of the agent's state, if that is news.
func (t *Teller) state(i event.Info) []Line {
	if i.State.Terminal() {
		return []Line{{Type: EndLine, Agent: i.Name, State: string(i.State), Outcome: string(i.Outcome), Error: i.Why}}
	}
	l := Line{Type: StateLine, Agent: i.Name, State: string(i.State), Doing: i.Doing, Why: i.Why}
	if i.Question != nil {
		l.Asks = i.Question.Gist()
	}
	var until time.Time
	if i.Await != nil {
		until = i.Await.Until
		l.Attached = &i.Await.Attached
	}
	if t.told.Type != "" && l.Agent == t.told.Agent && l.State == t.told.State && l.Doing == t.told.Doing && l.Why == t.told.Why &&
		l.Asks == t.told.Asks && until.Equal(t.until) && same(l.Attached, t.told.Attached) {
		return nil
	}
	t.told, t.until = l, until
	var w Awaits
	w.Left, w.Counts = i.Await.Left(t.Now())
	l.Left = w.Seconds()
	return []Line{l}
}

// Seconds is the time that is left, as a line of JSON tells it; nil: nothing counts down.
func (w Awaits) Seconds() *int64 {
	if !w.Counts {
		return nil
	}
	seconds := int64((w.Left + time.Second - 1) / time.Second)
	return &seconds
}

func same(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
