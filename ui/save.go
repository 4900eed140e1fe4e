package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	"fantail/store"
	"fantail/ui/composer"
	"fantail/ui/intent"
)

// savesAfter is how long typed text may be in memory only.
const savesAfter = 2 * time.Second

// saving stores what is typed where it outlives this process. It does nothing while no one types.
type saving struct {
	due   bool // a save follows within savesAfter
	going bool // a save is running
	more  bool // something was typed since it began
	last  []store.Draft
}

// Touched notes that something may have been typed or sent. After a draft was sent it saves at
// once, so that the draft can't come back.
func (d *Drafts) Touched() intent.Intent {
	s := &d.saving
	switch {
	case d.ReadOnly || d.store == nil:
		return nil
	case s.going:
		s.more = true
		return nil
	case d.sent():
		return d.save()
	case s.due:
		return nil
	}
	s.due = true
	t := time.NewTimer(savesAfter)
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		defer t.Stop()
		select {
		case <-t.C:
			return intent.Call(d.elapsed)
		case <-ctx.Done(): // Leave stores it
			return nil
		}
	}}
}

// sent reports whether a box is empty now that had text at the last save.
func (d *Drafts) sent() bool {
	return slices.ContainsFunc(d.saving.last, func(x store.Draft) bool {
		t := d.Tabs.ByID(x.Agent)
		if t == nil {
			return true // its tab has closed, and the text went to another
		}
		if t.Question != nil && strings.TrimSpace(t.Question.Typed()) != "" {
			return false
		}
		box := t.Typing()
		return box == nil || len(composer.Unsent(box)) == 0
	})
}

// elapsed saves what is due.
func (d *Drafts) elapsed() intent.Intent {
	s := &d.saving
	s.due = false
	if s.going {
		s.more = true
		return nil
	}
	return d.save()
}

// save stores what is typed now, unless that is stored already.
func (d *Drafts) save() intent.Intent {
	s, to := &d.saving, d.store
	var ds []store.Draft
	for _, t := range d.Tabs.All {
		mine, err := d.unsent(t)
		if n := len(mine); err == nil && n > 0 && t.Info.ID != 0 {
			ds = append(ds, mine[n-1])
		}
	}
	if slices.Equal(ds, s.last) {
		return nil
	}
	s.going, s.more = true, false
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		err := to.Save(ctx, ds)
		return intent.Call(func() intent.Intent { return d.saved(ds, err) })
	}}
}

// saved notes what was stored. What could not be stored is retried when more is typed; Leave
// reports what is lost.
func (d *Drafts) saved(ds []store.Draft, err error) intent.Intent {
	s := &d.saving
	s.going = false
	if err == nil {
		s.last = ds
	}
	if s.more {
		return d.Touched()
	}
	return nil
}
