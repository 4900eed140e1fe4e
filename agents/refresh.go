package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Refresh brings what is kept in memory up to what other processes committed:
// counts, queued tasks, names, and what they noted in transcripts. It is to be
// called when one of them rang, and is called where tasks may start after a write
// that came upon a commit of theirs; while nobody else wrote it only asks the file
// for that. What keeps it from looking shows in main's tab; the next call looks again.
func (p *Pool) Refresh(ctx context.Context) {
	err := p.refresh(ctx)
	if err == nil || p.fleet.Context().Err() != nil {
		return
	}
	p.fleet.Trouble(err)
}

// glance refreshes each second until ctx ends: a process that only reads hears no bell, since those that
// write ring the one that has the agents.
func glance(ctx context.Context, refresh func(ctx context.Context)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			refresh(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pool) refresh(ctx context.Context) error {
	changed, err := p.o.DB.Changed(ctx)
	if err != nil {
		return fmt.Errorf("look for changes from outside: %w", err)
	}
	p.fleet.Lock()
	p.others.stale = p.others.stale || changed
	stale, noticed, mailed := p.others.stale, p.others.noticed, p.others.mailed
	known := map[int64]bool{}
	for q := range p.fleet.Queue.All() {
		known[q.ID] = true
	}
	p.fleet.Unlock()
	if !stale {
		return nil
	}
	if p.o.shows() { // it has no commits of its own
		var n news
		err := p.o.DB.Read(ctx, func(rx *store.Rx) error { return n.read(&rx.View, noticed, mailed) })
		if err == nil {
			p.refreshed(n)
		}
		return err
	}
	// A write, though nothing is written: its hook comes in order with those of
	// the pool's own commits, so that newer numbers are never replaced by older.
	err = p.o.DB.Write(ctx, "refresh", func(tx *store.Tx) error {
		var n news
		if err := n.read(&tx.View, noticed, mailed); err != nil {
			return err
		}
		odd, err := p.held.Unknown(&tx.View, known, n.queued)
		if err == nil {
			err = p.held.TellUnknown(tx, odd)
		}
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { p.refreshed(n) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("read changes from outside: %w", err)
	}
	return nil
}

// news is what other processes may have changed.
type news struct {
	agents  []store.Agent
	counts  map[int64]inbox.Change
	queued  []tasks.QueuedTask
	notices map[int64][]history.Entry // by agent
	newest  int64                     // entry of all
	came    map[int64]int             // mail from outside, by agent
	mailed  int64                     // the newest message of all
}

// read reads it; notices are those behind the entry `after`, and mail is that
// behind the message `mailed`.
func (n *news) read(v *store.View, after, mailed int64) (err error) {
	if n.agents, err = v.Agents(); err != nil {
		return err
	}
	if n.counts, err = inbox.Pending(v); err != nil {
		return err
	}
	if n.came, n.mailed, err = inbox.Arrived(v, mailed); err != nil {
		return err
	}
	if n.queued, err = tasks.QueuedTasks(v); err != nil {
		return err
	}
	rows, err := v.KindAfter(string(history.EntryNotice), after)
	if err != nil {
		return err
	}
	n.notices = map[int64][]history.Entry{}
	for _, e := range history.DecodeAll(rows) {
		if tasks.FromOutside(e.By) {
			n.notices[e.Agent] = append(n.notices[e.Agent], e)
		}
	}
	n.newest, err = v.NewestSeq()
	return err
}

// refreshed applies n. A commit hook calls it.
func (p *Pool) refreshed(n news) {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	if n.mailed > p.others.mailed {
		p.inbox.Words.LeftOut()
	}
	p.others.stale, p.others.noticed, p.others.mailed = false, n.newest, n.mailed
	for _, row := range n.agents {
		a, r := p.fleet.Of(row.ID), n.counts[row.ID]
		if a == nil {
			continue
		}
		p.fleet.Emit(event.Mailed{Agent: row.ID}) // perhaps; the counts don't tell
		if a.Info.Name != row.Name || a.Info.Pending != r.Pending || a.Info.Urgent != r.Urgent || n.came[row.ID] > 0 {
			a.Change(func(i *event.Info) {
				i.Name, i.Pending, i.Urgent = row.Name, r.Pending, r.Urgent
				i.Came += n.came[row.ID]
			})
			p.Mail.Refresh(&a.Info)
		}
		if es := n.notices[row.ID]; len(es) > 0 {
			p.fleet.Emit(event.Appended{Agent: row.ID, Entries: es, Live: false})
		}
	}
	p.fleet.Line.Requeue(n.queued)
	p.Schedule.Poke()
	p.fleet.Told()
}
