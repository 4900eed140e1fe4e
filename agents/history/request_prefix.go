package history

import (
	"slices"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
)

// Talk is the part of a transcript that a model is sent, and builds its requests. An entry becomes part of a message
// when the first request after it is made, and neither changes any more: later requests begin with the same messages.
// The zero value is empty. It is not safe for concurrent use.
type Talk struct {
	Entries []Entry
	Last    int64           // the last entry read; 0: nothing was
	Calls   map[string]bool // the ids of the calls added so far, including those no longer sent; nil: nothing was added

	room  int            // in tokens, with which its beginning was read; 0: all of it was
	cut   bool           // it began before what was read
	shown shown          // which pictures are sent
	made  conversation   // of the first n entries
	n     int            // 0: the next request makes all messages anew
	gone  map[int64]bool // the entries that are withdrawn
}

// Room returns how many tokens of a conversation are read for a model with that window. More can't be sent, even if they
// are estimated at twice what they are.
func Room(window int) int {
	if window == 0 {
		return 8 * SomeWindow
	}
	return 2 * window
}

// leftOut tells a model that it doesn't see the beginning of a conversation.
const leftOut = "The conversation began earlier. What was said before this is left out: it is longer than you can read."

// Read adds the agent's entries up to that one, except those read already. Of a conversation that was not read yet it
// leaves out what is older than about `room` tokens; 0: nothing. A talk that was cut is read anew for more room.
func (t *Talk) Read(rx *store.Rx, agent, upTo int64, room int) (err error) {
	if t.cut && (room == 0 || room > t.room) {
		*t = Talk{}
	}
	if t.Last == 0 {
		return t.begin(rx, agent, upTo, room)
	}
	const page = 1000 // a row is held in memory several times while it is read
	for n := page; n == page; {
		rows, err := rx.EntriesAfter(agent, t.Last, page)
		if err != nil {
			return err
		}
		n = len(rows)
		for _, r := range rows {
			if r.Seq > upTo {
				return nil
			}
			t.Last = r.Seq
			t.Add(Decode(r))
		}
	}
	return nil
}

// begin reads the entries up to that one, the newest first, until they fill the room.
func (t *Talk) begin(rx *store.Rx, agent, upTo int64, room int) error {
	const page = 250
	since, err := SentFrom(rx, agent)
	if err != nil {
		return err
	}
	t.room, t.Last = room, since
	var pages [][]Entry
	all, size := 0, 0
	for before, whole := upTo+1, false; !whole && !t.cut; {
		rows, err := rx.EntriesBefore(agent, before, page)
		if err != nil {
			return err
		}
		whole = len(rows) < page
		for len(rows) > 0 && rows[0].Seq <= since {
			rows, whole = rows[1:], true
		}
		if len(rows) == 0 {
			break
		}
		es := DecodeAll(rows)
		for _, e := range es {
			size += e.size()
		}
		before, all = es[0].Seq, all+len(es)
		pages = append(pages, es)
		t.cut = !whole && room > 0 && TokensOf(size) > room
	}
	slices.Reverse(pages)
	t.Entries = make([]Entry, 0, all+all/4)
	if t.cut {
		if err := t.behind(rx, agent, since, pages[0]); err != nil {
			return err
		}
	}
	for _, es := range pages {
		for _, e := range es {
			t.Last = e.Seq
			t.Add(e)
		}
	}
	return nil
}

// behind adds what is sent of the entries before a cut: the summary, the files of instructions, and that the rest is left
// out.
func (t *Talk) behind(rx *store.Rx, agent, since int64, first []Entry) error {
	summary, ok, err := rx.LastEntry(agent, string(EntrySummary))
	if err != nil {
		return err
	}
	briefed, err := rx.KindOf(agent, string(EntryBriefed), since)
	if err != nil {
		return err
	}
	if ok && summary.Seq > since && summary.Seq < first[0].Seq {
		t.Add(Decode(summary))
	}
	for _, r := range briefed {
		if r.Seq < first[0].Seq {
			t.Add(Decode(r))
		}
	}
	t.Add(Entry{Kind: EntryHost, Seq: first[0].Seq - 1, Agent: agent, Text: leftOut})
	return nil
}

