package acp

import (
	"context"
	"slices"
	"sync"

	"fantail/agents/engine"
)

// The size of the event queue. An agent has to wait while it is full. An empty queue takes any event.
const (
	maxEvents = 4096
	maxBytes  = 8 << 20
)

// event is an update of the session, a question of the agent, or the result of a request to it.
type event interface{}

// turnEnded is the response to session/prompt, or its error.
type turnEnded struct {
	response PromptResponse
	err      error
}

// steerResult is the response to a steering request.
type steerResult struct {
	input engine.Input
	taken bool
	err   error
}

// questionClosed means that a question was answered or withdrawn.
type questionClosed struct{}

// question is a request of the agent to the user. Its answer is sent to reply.
type question struct {
	ctx     context.Context // ends when the agent withdraws the question
	request any             // a RequestPermissionRequest or a CreateElicitationRequest
	reply   chan<- any      // the response or an error; buffered
}

// eventQueue holds the unread events of an agent in their order. It is safe for concurrent use.
type eventQueue struct {
	mu       sync.Mutex
	onReplay func(text string) // receives the user's messages of a replay; may be nil
	started  bool              // the replay is over
	queue    []queuedEvent     // the unread events are queue[head:]
	head     int
	bytes    int           // of the unread events
	ready    chan struct{} // a token: there is something in the queue
	notFull  *sync.Cond    // there is room in the queue
	done     chan struct{} // closed by close
	once     sync.Once
	onWake   func()             // set by watch
	wakesFor func(e event) bool // set by watch
}

// queuedEvent is an event and its size.
type queuedEvent struct {
	event
	bytes int // 0: it is no update
}

func newEventQueue(onReplay func(text string)) *eventQueue {
	n := &eventQueue{onReplay: onReplay, ready: make(chan struct{}, 1), done: make(chan struct{})}
	n.notFull = sync.NewCond(&n.mu)
	return n
}

// start ends the replay of the session: later events are new.
func (n *eventQueue) start() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.started, n.onReplay = true, nil
}

// close discards the unread events and all later ones.
func (n *eventQueue) close() {
	n.once.Do(func() { close(n.done) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue, n.head, n.bytes = nil, 0, 0
	n.notFull.Broadcast()
}

// addUpdate adds an update. It waits while the queue is full, and with it the agent.
func (n *eventQueue) addUpdate(u SessionUpdate, size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.started {
		if chunk, ok := u.(ContentChunk); ok && chunk.Kind == UserMessage && n.onReplay != nil {
			n.onReplay(chunk.Content.String())
		}
		return
	}
	for left := n.unread(); left > 0 && (left >= maxEvents || n.bytes+size > maxBytes) && !n.closed(); left = n.unread() {
		n.notFull.Wait()
	}
	n.appendEvent(queuedEvent{u, size})
}

// unread returns the number of unread events. The caller holds the mutex.
func (n *eventQueue) unread() int { return len(n.queue) - n.head }

func (n *eventQueue) closed() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}

// add adds an event that is no update of the agent. It never waits.
func (n *eventQueue) add(e event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.appendEvent(queuedEvent{e, 0})
}

// appendEvent appends to the queue. The caller holds the mutex.
func (n *eventQueue) appendEvent(h queuedEvent) {
	if n.closed() {
		return
	}
	if n.head == len(n.queue) { // what was heard is let go
		n.queue, n.head = nil, 0
	}
	n.queue, n.bytes = append(n.queue, h), n.bytes+h.bytes
	if n.onWake != nil && n.wakesFor(h.event) {
		n.onWake()
		n.onWake = nil
	}
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

// watch calls onWake once, when the queue holds an event for which wakesFor is true.
func (n *eventQueue) watch(stirring func(e event) bool, stirs func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.onWake, n.wakesFor = stirs, stirring; n.contains(stirring) {
		n.onWake()
		n.onWake = nil
	}
}

// unwatch ends watch, and reports whether the queue holds such an event.
func (n *eventQueue) unwatch() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.onWake = nil
	return n.wakesFor != nil && n.contains(n.wakesFor)
}

// contains reports whether is is true for an unread event. The caller holds the mutex.
func (n *eventQueue) contains(is func(e event) bool) bool {
	return slices.ContainsFunc(n.queue[n.head:], func(h queuedEvent) bool { return is(h.event) })
}

// next returns the next event, or false if there is none. A token in ready says that there may be more.
func (n *eventQueue) next() (event, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.unread() == 0 {
		return nil, false
	}
	h := n.queue[n.head]
	n.queue[n.head].event = nil
	n.bytes -= h.bytes
	if n.head++; n.head >= maxEvents { // it never runs empty while the agent is fast
		n.queue, n.head = append([]queuedEvent(nil), n.queue[n.head:]...), 0
	}
	n.notFull.Signal()
	return h.event, true
}

// putBack puts the event that next returned last back at the head of the queue.
func (n *eventQueue) putBack(e event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed() {
		return
	}
	if n.head == 0 {
		n.queue, n.head = append([]queuedEvent{{}}, n.queue...), 1
	}
	n.head--
	n.queue[n.head] = queuedEvent{e, 0}
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

// requestPermission and elicit queue a question of the agent and wait for its answer.
func (n *eventQueue) requestPermission(ctx context.Context, q RequestPermissionRequest) (RequestPermissionOutcome, error) {
	return askQueue[RequestPermissionOutcome](ctx, n, q)
}

func (n *eventQueue) elicit(ctx context.Context, q CreateElicitationRequest) (CreateElicitationResponse, error) {
	return askQueue[CreateElicitationResponse](ctx, n, q)
}

func askQueue[A any](ctx context.Context, n *eventQueue, q any) (answer A, err error) {
	reply := make(chan any, 1)
	n.add(question{ctx, q, reply})
	select {
	case a := <-reply:
		if err, failed := a.(error); failed {
			return answer, err
		}
		return a.(A), nil
	case <-ctx.Done():
		return answer, ctx.Err()
	case <-n.done:
		return answer, context.Canceled
	}
}
