package agents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// lastSeen is the setting that keeps when the human was last there, in
// milliseconds.
const lastSeen = "last seen"

// mostTold bounds how many rows of a kind are looked at for what is told at a
// glance.
const mostTold = 200

// Seen keeps that the human was there at that time.
func (p *Pool) Seen(ctx context.Context, at time.Time) error {
	return p.o.DB.Write(ctx, "keep when the human was there", func(tx *store.Tx) error {
		return tx.SetSetting(lastSeen, strconv.FormatInt(at.UnixMilli(), 10))
	})
}

// Digest is what happened while the human was away, as names of tasks and of the
// agents the human talks to, each once, in the order it happened.
type Digest struct {
	Since    time.Time // zero: the human was never there before
	Finished []string
	Failed   []string        // not those that were killed
	Cut      []string        // interrupted and crashed
	Needs    []inbox.Message // questions, approvals and urgent ones that wait now, oldest first
	Mail     []string        // who wrote the mail that came since and waits
	Letters  int             // how many those are
	Fresh    map[int64]bool  // the agents in whose inbox something waits that came since
	Tokens   int             // of the turns that ended since or still run
	Cost     int64           // of those, in millionths of a dollar; 0: nothing, or unknown
}

// Empty reports whether nothing happened that is worth telling.
func (d Digest) Empty() bool {
	return len(d.Finished)+len(d.Failed)+len(d.Cut)+d.Letters == 0 &&
		!slices.ContainsFunc(d.Needs, func(m inbox.Message) bool { return !m.Created.Before(d.Since) })
}

// Digest returns what happened since that time; zero: since the human was last
// there, as Seen kept it.
func (p *Pool) Digest(ctx context.Context, since time.Time) (d Digest, err error) {
	talks := p.talks()
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		d = Digest{Since: since}
		if since.IsZero() {
			kept, ok, err := rx.Setting(lastSeen)
			if err != nil || !ok {
				return err
			}
			ms, err := strconv.ParseInt(kept, 10, 64)
			if err != nil {
				return fmt.Errorf("setting %q: %w", lastSeen, err)
			}
			d.Since = time.UnixMilli(ms)
		}
		tasks, err := rx.FinishedSince(d.Since, mostTold)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			d.note(t.Name, Outcome(t.Outcome))
		}
		turns, err := rx.EndedSince(d.Since, mostTold)
		if err != nil {
			return err
		}
		for _, t := range turns {
			name, o := talks[t.Agent], Outcome(t.Outcome)
			if name == "" || name == string(Main) {
				continue // what became of main's turns stands above the digest
			}
			d.note(name, o)
		}
		for _, id := range slices.Sorted(maps.Keys(talks)) {
			ms, err := inbox.Needing(&rx.View, id, mostTold)
			if err != nil {
				return err
			}
			d.Needs = append(d.Needs, ms...)
			if ms, err = inbox.Lately(&rx.View, id, mostTold); err != nil {
				return err
			}
			d.came(id, ms)
		}
		d.Tokens, d.Cost, err = rx.SpentSince(d.Since)
		return err
	})
	if err != nil {
		return Digest{}, fmt.Errorf("gather what happened: %w", err)
	}
	return d, nil
}

// came notes what of an agent's mail came since.
func (d *Digest) came(agent int64, ms []inbox.Message) {
	for _, m := range slices.Backward(ms) {
		if m.Created.Before(d.Since) {
			continue
		}
		if d.Fresh == nil {
			d.Fresh = map[int64]bool{}
		}
		d.Fresh[agent] = true
		if m.Kind != inbox.Mail || m.Priority == inbox.Urgent {
			continue // it is told otherwise
		}
		d.Letters++
		if from := inbox.Label(m.From); !slices.Contains(d.Mail, from) {
			d.Mail = append(d.Mail, from)
		}
	}
}

// note files a name under what became of it; what came last counts.
func (d *Digest) note(name string, o Outcome) {
	is := func(n string) bool { return n == name }
	for _, names := range []*[]string{&d.Finished, &d.Failed, &d.Cut} {
		*names = slices.DeleteFunc(*names, is)
	}
	switch o {
	case Completed:
		d.Finished = append(d.Finished, name)
	case Interrupted, OutCrashed:
		d.Cut = append(d.Cut, name)
	case OutKilled: // who did it knows
	default:
		d.Failed = append(d.Failed, name)
	}
}

// Urgent returns the urgent messages that wait for agents the human talks to, and
// that the human has neither dismissed nor muted, newest first.
func (p *Pool) Urgent(ctx context.Context) (ms []inbox.Message, err error) {
	for id := range p.talks() {
		some, err := p.inbox.Pressing(ctx, id, mostTold)
		if err != nil {
			return nil, err
		}
		ms = append(ms, some...)
	}
	slices.SortFunc(ms, func(x, y inbox.Message) int { return cmp.Compare(y.ID, x.ID) })
	return ms, nil
}

// talks are the names of the agents the human talks to, by id.
func (p *Pool) talks() map[int64]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[int64]string{}
	for id, a := range p.living {
		if a.kind.HasPrompt() {
			names[id] = a.info.Name
		}
	}
	return names
}
