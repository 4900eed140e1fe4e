package agents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/store"
)

// lastSeen is the setting for the time the human was last there, in Unix milliseconds.
const lastSeen = "last seen"

// maxTold limits the rows of each kind that a digest reads.
const maxTold = 200

// Seen records that the human was there at the given time.
func (l *Records) Seen(ctx context.Context, at time.Time) error {
	return l.pool.o.DB.Write(ctx, "keep when the human was there", func(tx *store.Tx) error {
		return tx.SetSetting(lastSeen, strconv.FormatInt(at.UnixMilli(), 10))
	})
}

// Digest is what happened while the human was away. Finished, Failed and Cut hold the names of
// tasks and of agents the human talks to, each once, in order of events.
type Digest struct {
	Since    time.Time // zero: the human was never seen before
	Finished []string
	Failed   []string        // without killed ones
	Cut      []string        // interrupted or crashed
	Needs    []inbox.Message // questions, approvals and urgent mail pending now, oldest first
	Mail     []string        // senders of pending mail that arrived since
	Letters  int             // number of those letters
	Silent   int             // runs of scheduled commands with an unchanged outcome, which reported nothing
	Due      []inbox.Message // pending reminders and findings of schedules that arrived since
	Fresh    map[int64]bool  // agents with pending mail that arrived since
	Tokens   int             // of turns that ended since or still run
	Cost     int64           // of those turns, in millionths of a dollar; 0: none or unknown
}

// Empty reports whether nothing worth reporting happened.
func (d Digest) Empty() bool {
	return len(d.Finished)+len(d.Failed)+len(d.Cut)+len(d.Due)+d.Letters == 0 &&
		!slices.ContainsFunc(d.Needs, func(m inbox.Message) bool { return !m.Created.Before(d.Since) })
}

// Digest returns what happened since the given time; zero: since the last time recorded by Seen.
func (l *Records) Digest(ctx context.Context, since time.Time) (d Digest, err error) {
	talks := l.talks()
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
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
		silent, err := schedule.Silent(&rx.View, d.Since)
		if err != nil {
			return err
		}
		tasks, err := rx.FinishedSince(d.Since, maxTold+len(silent)) // silent runs don't count against the limit
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if silent[t.ID] {
				d.Silent++
				continue
			}
			d.note(t.Name, history.Outcome(t.Outcome))
		}
		turns, err := rx.EndedSince(d.Since, maxTold)
		if err != nil {
			return err
		}
		for _, t := range turns {
			name, o := talks[t.Agent], history.Outcome(t.Outcome)
			if name == "" || name == string(event.Main) {
				continue // main's transcript, just above the digest, shows how its turns ended
			}
			d.note(name, o)
		}
		for _, id := range slices.Sorted(maps.Keys(talks)) {
			ms, err := inbox.Needing(&rx.View, id, maxTold)
			if err != nil {
				return err
			}
			d.Needs = append(d.Needs, ms...)
			if ms, err = inbox.Lately(&rx.View, id, maxTold); err != nil {
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

// came adds the agent's mail that arrived since.
func (d *Digest) came(agent int64, ms []inbox.Message) {
	for _, m := range slices.Backward(ms) {
		if m.Created.Before(d.Since) {
			continue
		}
		if d.Fresh == nil {
			d.Fresh = map[int64]bool{}
		}
		d.Fresh[agent] = true
		if (m.Kind == inbox.Reminder || m.Kind == inbox.Scheduled) && m.Priority != inbox.Urgent {
			d.Due = append(d.Due, m)
		}
		if m.Kind != inbox.Mail || m.Priority == inbox.Urgent {
			continue // Needs lists it, or it is reported as a task
		}
		d.Letters++
		if from := inbox.Label(m.From); !slices.Contains(d.Mail, from) {
			d.Mail = append(d.Mail, from)
		}
	}
}

// note files a name under its outcome. If a name has several, the last one counts.
func (d *Digest) note(name string, o history.Outcome) {
	is := func(n string) bool { return n == name }
	for _, names := range []*[]string{&d.Finished, &d.Failed, &d.Cut} {
		*names = slices.DeleteFunc(*names, is)
	}
	switch o {
	case history.Completed:
		d.Finished = append(d.Finished, name)
	case history.Interrupted, history.OutCrashed:
		d.Cut = append(d.Cut, name)
	case history.OutKilled: // the human killed it and knows
	default:
		d.Failed = append(d.Failed, name)
	}
}

// Urgent returns the pending urgent messages to agents the human talks to, newest first. Messages
// that the human dismissed or muted are left out.
func (l *Records) Urgent(ctx context.Context) (ms []inbox.Message, err error) {
	for id := range l.talks() {
		some, err := l.pool.inbox.Pressing(ctx, id, maxTold)
		if err != nil {
			return nil, err
		}
		ms = append(ms, some...)
	}
	slices.SortFunc(ms, func(x, y inbox.Message) int { return cmp.Compare(y.ID, x.ID) })
	return ms, nil
}

// Calling returns an agent's messages after `after`, up to upTo, that call the human by how they were sent.
func (l *Records) Calling(ctx context.Context, agent, after, upTo int64) ([]inbox.Message, error) {
	return l.pool.inbox.Calling(ctx, agent, after, upTo, maxTold)
}

// talks returns the names, by id, of the living agents the human talks to.
func (l *Records) talks() map[int64]string {
	names := map[int64]string{}
	for _, i := range l.pool.Infos() {
		if i.Kind.HasPrompt() && !i.State.Terminal() {
			names[i.ID] = i.Name
		}
	}
	return names
}
