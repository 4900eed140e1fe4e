package history

import "fantail/store"

// CutShort is why a turn ended that a crash interrupted.
const CutShort = "the program ended while this turn ran"

// Cut returns an agent's last entries as recovery would leave them, for a reader that can't recover: it ends turns that
// a crash interrupted. The entries it adds are no rows, so they share the Seq of the last one.
func Cut(v *store.View, agent int64, es []Entry) ([]Entry, error) {
	turns, err := v.OpenTurns()
	if err != nil || len(es) == 0 {
		return es, err
	}
	last := es[len(es)-1]
	for _, t := range turns {
		if t.Agent != agent {
			continue
		}
		said, err := Partial(v, t.ID)
		if err != nil {
			return nil, err
		}
		end := &End{Outcome: OutCrashed, Error: CutShort, Millis: last.At.Sub(t.Started).Milliseconds(), Steps: t.Steps}
		for _, e := range append(said, Entry{Kind: EntryEnded, End: end}) {
			e.Seq, e.Agent, e.Turn, e.At = last.Seq, agent, t.ID, last.At
			es = append(es, e)
		}
	}
	return es, nil
}
