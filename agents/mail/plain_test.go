package mail

import (
	"fmt"
	"slices"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// TestPlain_asDecide: if there are no settings for mail, a seam asks the inbox for what its senders wanted instead of
// judging each message. The same messages enter.
//
// Spec: M-2.
func TestPlain_asDecide(t *testing.T) {
	seams := []Seam{{}, {Typed: true}, {Wake: true}, {Typed: true, Wake: true}, {Ends: true}}
	for _, kind := range []event.Kind{event.Main, event.Sub, event.Fork} {
		for _, doing := range []string{"", "streaming", "tool bash", "compacting"} {
			for _, at := range seams {
				if at.Ends && kind.HasPrompt() {
					continue // only the work of one that ends is done
				}
				t.Run(fmt.Sprintf("%s %q %+v", kind, doing, at), func(t *testing.T) {
					o := newOffice(t, doing, func(*policy.Overrides) {})
					o.info(o.id).Kind = kind
					o.allSorts()
					if err := o.db.Write(t.Context(), "enter", func(tx *store.Tx) error {
						s, err := o.Arrivals(tx, o.id, at)
						if err != nil {
							return err
						}
						if !s.policy.Plain() {
							t.Error("the policy is not plain")
						}
						judged := s
						if err := judged.pick(&tx.View, o.id); err != nil {
							return err
						}
						b := history.Writer{Agent: o.id, Tell: func([]history.Entry, bool) {}}.Batch(tx)
						if err := NewTakes(o.db, o.inbox, nil).Due(tx, b, o.id, 0, &s); err != nil {
							return err
						}
						var ids []int64
						for _, m := range s.Taken {
							ids = append(ids, m.ID)
						}
						if !slices.Equal(ids, judged.ids) {
							t.Errorf("%v enter; judged one by one, %v", ids, judged.ids)
						}
						if s.Wake && len(ids) == 0 {
							t.Error("it wakes for nothing")
						}
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// allSorts deposits one message of every sort that can wait.
func (o office) allSorts() {
	o.t.Helper()
	if err := o.db.Write(o.t.Context(), "deposit all sorts", func(tx *store.Tx) error {
		for _, deliver := range []inbox.Deliver{inbox.Hold, inbox.Next, inbox.Wake} {
			for _, kind := range []inbox.Kind{inbox.Mail, inbox.Result, inbox.Failure, inbox.Reminder, inbox.Question} {
				for _, pr := range []inbox.Priority{inbox.Low, inbox.Normal, inbox.Urgent} {
					for _, hops := range []int{0, inbox.MaxHops + 1} {
						for _, muted := range []bool{false, true} {
							id, err := o.inbox.Add(tx, inbox.Message{
								Recipient: o.id, From: "ci", Kind: kind, Priority: pr, Deliver: deliver, Hops: hops, Body: "x",
							})
							if err == nil && muted {
								_, err = o.inbox.Mute(tx, o.id, id, true)
							}
							if err != nil {
								return fmt.Errorf("%s %s %s: %w", deliver, kind, pr, err)
							}
						}
					}
				}
			}
		}
		return nil
	}); err != nil {
		o.t.Fatal(err)
	}
}
