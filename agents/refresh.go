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

// Refresh updates what is in memory from other processes' commits: counts, queued tasks, names, and
// notes in transcripts. Call it when another process rings, and before tasks start after a write
// that found such a commit. Without a foreign write it only asks the file whether there was one. An
// error shows in main's tab; the next call tries again.
func (p *Pool) Refresh(ctx context.Context) {
	err := p.refresh(ctx)
	if err == nil || p.fleet.Context().Err() != nil {
		return
	}
	p.fleet.Trouble(err)
}

// glance refreshes every second until ctx ends. A read-only process hears no bell, because writers
// ring the process that has the agents.
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
	since := p.others
	p.fleet.Unlock()
	if !since.stale {
		return nil
	}
	var queue store.QueueChanges
	if err := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		queue, err = rx.QueueChanges(since.queued)
		return err
	}); err != nil {
		return fmt.Errorf("look for changes from outside: %w", err)
	}
	known := p.fleet.Line.Known(queue)
	if p.o.shows() { // it makes no commits of its own
		var n news
		err := p.o.DB.Read(ctx, func(rx *store.Rx) error { return n.read(&rx.View, since, known) })
		if err == nil {
			p.refreshed(n)
		}
		return err
	}
	// This is a write although it writes nothing: its hook then runs in order with those of the
	// pool's own commits, so older numbers never replace newer ones.
	err = p.o.DB.Write(ctx, "refresh", func(tx *store.Tx) error {
		var n news
		if err := n.read(&tx.View, since, known); err != nil {
			return err
		}
		odd, err := p.held.Unknown(&tx.View, n.queued)
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
	queue   store.QueueChanges
	queued  []tasks.QueuedTask        // those of them that may not be in memory
	notices map[int64][]history.Entry // by agent
	newest  int64                     // newest entry of all
	came    map[int64]int             // number of messages from outside, by agent
	mailed  int64                     // newest message of all
}

// read reads what is newer than `since`. known are tasks that are in memory.
func (n *news) read(v *store.View, since others, known map[int64]bool) (err error) {
	if n.agents, err = v.Agents(); err != nil {
		return err
	}
	if n.counts, err = inbox.Pending(v); err != nil {
		return err
	}
	if n.came, n.mailed, err = inbox.Arrived(v, since.mailed); err != nil {
		return err
	}
	if n.queue, err = v.QueueChanges(since.queued); err != nil {
		return err
	}
	var added []int64
	for _, t := range n.queue.Tasks {
		if t.Queued && !known[t.Task] {
			added = append(added, t.Task)
		}
	}
	if n.queued, err = tasks.QueuedOf(v, added); err != nil {
		return err
	}
	rows, err := v.KindAfter(string(history.EntryNotice), since.noticed)
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
	p.others = others{noticed: n.newest, mailed: n.mailed, queued: n.queue.Newest}
	for _, row := range n.agents {
		a, r := p.fleet.Of(row.ID), n.counts[row.ID]
		if a == nil {
			continue
		}
		p.fleet.Emit(event.Mailed{Agent: row.ID}) // this may be no news: the counts don't tell
		if a.Info.Name != row.Name || a.Info.Pending != r.Pending || a.Info.Asks != r.Asks || a.Info.Urgent != r.Urgent || n.came[row.ID] > 0 {
			a.Change(func(i *event.Info) {
				i.Name = row.Name
				i.Counted(r)
				i.Came += n.came[row.ID]
			})
			p.Mail.Refresh(&a.Info)
		}
		if es := n.notices[row.ID]; len(es) > 0 {
			p.fleet.Emit(event.Appended{Agent: row.ID, Entries: es, Live: false})
		}
	}
	p.fleet.Line.Requeue(n.queue, n.queued)
	p.Schedule.Poke()
	p.fleet.Told()
}
