package turn

import (
	"context"
	"fmt"
	"runtime/debug"

	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/store"
)

// Turn returns the current turn; 0: none. Only code that the loop calls may use it.
func (l *Loop) Turn() int64 { return l.own.turn }

// Talk returns what the model is sent. Only code that the loop calls may use it.
func (l *Loop) Talk() *history.Talk { return &l.own.talk }

// who is the agent in its turn, as hooks are told of it.
func (l *Loop) who() hooks.Who { return hooks.Who{Info: l.Agent.Known(), Turn: l.own.turn} }

// readUpTo reads the entries up to sent into the talk that requests are made of. Anything a human's take appends later
// waits for the next request.
func (l *Loop) readUpTo(ctx context.Context, sent int64) error {
	if sent <= l.own.talk.Last {
		return nil
	}
	err := l.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error { return l.own.talk.Read(rx, l.Agent.ID, sent) })
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if l.own.counted == 0 {
		l.own.counted = l.own.talk.Counted()
	}
	return nil
}

// long is how many bytes of a conversation an agent at rest keeps in memory at most.
const long = 4 << 20

// trim drops what only requests need and, of a long conversation, all the rest, which the next turn reads from the
// transcript again. The memory of a long one goes back to the system at once: an agent at rest makes no garbage, so it
// might be long before the collector looks.
func (l *Loop) trim() {
	l.own.talk.Forget()
	if l.own.talk.Size() > long {
		l.forget()
		l.o.Go("give memory back", debug.FreeOSMemory)
	}
}

// forget drops the conversation, which the next turn reads from the transcript again.
func (l *Loop) forget() { l.own.talk = history.Talk{} }
