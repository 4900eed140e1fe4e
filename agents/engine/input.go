package engine

import (
	"slices"
	"strings"

	"fantail/agents/history"
)

// words are what an engine is told that has all up to an entry: what entered since, and what was said meanwhile with another
// in its place. maybe is whether it may have some of that already.
func (s *Runner) words(es []history.Entry, sent int64) (text string, maybe bool) {
	es = history.Kept(es)
	if sent == 0 {
		return told(es, "This was said before you came, with another agent in your place:"), false
	}
	es = es[begins(es, func(e history.Entry) bool { return e.Seq > sent }):]
	// The rest of its own turn, which it was told something in, and what came later.
	over := begins(es, func(e history.Entry) bool { return e.Kind == history.EntryEnded })
	own, maybe := s.had.without(es[:over])
	said := []string{history.Heard(own), told(es[over:], "This was said meanwhile, and not to you:")}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "\n\n"), maybe
}

// begins returns where an entry is of which that holds; the length if it holds of none.
func begins(es []history.Entry, is func(e history.Entry) bool) int {
	if at := slices.IndexFunc(es, is); at >= 0 {
		return at
	}
	return len(es)
}

// told is what entered, behind what was talked with another, if anything was.
func told(es []history.Entry, about string) string {
	old := history.Answered(es)
	if !slices.ContainsFunc(old, spoken) {
		return history.Heard(es)
	}
	text := about + "\n\n<conversation>\n" + history.Spell(history.Request(old, ""), history.BytesOf(history.SomeWindow)/4) + "\n</conversation>\n\n"
	if heard := history.Heard(es[len(old):]); heard != "" {
		return text + heard
	}
	return text + "Go on from there."
}

// spoken reports whether an entry is something that an agent said or did.
func spoken(e history.Entry) bool {
	switch e.Kind {
	case history.EntryText, history.EntryCall, history.EntryResult, history.EntrySummary:
		return true
	}
	return false
}
