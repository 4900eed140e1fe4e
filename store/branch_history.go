package store

import (
	"fmt"
	"math"
)

// stretch is a part of a transcript: an agent's entries up to a seq.
type stretch struct{ agent, upTo, turn int64 }

// line returns the parts of an agent's transcript, newest first: its own entries and, if its conversation branched off
// another's, that one's up to the end of the turn where it did. Seqs fall along the parts, as an agent has no entries
// before it is made.
func (v *View) line(agent int64) ([]stretch, error) {
	ss, err := all(v, func(s scanner) (t stretch, err error) {
		err = s.Scan(&t.agent, &t.upTo, &t.turn)
		return t, err
	}, `WITH RECURSIVE line (agent, up_to, turn, depth) AS (
			SELECT ?1, ?2, ?2, 0
			UNION ALL
			SELECT t.agent, ifnull((SELECT max(seq) FROM entries WHERE turn = t.id), 0), t.id, depth + 1
			FROM line JOIN agents a ON a.id = line.agent JOIN turns t ON t.id = a.branch)
		SELECT agent, up_to, turn FROM line ORDER BY depth`, agent, int64(math.MaxInt64))
	if err != nil {
		return nil, fmt.Errorf("find where the transcript of agent %d stands: %w", agent, err)
	}
	return ss, nil
}