// Add adds the next entry. An entry that removes others makes the next request rebuild the messages.
func (t *Talk) Add(e Entry) {
	if e.upTo() != 0 || e.Kind == EntryWithdrawn {
		t.Forget()
	}
	if t.Calls == nil {
		t.Calls = map[string]bool{}
	}
	if e.Kind == EntryCall && e.Call != nil {
		t.Calls[e.Call.ID] = true
	}
	t.Entries = e.Extend(t.Entries)
}

// Forget drops the messages, with everything that providers store beside them. The next request rebuilds them.
func (t *Talk) Forget() { t.made, t.gone, t.n, t.shown = conversation{}, nil, 0, shown{} }

// Request builds the messages of a request to that model. Roles alternate, each call is answered right after the reply
// that made it, in the order of the calls, and whatever came during a batch of calls follows its results. It repairs a
// history cut by a crash, but not its rows: a call without a result gets one that says so. It leaves out messages that
// were put back into the inbox.
func (t *Talk) Request(model string) []llm.Message {
	if t.made.model != model {
		t.Forget()
	}
	if t.shown.look(t.Entries) { // messages that were sent before are rebuilt without those pictures
		t.made, t.n = conversation{}, 0
	}
	if t.n == 0 {
		t.made.model, t.made.hide, t.gone = model, t.shown.hide, Withdrawn(t.Entries)
	}
	for _, e := range t.Entries[t.n:] {
		if e.Behind != 0 && t.gone[e.Behind] {
			t.gone[e.Seq] = true
		}
		if !t.gone[e.Seq] {
			t.made.add(e)
		}
	}
	t.n = len(t.Entries)
	return t.made.ended()
}

// Request is [Talk.Request] for entries of which only one request is made.
func Request(entries []Entry, model string) []llm.Message {
	return (&Talk{Entries: entries}).Request(model)
}

// Size returns about how much memory the entries take, in bytes.
func (t *Talk) Size() int {
	const fields = 512 // of an entry, its call or result, and what holds them
	n := fields * len(t.Entries)
	for _, e := range t.Entries {
		n += e.size() + len(e.Opaque)
		if e.Result != nil {
			n += len(e.Result.Diff)
		}
	}
	return n
}

// size returns about how many bytes an entry adds to a request.
func (e *Entry) size() int {
	n := len(e.Text)
	if e.Call != nil {
		n += len(e.Call.Args)
	}
	if e.Result != nil {
		n += len(e.Result.Text)
	}
	return n
}

// Counted returns the last entry that the row of the agent's last turn has counted.
func (t *Talk) Counted() int64 {
	last := int64(0)
	for _, e := range t.Entries {
		if e.Kind == EntryEnded || e.Kind == EntrySummary {
			last = max(last, e.Seq)
		}
	}
	return last
}

// Hops returns the hop count of a message the agent writes now: one more than that of the mail that has entered on its
// own since the human last took part in its turn.
func (t *Talk) Hops() int {
	most := 0
	for _, e := range slices.Backward(t.Entries) {
		byItself := e.By == "turn" || e.By == "fork"
		if e.Kind == EntryEnded || e.Kind == EntryPrompt || e.Kind == EntryMessage && !byItself {
			break
		}
		for _, m := range e.Messages {
			if e.Kind == EntryMessage {
				most = max(most, m.Hops)
			}
		}
	}
	return most + 1
}

// Entered returns the last message from that sender (from anyone, if empty) that entered in this turn on its own,
// before the agent asked for it.
func (t *Talk) Entered(from string) inbox.Message {
	for _, e := range slices.Backward(t.Entries) {
		if e.Kind == EntryEnded {
			break
		}
		for _, m := range slices.Backward(e.Messages) {
			if e.Kind == EntryMessage && (from == "" || m.From == from) {
				return m
			}
		}
	}
	return inbox.Message{}
}

// Uncounted estimates the tokens of what was added after an entry, except the replies themselves: a model reports
// those.
func (t *Talk) Uncounted(after int64) (tokens int) {
	for _, e := range slices.Backward(t.Entries) {
		if e.Seq <= after {
			break
		}
		switch e.Kind {
		case EntryText, EntryThinking, EntryCall:
		default:
			tokens += Weight(e)
		}
	}
	return tokens
}
