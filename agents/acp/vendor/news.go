package vendor

import (
	"context"
	"slices"
	"sync"

	"fantail/agents/acp/schema"
	"fantail/agents/engine"
)

// How much an agent may say before anybody listens; then it has to wait. There is always room for one thing.
const (
	most      = 4096
	mostBytes = 8 << 20
)

// event is one thing that came from the agent: an update of its session, a question, or what became of what it was sent.
type event interface{}

// over is that a turn of its has ended.
type over struct {
	r   schema.PromptResponse
	err error
}

// steered is that words were put into its turn, or not.
type steered struct {
	w     engine.Words
	taken bool
	err   error
}

// settled is that a question was answered, or is none any more.
type settled struct{}

// asked is a question whose answer goes to whoever reads reply.
type asked struct {
	ctx   context.Context // ends when the agent does not wait for it any more
	ask   any             // a schema.PermissionRequest or a schema.ElicitRequest
	reply chan<- any      // a schema.Outcome, a schema.ElicitResponse or an error; holds one
}

// news is what came from an agent and was not heard yet, in its order. It is safe for concurrent use.
type news struct {
	mu       sync.Mutex
	replayed func(text string) // hears the user's words while a session is loaded; nil: nobody does
	begun    bool              // what comes now is new
	queue    []heard           // what is to be heard stands from at on
	at       int
	size     int           // of that, in bytes
	came     chan struct{} // a token: there is something in the queue
	room     *sync.Cond    // there is room in the queue
	over     chan struct{} // closed when nobody listens any more
	once     sync.Once
	stirs    func()             // is told what comes while nobody listens, the first of it; nil: somebody does
	stirring func(e event) bool // what that is
}

// heard is an event as it came.
type heard struct {
	event
	size int // in bytes; 0: it is not the agent's own to say
}

func newNews(replayed func(text string)) *news {
	n := &news{replayed: replayed, came: make(chan struct{}, 1), over: make(chan struct{})}
	n.room = sync.NewCond(&n.mu)
	return n
}

// begin says that what was said before has been replayed.
func (n *news) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.begun, n.replayed = true, nil
}

// end says that nobody listens any more.
func (n *news) end() {
	n.once.Do(func() { close(n.over) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue, n.at, n.size = nil, 0, 0
	n.room.Broadcast()
}

// hear takes an update. While much is unheard it waits, and with it the agent.
func (n *news) hear(u schema.Update, size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.begun {
		if chunk, ok := u.(schema.Chunk); ok && chunk.Of == schema.Heard && n.replayed != nil {
			n.replayed(chunk.Block.Words())
		}
		return
	}
	for left := n.left(); left > 0 && (left >= most || n.size+size > mostBytes) && !n.ended(); left = n.left() {
		n.room.Wait()
	}
	n.add(heard{u, size})
}

// left is how many things are to be heard. The caller holds the mutex.
func (n *news) left() int { return len(n.queue) - n.at }

func (n *news) ended() bool {
	select {
	case <-n.over:
		return true
	default:
		return false
	}
}

// put takes what is not the agent's own to say, and so never waits.
func (n *news) put(e event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.add(heard{e, 0})
}

// add appends to the queue. The caller holds the mutex.
func (n *news) add(h heard) {
	if n.ended() {
		return
	}
	if n.at == len(n.queue) { // what was heard is let go
		n.queue, n.at = nil, 0
	}
	n.queue, n.size = append(n.queue, h), n.size+h.size
	if n.stirs != nil && n.stirring(h.event) {
		n.stirs()
		n.stirs = nil
	}
	select {
	case n.came <- struct{}{}:
	default:
	}
}

// rest says that nobody listens for a while. stirs is called once something comes, or has, that is one of those.
func (n *news) rest(stirring func(e event) bool, stirs func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stirs, n.stirring = stirs, stirring; n.holds(stirring) {
		n.stirs()
		n.stirs = nil
	}
}

// wakes says that somebody listens, and reports whether what came meanwhile is one of those that stir.
func (n *news) wakes() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stirs = nil
	return n.stirring != nil && n.holds(n.stirring)
}

// holds reports whether something unheard is one of those. The caller holds the mutex.
func (n *news) holds(is func(e event) bool) bool {
	return slices.ContainsFunc(n.queue[n.at:], func(h heard) bool { return is(h.event) })
}

// take returns what came next, or false if nothing has. A token in came says that there may be more.
func (n *news) take() (event, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left() == 0 {
		return nil, false
	}
	h := n.queue[n.at]
	n.queue[n.at].event = nil
	n.size -= h.size
	if n.at++; n.at >= most { // it never runs empty while the agent is fast
		n.queue, n.at = append([]heard(nil), n.queue[n.at:]...), 0
	}
	n.room.Signal()
	return h.event, true
}

// back puts the event that was taken last back at the queue's beginning.
func (n *news) back(e event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended() {
		return
	}
	if n.at == 0 {
		n.queue, n.at = append([]heard{{}}, n.queue...), 1
	}
	n.at--
	n.queue[n.at] = heard{e, 0}
	select {
	case n.came <- struct{}{}:
	default:
	}
}

// permit and elicit put a question of the agent's in its place among what it says.
func (n *news) permit(ctx context.Context, q schema.PermissionRequest) (schema.Outcome, error) {
	return await[schema.Outcome](ctx, n, q)
}

func (n *news) elicit(ctx context.Context, q schema.ElicitRequest) (schema.ElicitResponse, error) {
	return await[schema.ElicitResponse](ctx, n, q)
}

func await[A any](ctx context.Context, n *news, q any) (answer A, err error) {
	reply := make(chan any, 1)
	n.put(asked{ctx, q, reply})
	select {
	case a := <-reply:
		if err, failed := a.(error); failed {
			return answer, err
		}
		return a.(A), nil
	case <-ctx.Done():
		return answer, ctx.Err()
	case <-n.over:
		return answer, context.Canceled
	}
}
