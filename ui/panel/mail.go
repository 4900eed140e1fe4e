package panel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/words"
)

// What a human does with the messages in a panel.

var mailVerbs = []dialog.Verb{
	{Key: "enter", Name: "take", Hint: "takes", Many: "fires", Help: "a turn with it, or with all that are picked; an answer, if it asks"},
	{Key: "f", Name: "fire", Help: "one turn with all that are picked, or with this one"},
	{Key: "r", Name: "reply", Hint: "replies", Ask: "reply to %s› ", Help: "answer its sender"},
	{Key: "a", Name: "archive", Hint: "archives", Help: "put it away without taking it"},
	{Key: "s", Name: "snooze", Hint: "snoozes", Ask: "snooze %s until (30m, 2h, 14:00, tomorrow)› ", All: true, Help: "away until a time"},
	{Key: "u", Name: "undo", Hint: "undo", Help: "take back what was done last here", Bare: true},
	{Key: "!", Name: "pin", Help: "keep it on top, or no longer"},
	{Key: "x", Name: "dismiss", Help: "you know of it; it waits on, quietly"},
	{Key: "m", Name: "mute", Help: "hold its thread silently, or no longer"},
	{Key: "d", Name: "made", Hint: "diff", Help: "what its sender changed, and what it put out; again: the message"},
	{Key: "w", Name: "why", Help: "when it enters a context, and why; again: the message"},
	{Key: "c", Name: "check", Help: "take all that is ready, as /check does", Bare: true},
	{Key: "v", Name: "shelf", Help: "what shows: what waits, what is snoozed, archived, everything", Bare: true},
	{Key: "f4 Q", Name: "queue", Hint: "queue", Help: "the queue", Bare: true},
	{Key: "f6", Name: "schedules", Help: "what is due when", Bare: true},
	{Key: "f3", Name: "close", Help: "close", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "alt+a f5", Name: "question", Help: "answer the oldest open question", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// undone is something that u can take back.
type undone struct {
	what string
	do   func(ctx context.Context) error
}

func (s *mailStock) do(p *Panel, w dialog.Wish) intent.Intent {
	m, _ := s.win.message(w.ID)
	switch w.Verb {
	case "queue":
		return intent.Queue{Agent: s.agent, Name: s.name}
	case "schedules":
		return intent.Schedules{Agent: s.agent, Name: s.name}
	case "close":
		return intent.Close{}
	case "shelf":
		i := slices.IndexFunc(mailShelves[:], func(x mailShelf) bool { return x.of == s.of })
		s.of = mailShelves[(i+1)%len(mailShelves)].of
		s.entitle()
	case "take":
		if len(p.box.Picked()) > 0 {
			return s.fire(p, w)
		}
		return s.take(p, w, m)
	case "fire":
		return s.fire(p, w)
	case "check":
		return s.check(p, w)
	case "reply":
		return p.wish(w, func(ctx context.Context) (string, error) {
			sent, err := s.Pool.Letters.Reply(ctx, s.agent, w.ID, w.Text)
			return fmt.Sprintf("#%d is in the inbox of %s", sent.ID, sent.To), err
		}, nil)
	case "undo":
		return s.takeBack(p, w)
	case "made":
		return s.made(p, w.ID)
	case "why":
		return s.why(p, w.ID)
	default:
		return s.arrange(p, w)
	}
	return nil
}

// arrange carries out the verbs that leave messages out of every conversation.
func (s *mailStock) arrange(p *Panel, w dialog.Wish) intent.Intent {
	first, _ := s.win.message(w.IDs[0])
	some := words.Hashes(w.IDs)
	if n := len(w.IDs); n > 3 {
		some = words.Count(n, "message")
	}
	// did runs f, says so, and notes how u takes it back and what that is.
	did := func(text string, f func(ctx context.Context) error, what string, back func(ctx context.Context) error) intent.Intent {
		return p.wish(w, func(ctx context.Context) (string, error) { return text + "; u takes it back", f(ctx) }, func() {
			p.box.Unpick(w.IDs...)
			s.undo = append(s.undo, undone{what, back})
		})
	}
	each := func(f func(ctx context.Context, id int64) error) func(ctx context.Context) error {
		return func(ctx context.Context) (err error) {
			for _, id := range w.IDs {
				err = cmp.Or(err, f(ctx, id))
			}
			return err
		}
	}
	archive := func(ctx context.Context) error { _, err := s.Pool.Letters.Archive(ctx, s.agent, w.IDs); return err }
	restore := func(ctx context.Context) error { _, err := s.Pool.Letters.Restore(ctx, s.agent, w.IDs); return err }
	pin := func(on bool) func(ctx context.Context) error {
		return each(func(ctx context.Context, id int64) error { return s.Pool.Letters.Pin(ctx, s.agent, id, on) })
	}
	mute := func(on bool) func(ctx context.Context) error {
		return each(func(ctx context.Context, id int64) error {
			_, err := s.Pool.Letters.Mute(ctx, s.agent, id, on)
			return err
		})
	}
	waiting, away := "Waiting again: "+some, "Archived "+some
	switch w.Verb {
	case "archive":
		if !first.Snoozed.IsZero() {
			return did(waiting, restore, "Snoozed again: "+some, func(ctx context.Context) error { return s.Pool.Letters.Snooze(ctx, s.agent, w.IDs, first.Snoozed) })
		}
		if first.Aside() {
			return did(waiting, restore, away, archive)
		}
		return did(away, archive, waiting, restore)
	case "snooze":
		until, err := words.When(w.Text, s.Now())
		return did(fmt.Sprintf("Away until %s: %s", inbox.Clock(until, s.Now()), some), func(ctx context.Context) error {
			if err != nil {
				return err
			}
			return s.Pool.Letters.Snooze(ctx, s.agent, w.IDs, until)
		}, waiting, restore)
	case "pin":
		on, off := "Kept on top: "+some, "No longer kept on top: "+some
		if first.Pinned {
			on, off = off, on
		}
		return did(on, pin(!first.Pinned), off, pin(first.Pinned))
	case "dismiss":
		return did("Waiting quietly: "+some, each(func(ctx context.Context, id int64) error { return s.Pool.Letters.Dismiss(ctx, s.agent, id) }),
			"Standing out again: "+some, each(func(ctx context.Context, id int64) error { return s.Pool.Letters.Undismiss(ctx, s.agent, id) }))
	case "mute":
		on, off := "Held silently, with all that is yet to come: the thread of "+some, "Heard again: the thread of "+some
		if first.Muted {
			on, off = off, on
		}
		return did(on, mute(!first.Muted), off, mute(first.Muted))
	}
	return nil
}

// busy says that what begins a turn waits for the current one to end.
func (s *mailStock) busy(p *Panel) {
	if t := s.Tabs.ByID(s.agent); t != nil && words.Working(t.Info.State) {
		p.box.Say("it is taken when this turn ends")
	}
}

// take starts a turn with a message; one that asks is answered.
func (s *mailStock) take(p *Panel, w dialog.Wish, m inbox.Message) intent.Intent {
	if m.Asks() {
		return s.askedIn(p, m)
	}
	s.busy(p)
	return p.wish(w, func(ctx context.Context) (string, error) {
		_, ok, err := s.Pool.Pickup.Next(ctx, s.agent, w.ID)
		if err == nil && !ok {
			err = fmt.Errorf("message #%d was taken meanwhile", w.ID)
		}
		return fmt.Sprintf("A turn of %s begins with #%d", s.name, w.ID), err
	}, nil)
}

// askedIn opens, over the panel, the question that a message carries.
func (s *mailStock) askedIn(p *Panel, m inbox.Message) intent.Intent {
	for _, t := range s.Tabs.All {
		if q := t.Info.Question; q != nil && q.Message == m.ID {
			return intent.Question{Agent: t.Info.ID}
		}
	}
	p.box.Fail(fmt.Sprintf("%s does not ask #%d now; /answer %d says why", inbox.Label(m.From), m.ID, m.ID))
	return nil
}

// fire starts one turn with the picked messages.
func (s *mailStock) fire(p *Panel, w dialog.Wish) intent.Intent {
	s.busy(p)
	return p.wish(w, func(ctx context.Context) (string, error) {
		n, err := s.Pool.Pickup.FireThese(ctx, s.agent, w.IDs, "")
		return fmt.Sprintf("A turn of %s begins with %s", s.name, words.Count(n, "message")), err
	}, func() {
		p.box.Unpick(w.IDs...)
	})
}

// check takes everything that is ready.
func (s *mailStock) check(p *Panel, w dialog.Wish) intent.Intent {
	return p.wish(w, func(ctx context.Context) (string, error) {
		ms, left, err := s.Pool.Pickup.Check(ctx, s.agent, inbox.Query{})
		switch {
		case err != nil:
			return "", err
		case left > 0:
			return fmt.Sprintf("Took %s; %s more: c again", words.Count(len(ms), "message"), inbox.Left(left)), nil
		}
		return "Took " + words.Count(len(ms), "message"), nil
	}, func() {
		s.undo = append(s.undo, undone{"They wait again", func(ctx context.Context) error { _, err := s.Pool.Letters.Undo(ctx, s.agent); return err }})
	})
}

// takeBack takes back the last thing done in this panel or, if there is none, the messages taken
// last, as /inbox undo does.
func (s *mailStock) takeBack(p *Panel, w dialog.Wish) intent.Intent {
	u := undone{"What was taken last waits again", func(ctx context.Context) error { _, err := s.Pool.Letters.Undo(ctx, s.agent); return err }}
	if n := len(s.undo); n > 0 {
		u, s.undo = s.undo[n-1], s.undo[:n-1]
	}
	return p.wish(w, func(ctx context.Context) (string, error) { return u.what, u.do(ctx) }, nil)
}

// made shows what the sender did, in place of the message.
func (s *mailStock) made(p *Panel, id int64) intent.Intent {
	theme, now := s.Theme, s.Now
	return p.instead(id, "made", func(ctx context.Context) (*preview, error) {
		made, err := s.Pool.Ledger.Made(ctx, id)
		if err != nil {
			return nil, err
		}
		v := newPreview(theme, now)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("what %s did for #%d · d shows the message again", inbox.Label(made.Message.From), id), role: themes.Accent})
		text := ""
		if made.Diff != "" {
			v.add("files", words.Count(made.Changes, "change"))
			text = words.Fenced("diff", made.Diff) + "\n"
		} else {
			v.add("files", "none changed")
		}
		out := made.Output()
		if made.Message.Kind == inbox.Mail { // not always markdown
			out = words.Fenced("", out)
		}
		v.answer(text + out)
		return v, nil
	})
}

// why shows the full reason why a message waits, in its place.
func (s *mailStock) why(p *Panel, id int64) intent.Intent {
	theme, now := s.Theme, s.Now
	return p.instead(id, "why", func(ctx context.Context) (*preview, error) {
		text, err := s.Pool.Mail.Why(ctx, id)
		if err != nil {
			return nil, err
		}
		v := newPreview(theme, now)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("when #%d enters · w shows the message again", id), role: themes.Accent})
		v.plain(text)
		return v, nil
	})
}
