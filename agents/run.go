package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/fleet"
	"fantail/tools"
)

// Ran is the result of Run.
type Ran struct {
	fleet.Begun
	QuarantineSeen
}

// String returns what /run prints: `Running 2 of 5 (window 2, 3 queued)`.
func (r Ran) String() string {
	if r.Running+r.Queued == 0 {
		return "The queue is empty"
	}
	s := fmt.Sprintf("Running %d of %d", r.Running, r.Running+r.Queued)
	var more []string
	if r.Window > 0 {
		more = append(more, fmt.Sprintf("window %d", r.Window))
	}
	if r.Queued > 0 {
		more = append(more, fmt.Sprintf("%d queued", r.Queued))
	}
	if len(more) > 0 {
		s += " (" + strings.Join(more, ", ") + ")"
	}
	return s + r.QuarantineSeen.String()
}

// Run carries out the human's /run. It lets in the tasks that wait for it in by's queue, and starts
// the queue. Tasks from outside are let in at once. Tasks that are not as this host wrote them are
// shown first; the next Run lets them in.
func (p *Pool) Run(ctx context.Context, by int64, s tools.Start) (Ran, error) {
	if _, err := p.fleet.Agent(by); err != nil {
		return Ran{}, err
	}
	if p.o.shows() {
		return Ran{}, p.o.DB.ReadOnly()
	}
	if err := fleet.Countable(s); err != nil {
		return Ran{}, err
	}
	p.Refresh(ctx)
	seen, err := p.held.LetIn(ctx, by)
	if err != nil {
		return Ran{}, err
	}
	r := Ran{QuarantineSeen: seen}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	r.Begun, err = p.fleet.Line.Run(by, s)
	return r, err
}
