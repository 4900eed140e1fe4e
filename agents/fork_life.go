package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/roster"
	"fantail/store"
	"fantail/tools"
)

// attend is the life of a fork: one turn, once there is a slot.
func (f *forks) attend(ctx context.Context, a *agent) {
	defer f.retire(a)
	defer a.spent()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, release := a.stoppable(ctx)
	defer release()
	err := a.regain(ctx)
	if err == nil {
		a.p.mu.Lock()
		a.watch(forkLimit, cancel)
		if a.model.Provider == nil {
			err = fmt.Errorf("the model %s is not configured", a.info.Model)
		}
		a.p.mu.Unlock()
	}
	if err == nil {
		err = a.work(ctx)
	}
	if err != nil {
		a.refuse(a.endingOf(ctx, err))
	}
}

// retire closes the tab of a fork that has ended: at once, or, while the human
// looks at it, once they leave it or a while has passed.
func (f *forks) retire(a *agent) {
	p := f.p
	p.start(fmt.Sprintf("close agent %d", a.id), func() {
		left, forget := p.human.leaves(a.id)
		defer forget()
		if p.human.LooksAt(a.id) {
			t := time.NewTimer(forkIdle)
			defer t.Stop()
			select {
			case <-left:
			case <-t.C:
			case <-p.ctx.Done():
				return // the next start closes it
			}
		}
		err := a.persist(p.ctx, "close the tab", anyError, func() error {
			return p.o.DB.Write(context.WithoutCancel(p.ctx), "close a fork", func(tx *store.Tx) error {
				row, ok, err := tx.Agent(a.id)
				if err != nil || !ok || !State(row.State).Terminal() {
					return err // its end could not be written: the next start does
				}
				return tx.CloseAgent(a.id)
			})
		})
		if err != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.agents[a.id] == a && a.info.State.Terminal() {
			delete(p.agents, a.id)
			p.hub.Emit(Closed{Agent: a.id})
		}
	})
}

// reopen opens the tab of a fork that has closed, for the human to read. False:
// the name is no fork's.
func (f *forks) reopen(ctx context.Context, name, prompt string) (bool, error) {
	p := f.p
	var row store.Agent
	found := false
	err := p.o.DB.Write(ctx, "open the tab of a fork", func(tx *store.Tx) (err error) {
		row, found, err = tx.AgentByName(name)
		found = found && Kind(row.Kind).Nature().Handles
		switch {
		case err != nil || !found:
			return err
		case prompt != "":
			return roster.ForkEnds(name)
		case row.Closed.IsZero():
			return fmt.Errorf("the tab of %s is open", name)
		}
		return tx.OpenAgent(row)
	})
	if err == nil && found {
		row.Closed = time.Time{}
		err = p.openEnded(ctx, row)
	}
	if err != nil {
		return found, fmt.Errorf("resume: %w", err)
	}
	return found, nil
}

// mayWrite says why a fork does not write to those names: only who wrote the
// message, the fork's parent and who the outcomes name read what it sends.
func (f *forks) mayWrite(ctx context.Context, a *agent, names []string) error {
	h := f.handled(a.id)
	if h == nil {
		return nil
	}
	to, err := f.p.Addressees(ctx, names)
	if err != nil {
		return err
	}
	f.p.mu.Lock()
	ids := []int64{h.message.Sender, a.info.Parent}
	f.p.mu.Unlock()
	var allowed []string
	err = f.p.o.DB.Read(ctx, func(rx *store.Rx) error {
		allowed = nil
		if o, ok, err := rx.AgentByName(h.outcomes.Escalate); err != nil {
			return err
		} else if ok {
			ids = append(ids, o.ID)
		}
		for i, id := range ids {
			if id == 0 {
				continue
			}
			row, err := roster.Reader(&rx.View, id)
			if err != nil {
				return err
			}
			ids[i], allowed = row.ID, append(allowed, row.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range to {
		if !slices.Contains(ids, i.ID) {
			slices.Sort(allowed)
			return fmt.Errorf("send to %s: a fork writes only to %s; nothing was sent", i.Name, strings.Join(slices.Compact(allowed), ", "))
		}
	}
	return nil
}

// errWaited is what a fork hears that has waited as long as it may.
var errWaited = errors.New("you have waited as long as a fork may; say what you found and end your turn")

// mayWait is how long an agent may wait for a message that asked to wait so long;
// 0: as long as one can arrive.
func (f *forks) mayWait(agent int64, asked time.Duration) (time.Duration, error) {
	switch h := f.handled(agent); {
	case h == nil:
		return asked, nil
	case h.waited:
		return 0, errWaited
	case asked == 0 || asked > forkIdle:
		return forkIdle, nil
	}
	return asked, nil
}

// waitedFor notes that a fork waited that long and nothing came.
func (f *forks) waitedFor(agent int64, d time.Duration) {
	if h := f.handled(agent); h != nil && d >= forkIdle {
		h.waited = true
	}
}

// concerns reports whether a message is the agent's to read and to answer: it was
// sent to it, or is what a fork handles.
func (f *forks) concerns(agent, recipient, message int64) bool {
	h := f.handled(agent)
	return recipient == agent || h != nil && message == h.message.ID
}

// toolsOf are the tools that an agent of that kind has.
func (p *Pool) toolsOf(k Kind) *tools.Set {
	if names := k.Nature().Tools; names != nil {
		return p.o.Tools.Only(names...)
	}
	return p.o.Tools
}
