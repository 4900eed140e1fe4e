package panel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fantail/inbox"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// The actions of a human on the messages in a panel.

var mailVerbs = []dialog.Verb{
	{Key: "enter", Name: "take", Hint: "take", Many: "take", Help: "take, start a turn"},
	{Key: "f", Name: "fire", Help: "take as one turn"},
	{Key: "r", Name: "reply", Hint: "reply", Ask: "reply to %s› ", Help: "reply"},
	{Key: "a", Name: "archive", Hint: "archive", Help: "archive"},
	{Key: "s", Name: "snooze", Hint: "snooze", Ask: "snooze %s until (30m, 2h, 14:00, tomorrow)› ", All: true, Help: "snooze"},
	{Key: "u", Name: "undo", Hint: "undo", Help: "undo", Bare: true},
	{Key: "!", Name: "pin", Help: "pin or unpin"},
	{Key: "x", Name: "dismiss", Help: "stop counting it"},
	{Key: "m", Name: "mute", Help: "mute the thread"},
	{Key: "d", Name: "made", Hint: "diff", Help: "diff and output"},
	{Key: "w", Name: "why", Help: "why it waits"},
	{Key: "c", Name: "check", Help: "collect the mail", Bare: true},
	{Key: "v", Name: "shelf", Help: "snoozed, archived", Bare: true},
}

// undone is an action that the key u can undo.
type undone struct {
	what string
	do   func(ctx context.Context) error
}

func (s *mailList) do(w dialog.BoardAction) intent.Intent {
	m, _ := s.win.message(w.ID)
	switch w.Verb {
	case "shelf":
		i := slices.IndexFunc(mailViews[:], func(x mailView) bool { return x.of == s.of })
		s.of = mailViews[(i+1)%len(mailViews)].of
		s.entitle()
	case "take":
		if len(s.box.Picked()) > 0 {
			return s.fire(w)
		}
		return s.take(w, m)
	case "fire":
		return s.fire(w)
	case "check":
		return s.check(w)
	case "reply":
		return s.wish(w, func(ctx context.Context) (string, error) {
			sent, err := s.Pool.Letters.Reply(ctx, s.agent, w.ID, w.Text)
			return fmt.Sprintf("Sent #%d to %s", sent.ID, sent.To), err
		}, nil)
	case "undo":
		return s.takeBack(w)
	case "made":
		return s.made(w.ID)
	case "why":
		return s.why(w.ID)
	default:
		return s.arrange(w)
	}
	return nil
}

