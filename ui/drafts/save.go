package drafts

import (
	"context"
	"slices"
	"time"

	"fantail/agents/drafts"
	"fantail/ui/intent"
)

// savesAfter is how long what is typed may be in memory alone.
const savesAfter = 2 * time.Second

// saving keeps what is typed where it outlives this process. Nothing of it runs while nobody types.
type saving struct {
	due  bool // a save is to come, or goes on
	more bool // something was typed since it looked
	last []drafts.Draft
}

// Touched notes that something may have been typed.
func (d *Drafts) Touched() intent.Intent {
	s := &d.saving
	switch {
	case d.ReadOnly || d.pool == nil:
		return nil
	case s.due:
		s.more = true
		return nil
	}
	s.due = true
	t := time.NewTimer(savesAfter)
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		defer t.Stop()
		select {
		case <-t.C:
			return intent.Call(d.save)
		case <-ctx.Done(): // Leave keeps it
			return nil
		}
	}}
}

// save keeps what is typed now, if that is not kept already.
func (d *Drafts) save() intent.Intent {
	s, pool := &d.saving, d.pool
	s.more = false
	var ds []drafts.Draft
	for _, t := range d.Tabs.All {
		mine, err := d.unsent(t)
		if n := len(mine); err == nil && n > 0 && t.Info.ID != 0 {
			ds = append(ds, mine[n-1])
		}
	}
	if slices.Equal(ds, s.last) {
		s.due = false
		return nil
	}
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		err := pool.Save(ctx, ds)
		return intent.Call(func() intent.Intent { return d.saved(ds, err) })
	}}
}

// saved notes what was kept. What could not be is tried again when more is typed, and Leave says what is lost.
func (d *Drafts) saved(ds []drafts.Draft, err error) intent.Intent {
	s := &d.saving
	s.due = false
	if err == nil {
		s.last = ds
	}
	if s.more {
		return d.Touched()
	}
	return nil
}
