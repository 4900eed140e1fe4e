package history

import "fantail/store"

// CutShort is why a turn ended that a crash cut.
const CutShort = "the program ended while this turn ran"

// Cut is the end of an agent's transcript as recovery would leave it, where nothing can be
// recovered: a turn that a crash cut ends. What is added has the Seq of the entry before it,
// for it is no row.
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
