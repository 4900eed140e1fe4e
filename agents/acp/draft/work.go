package draft

import (
	"sync"

	"fantail/agents/acp/schema"
)

// mostEchoes is how many messages of a turn are known to have come in their place.
const mostEchoes = 1000

// State is what the agent says of what it does: something, or nothing any more.
type State struct {
	Busy bool
	Stop string // why it stopped; "": it does not say
	Code int    // of the error that it stopped for
	Why  string
}

// End is how a turn ended, as version 1 says it.
func (s State) End() schema.PromptResponse {
	if s.Stop == "" {
		s.Stop = "end_turn"
	}
	return schema.PromptResponse{Stop: s.Stop, Why: s.Why}
}

// Work is what goes on in a session: a turn of ours, or what the agent does by itself. An agent says only that it does
// something; whose that is its order says. It is safe for concurrent use.
type Work struct {
	mu   sync.Mutex
	busy bool
	turn *Turn // of ours that goes on; nil: none
}

// Turn is one of ours: from its first prompt until the agent does nothing any more and holds no prompt of it back.
type Turn struct {
	w        *Work
	waiting  int            // prompts that are not in the conversation yet
	in       bool           // one is
	came     map[string]int // messages of the user's, by their place among what came
	at       int            // how much came
	idle     int            // when it did nothing any more; 0: it does
	end      State          // of that
	stopping bool
	over     chan struct{}
}

// Begin begins a turn, whose first prompt is on its way.
func (w *Work) Begin() *Turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn = &Turn{w: w, waiting: 1, came: map[string]int{}, over: make(chan struct{})}
	return w.turn
}

// Goes returns the turn that goes on, with one prompt more on its way; nil: none does.
func (w *Work) Goes() *Turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn != nil {
		w.turn.waiting++
	}
	return w.turn
}

// Alone reports whether the agent does something that no turn of ours is for.
func (w *Work) Alone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy && w.turn == nil
}

// Arrived reports whether the prompt of the turn that goes on is in the conversation.
func (w *Work) Arrived() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turn == nil || w.turn.in
}

// Now takes a state. alone is what is to be told of what the agent does by itself; nil: nothing.
func (w *Work) Now(s State) (alone schema.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.busy
	w.busy = s.Busy
	t := w.turn
	switch {
	case t == nil && s.Busy != was:
		if s.Busy {
			return schema.Alone{Begins: true}
		}
		return schema.Alone{End: s.End()}
	case t == nil:
	case s.Busy:
		t.at++
		t.idle = 0
	case was || t.stopping: // what only says again that nothing goes on ends nothing
		t.at++
		t.idle, t.end = t.at, s
		t.ends()
	}
	return nil
}

// Came takes that a message of the user's is in its place.
func (w *Work) Came(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.turn; t != nil && len(t.came) < mostEchoes {
		t.at++
		t.came[message] = t.at
	}
}

// Accepted takes that a prompt is in the conversation, as that message.
func (t *Turn) Accepted(message string) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.waiting--
	t.in = true
	if at := t.came[message]; at == 0 || at > t.idle { // what ended was before it
		t.idle = 0
	}
	t.ends()
}

// Refused takes that a prompt never will be in the conversation.
func (t *Turn) Refused() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.waiting--
	t.ends()
}

// ends ends the turn if all of it is over. The caller holds the mutex.
func (t *Turn) ends() {
	if t.w.turn == t && t.idle > 0 && t.in && t.waiting == 0 {
		t.w.turn = nil
		close(t.over)
	}
}

// Stop says that the agent is told to end the turn.
func (t *Turn) Stop() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.stopping = true
}

// Over is closed when it has ended; End says how.
func (t *Turn) Over() <-chan struct{} { return t.over }

func (t *Turn) End() State {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.end.Stop == "" && t.stopping {
		t.end.Stop = "cancelled"
	}
	return t.end
}

// Leave says that nobody waits for its end any more.
func (t *Turn) Leave() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if t.w.turn == t {
		t.w.turn = nil
	}
}
