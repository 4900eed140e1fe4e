package inbox

import (
	"context"
	"fmt"

	"fantail/store"
)

// Lane sorts messages by what they need from the human.
type Lane string

const (
	Needs  Lane = "needs"  // questions, approvals and urgent messages
	Failed Lane = "failed" // work that failed
	Done   Lane = "done"   // finished work with a result
	FYI    Lane = "fyi"    // everything else
)

// LaneOrder has all lanes, the most pressing first.
var LaneOrder = [...]Lane{Needs, Failed, Done, FYI}

// Lane is the lane of m. The column lane of its row has the same value.
func (m Message) Lane() Lane {
	switch {
	case m.Asks() || m.Loud():
		return Needs
	case m.Kind == Failure || m.Kind == Scheduled && m.Error != "":
		return Failed
	case m.Kind == Result || m.Kind == Scheduled:
		return Done
	}
	return FYI
}

// Asks reports whether m is a question or an approval: only an answer takes it.
func (m Message) Asks() bool { return m.Kind == Question || m.Kind == Approval }

// Loud reports whether m is urgent and its thread is not muted.
func (m Message) Loud() bool { return m.Priority == Urgent && !m.Muted }

// calls reports whether m calls a human who looks elsewhere by how it is sent: it is a reminder, or starts a turn. What
// is urgent, asks or reports a failure calls by what it is.
func (m Message) calls() bool {
	return (m.Kind == Reminder || m.Deliver == Wake) && m.Priority != Urgent && !m.Asks() && m.Kind != Failure
}

// Lanes counts the messages that wait for recipient in each lane, in constant time.
func (b *Inbox) Lanes(ctx context.Context, recipient int64) (map[Lane]int, error) {
	var t tally
	err := b.db.Read(ctx, func(rx *store.Rx) (err error) {
		t, err = kept(&rx.View, recipient)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	return map[Lane]int{Needs: t.needs, Failed: t.failed, Done: t.done, FYI: t.pending - t.needs - t.failed - t.done}, nil
}
