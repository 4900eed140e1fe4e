package engine

import (
	"slices"
	"strings"

	"fantail/agents/history"
)

// words returns the text for an engine that has all entries up to sent: what entered since, and
// what was said meanwhile to another model in its place. maybe reports whether the engine may have
// some of it already.
func (s *Runner) words(es []history.Entry, sent int64) (text string, maybe bool) {
	es = history.Kept(es)
	if sent == 0 {
		return told(es, "This was said before you came, with another agent in your place:"), false
	}
	es = es[begins(es, func(e history.Entry) bool { return e.Seq > sent }):]
	// First the rest of its own turn, in which it was told something, then what came later.
	over := begins(es, func(e history.Entry) bool { return e.Kind == history.EntryEnded })
	own, maybe := s.had.without(es[:over])
	said := []string{history.Heard(own), told(es[over:], "This was said meanwhile, and not to you:")}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "\n\n"), maybe
}

// begins returns the index of the first entry for which is holds, else the length.
func begins(es []history.Entry, is func(e history.Entry) bool) int {
	if at := slices.IndexFunc(es, is); at >= 0 {
		return at
	}
	return len(es)
}

// told returns what entered, preceded by the conversation with another model, if there was one.
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
