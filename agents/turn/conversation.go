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

// who returns the agent and its turn for hooks.
func (l *Loop) who() hooks.Who { return hooks.Who{Info: l.Agent.Known(), Turn: l.own.turn} }

// readUpTo reads the entries up to sent into the talk from which requests are made. Entries that a
// human's take appends later wait for the next request.
func (l *Loop) readUpTo(ctx context.Context, sent int64) error {
	if sent <= l.own.talk.Last {
		return nil
	}
	room := 0 // an engine stores the conversation itself, and is told when it began
	if model, info := l.Agent.Present(); !isEngine(model) {
		room = history.Room(info.Window)
	}
	err := l.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error { return l.own.talk.Read(rx, l.Agent.ID, sent, room) })
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if l.own.counted == 0 {
		l.own.counted = l.own.talk.Counted()
	}
	return nil
}

// long is the largest conversation in bytes that an agent at rest keeps in memory.
const long = 4 << 20

// trim drops what only requests need and all of a long conversation, which the next turn rereads
// from the transcript. The memory of a long one is returned to the system at once: an agent at rest
// makes no garbage, so the collector might not run for a long time.
func (l *Loop) trim() {
	l.own.talk.Forget()
	if l.own.talk.Size() > long {
		l.forget()
		l.o.Go("give memory back", debug.FreeOSMemory)
	}
}

// forget drops the conversation, which the next turn rereads from the transcript.
func (l *Loop) forget() { l.own.talk = history.Talk{} }