// arrange carries out the actions that keep messages out of conversations.
func (s *mailList) arrange(w dialog.BoardAction) intent.Intent {
	first, _ := s.win.message(w.IDs[0])
	some := format.Hashes(w.IDs)
	if n := len(w.IDs); n > 3 {
		some = format.Count(n, "message")
	}
	// did runs f, prints text, and notes how u undoes f and what it then prints.
	did := func(text string, f func(ctx context.Context) error, what string, back func(ctx context.Context) error) intent.Intent {
		return s.wish(w, func(ctx context.Context) (string, error) { return text + " · u undo", f(ctx) }, func() {
			s.box.Unpick(w.IDs...)
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
	waiting, away := "Restored "+some, "Archived "+some
	switch w.Verb {
	case "archive":
		if !first.Snoozed.IsZero() {
			return did(waiting, restore, "Snoozed again "+some, func(ctx context.Context) error { return s.Pool.Letters.Snooze(ctx, s.agent, w.IDs, first.Snoozed) })
		}
		if first.Aside() {
			return did(waiting, restore, away, archive)
		}
		return did(away, archive, waiting, restore)
	case "snooze":
		until, err := format.ParseWhen(w.Text, s.Now())
		return did(fmt.Sprintf("Snoozed until %s: %s", inbox.Clock(until, s.Now()), some), func(ctx context.Context) error {
			if err != nil {
				return err
			}
			return s.Pool.Letters.Snooze(ctx, s.agent, w.IDs, until)
		}, waiting, restore)
	case "pin":
		on, off := "Pinned "+some, "Unpinned "+some
		if first.Pinned {
			on, off = off, on
		}
		return did(on, pin(!first.Pinned), off, pin(first.Pinned))
	case "dismiss":
		return did("Dismissed "+some, each(func(ctx context.Context, id int64) error { return s.Pool.Letters.Dismiss(ctx, s.agent, id) }),
			"No longer dismissed: "+some, each(func(ctx context.Context, id int64) error { return s.Pool.Letters.Undismiss(ctx, s.agent, id) }))
	case "mute":
		on, off := "Muted the thread of "+some, "Unmuted the thread of "+some
		if first.Muted {
			on, off = off, on
		}
		return did(on, mute(!first.Muted), off, mute(first.Muted))
	}
	return nil
}

// busy says that a turn begins only after the current one.
func (s *mailList) busy() {
	if t := s.Tabs.ByID(s.agent); t != nil && format.Working(t.Info.State) {
		s.box.Say("It is taken when this turn ends")
	}
}

// take starts a turn with a message. A message that asks opens its question.
func (s *mailList) take(w dialog.BoardAction, m inbox.Message) intent.Intent {
	if m.Asks() {
		return s.askedIn(m)
	}
	s.busy()
	return s.wish(w, func(ctx context.Context) (string, error) {
		_, ok, err := s.Pool.Pickup.Next(ctx, s.agent, w.ID)
		if err == nil && !ok {
			err = fmt.Errorf("message #%d was already taken", w.ID)
		}
		return fmt.Sprintf("%s starts a turn with #%d", s.name, w.ID), err
	}, nil)
}

// askedIn opens the question of a message over the panel.
func (s *mailList) askedIn(m inbox.Message) intent.Intent {
	for _, t := range s.Tabs.All {
		if q := t.Info.Question; q != nil && q.Message == m.ID {
			return intent.Question{Agent: t.Info.ID}
		}
	}
	s.box.Fail(fmt.Sprintf("%s is not asking #%d now. /answer %d to see why", inbox.Label(m.From), m.ID, m.ID))
	return nil
}

// fire starts one turn with the picked messages.
func (s *mailList) fire(w dialog.BoardAction) intent.Intent {
	s.busy()
	return s.wish(w, func(ctx context.Context) (string, error) {
		n, err := s.Pool.Pickup.FireThese(ctx, s.agent, w.IDs, "")
		return fmt.Sprintf("%s starts a turn with %s", s.name, format.Count(n, "message")), err
	}, func() {
		s.box.Unpick(w.IDs...)
	})
}

// check takes all messages that are ready.
func (s *mailList) check(w dialog.BoardAction) intent.Intent {
	return s.wish(w, func(ctx context.Context) (string, error) {
		ms, left, err := s.Pool.Pickup.Check(ctx, s.agent, inbox.Query{})
		switch {
		case err != nil:
			return "", err
		case left > 0:
			return fmt.Sprintf("Took %s. %s more: press c again", format.Count(len(ms), "message"), inbox.Left(left)), nil
		}
		return "Took " + format.Count(len(ms), "message"), nil
	}, func() {
		s.undo = append(s.undo, undone{"Back in the inbox", func(ctx context.Context) error { _, err := s.Pool.Letters.Undo(ctx, s.agent); return err }})
	})
}

// takeBack undoes the last action of this panel. If there is none, it puts back the messages taken
// last, as /inbox undo does.
func (s *mailList) takeBack(w dialog.BoardAction) intent.Intent {
	u := undone{"What was taken last waits again", func(ctx context.Context) error { _, err := s.Pool.Letters.Undo(ctx, s.agent); return err }}
	if n := len(s.undo); n > 0 {
		u, s.undo = s.undo[n-1], s.undo[:n-1]
	}
	return s.wish(w, func(ctx context.Context) (string, error) { return u.what, u.do(ctx) }, nil)
}

// made shows what the sender did, in place of the message.
func (s *mailList) made(id int64) intent.Intent {
	return s.instead(id, "made", func(ctx context.Context, v *preview) error {
		made, err := s.Pool.Records.Made(ctx, id)
		if err != nil {
			return err
		}
		v.head(fmt.Sprintf("%s's work for #%d · d show the message", inbox.Label(made.Message.From), id))
		text := ""
		if made.Diff != "" {
			v.add("files", format.Count(made.Changes, "change"))
			text = format.Fenced("diff", made.Diff) + "\n"
		} else {
			v.add("files", "none changed")
		}
		out := made.Output()
		if made.Message.Kind == inbox.Mail { // mail is not always markdown
			out = format.Fenced("", out)
		}
		v.answer(text + out)
		return nil
	})
}

// why shows the full reason why a message waits, in place of the message.
func (s *mailList) why(id int64) intent.Intent {
	return s.instead(id, "why", func(ctx context.Context, v *preview) error {
		text, err := s.Pool.Mail.Why(ctx, id)
		if err != nil {
			return err
		}
		v.head(fmt.Sprintf("why #%d waits · w show the message", id))
		v.plain(text)
		return nil
	})
}
