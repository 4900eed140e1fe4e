package turn

import (
	"context"
	"time"

	"fantail/agents/event"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/workspace"
)

// Make creates the loop of an agent that has none, without starting it.
func (ls *Loops) Make(i event.Info, task int64) *Loop {
	o := &ls.o
	l := &Loop{workbench: workbench{
		conversation: conversation{
			Agent: o.Fleet.NewAgent(i, task), o: o, unattended: i.Unattended,
			sinceSummary: 2, // as if long ago
		},
		strict: i.Outside || i.Kind.Nature().Strict, outside: i.Outside,
	}, life: ls.lives[i.Kind.Nature().Life]}
	var mode permit.Mode
	l.tools, mode, l.guard = o.Kit(i)
	l.env = &tools.Env{
		Root: o.Root, Private: o.Private, Outputs: o.Outputs(i.ID), Keys: o.Keys,
		Desk: ls.desk(l), Shelf: o.Shelf, Seen: workspace.NewSeen(), Changes: o.Gate.Changes(),
		Started: l.started, Keep: l.keep, Ahead: o.Ahead, Guards: o.Trust.Guards, Barred: o.Gate.Barred,
		Tick: func(call, tail string) { l.Show(event.Output{Agent: i.ID, Call: call, Tail: tail}) },
	}
	if !i.Unattended && i.Kind.Nature().Asks {
		l.env.Ask, l.env.Aside, l.env.Sample = l.asksFor, l.Aside, ls.asks.For(l.Agent, l.env)
	}
	if i.Await != nil && !i.State.Terminal() {
		if l.idling = (&idling{l: l, input: inbound{}}); ls.Input != nil {
			l.idling.input = ls.Input(i)
		}
	}
	l.guide.Room, l.guide.DB = o.Briefs, o.DB
	l.seating.l = l
	l.outfit(nil)
	if i.Kind.Tasked() && !i.State.Terminal() {
		haste, hasten := context.WithCancel(o.Fleet.Context())
		l.Hastens(hasten)
		l.hasten, l.env.Hurry = hasten, haste.Done()
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if above := ls.of[i.Parent]; above != nil && mode == "" {
		mode = above.mode
	}
	l.Judge(mode)
	ls.of[i.ID] = l
	return l
}

// Judge has the calls of an agent, and of those below it, judged in that mode. Call it before Start.
func (l *Loop) Judge(m permit.Mode) { l.mode, l.Info.Mode = m, m }

// Unattended reports whether nobody is there to be asked.
func (l *Loop) Unattended() bool { return l.unattended }

// Obeys sets the plain command that is the agent's task. Call it before Start.
func (l *Loop) Obeys(command string) { l.command = command }

// Limit sets how long the agent's task may take; 0: forever. Call it before Start.
func (l *Loop) Limit(d time.Duration) { l.timeout = d }

// Start begins the agent's life: one task, one message, or, for those that rest between turns, all until it is closed.
func (l *Loop) Start() {
	life := l.rest
	switch {
	case l.life != nil:
		life = func(ctx context.Context) { l.life.Attend(ctx, l) }
	case l.Kind.Tasked():
		life = l.carryOut
	}
	l.o.Fleet.Start("agent "+l.Info.Name, func() {
		defer close(l.Gone)
		defer l.seating.end()
		l.o.Fleet.Letters.Sent(l.o.Fleet.Context(), l.Task)
		life(l.o.Fleet.Context())
	})
}

// Start begins the life of an agent whose tab is open. The caller holds the fleet's mutex.
func (ls *Loops) Start(agent int64) {
	ls.mu.Lock()
	l := ls.of[agent]
	ls.mu.Unlock()
	l.Start()
}

// rest is the life of an agent the human talks to: between turns it waits for a reason to begin the next.
func (l *Loop) rest(ctx context.Context) {
	if l.parked != nil {
		_ = l.Work(ctx) // the turn has begun, so it reports its own end
	}
	l.Poke()
	var failing time.Time // since when turns have failed to begin; zero: they don't
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Pokes:
		}
		for {
			if l.left(ctx) {
				return
			}
			if l.compacts(ctx) {
				continue
			}
			if !l.due(ctx) {
				break
			}
			if err := l.Work(ctx); err != nil {
				if failing.IsZero() {
					failing = l.o.Now()
				}
				l.Trouble(err)
				l.o.Disk.Refused(failing, err)
				l.pause(ctx)
			} else {
				failing = time.Time{}
			}
		}
	}
}

// due reports whether there is a reason to begin a turn. Messages that wake are given half a second to gather; prompts
// don't wait for that.
func (l *Loop) due(ctx context.Context) bool {
	var gathered <-chan time.Time
	for ripe := false; ctx.Err() == nil; {
		l.o.Fleet.Lock()
		tray := l.o.Mail.Tray(l.ID)
		if l.Info.Pending == 0 && tray.Heed() { // what woke it was taken meanwhile
			l.o.Fleet.Told()
		}
		typed, wake := tray.Wants()
		for _, q := range l.Info.Prompts {
			typed = typed || !q.Held
		}
		held := l.Info.State != event.Idle // a human's receive waits in this tab
		ends := l.Info.Await != nil && l.Info.Await.Ends
		other := l.leaves != nil || l.compaction != nil && !held
		l.o.Fleet.Unlock()
		switch {
		case other: // which came since the loop looked, and whose token this took
			l.Poke()
			return false
		case held:
			return false
		case typed || (wake && ripe) || l.seating.stir.Load():
			return true
		case !wake, ends:
			return false
		case gathered == nil:
			t := time.NewTimer(500 * time.Millisecond)
			defer t.Stop()
			gathered = t.C
		}
		select {
		case <-gathered:
			ripe = true
		case <-l.Pokes:
		case <-ctx.Done():
		}
	}
	return false
}

// pause keeps an agent whose turn can't begin (on a full disk, say) from retrying in a tight loop.
func (l *Loop) pause(ctx context.Context) {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
