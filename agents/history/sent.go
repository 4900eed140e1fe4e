package history

import (
	"slices"

	"fantail/store"
)

// SentFrom returns the entry after which an agent's transcript is still sent; 0: all of it is.
func SentFrom(rx *store.Rx, agent int64) (int64, error) { return sentFrom(&rx.View, agent) }

func sentFrom(v *store.View, agent int64) (int64, error) {
	seq := int64(0)
	for _, kind := range []EntryKind{EntryCleared, EntrySummary} {
		e, ok, err := v.LastEntry(agent, string(kind))
		if err != nil {
			return 0, err
		}
		if ok {
			seq = max(seq, Decode(e).upTo())
		}
	}
	return seq, nil
}

// upTo returns the last entry that is no longer sent because of e, which starts a new conversation or summarises the
// old one; 0: e is neither.
func (e Entry) upTo() int64 {
	switch {
	case e.Kind == EntryCleared:
		return e.Seq
	case e.Kind == EntrySummary && e.Summary != nil:
		return e.Summary.UpTo
	}
	return 0
}

// Extend adds e to what is sent. A summary goes before everything it does not cover.
func (e Entry) Extend(history []Entry) []Entry {
	upTo := e.upTo()
	if upTo == 0 {
		return append(history, e)
	}
	var kept []Entry
	if e.Kind == EntrySummary {
		kept = append(kept, e)
	}
	for _, h := range history {
		if h.Seq > upTo {
			kept = append(kept, h)
		}
	}
	return kept
}

// Withdrawn returns the entries that others among es withdraw, and those that belong to them.
func Withdrawn(es []Entry) map[int64]bool {
	gone := map[int64]bool{}
	for _, e := range es {
		if e.Kind == EntryWithdrawn {
			gone[e.Withdraws] = true
		}
	}
	for _, e := range es {
		if e.Behind != 0 && gone[e.Behind] {
			gone[e.Seq] = true
		}
	}
	return gone
}

// Kept returns the entries that no entry among es withdraws.
func Kept(es []Entry) []Entry {
	gone := Withdrawn(es)
	if len(gone) == 0 {
		return es
	}
	return slices.DeleteFunc(slices.Clone(es), func(e Entry) bool { return gone[e.Seq] })
}

// Cleared reports whether the conversation was cleared since the agent's last turn.
func Cleared(v *store.View, agent int64) (bool, error) {
	cleared, ok, err := v.LastEntry(agent, string(EntryCleared))
	if err != nil || !ok {
		return false, err
	}
	ended, _, err := v.LastEntry(agent, string(EntryEnded))
	return ended.Seq < cleared.Seq, err
}

// Answered returns the history up to the model's last answer. What follows it, prompts and mail without an answer, is
// never compacted.
func Answered(history []Entry) []Entry {
	for n := len(history); n > 0; n-- {
		switch history[n-1].Kind {
		case EntryPrompt, EntryMessage, EntryMemory, EntryWithdrawn, EntryBriefed, EntryHost, EntryShell, EntryNotice:
		default:
			return history[:n]
		}
	}
	return nil
}

// Prompted returns that turn's prompt if it is among those entries, shortened if it is long; "": it is not, or turn is
// 0.
func Prompted(es []Entry, turn int64) string {
	for i := len(es) - 1; i >= 0 && turn != 0; i-- {
		switch e := es[i]; {
		case e.Kind == EntryPrompt && e.Turn == turn:
			return Fit(e.Text, BytesOf(ItemTokens)/4)
		case e.Kind == EntrySummary && e.Turn == turn:
			return e.Summary.Prompt
		}
	}
	return ""
}
