package host

import (
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"fantail/ui/screen/wire"
)

// painter writes to a screen and never waits for it. A screen that reads nothing for a while is stalled: queued paint
// is dropped, and once the screen reads again everything is set and painted anew.
type painter struct {
	conn    net.Conn
	stalled func(is bool) // called by the painter's goroutine

	mu     sync.Mutex
	queue  []frame
	size   int // of the paint in it, in bytes
	behind bool
	over   bool          // nothing more is taken
	more   chan struct{} // holds a token when there is something to write
	quit   chan struct{} // closed when the connection is
	done   chan struct{} // closed once everything is written, or can't be
}

type frame struct {
	bytes   []byte
	painted bool // may be dropped
}

// A screen is stalled if it reads nothing for that long, or if that many bytes wait for it.
const (
	stallsAfter = 5 * time.Second
	stallsAt    = 4 << 20
)

// endsWithin is how long a screen may take to end.
const endsWithin = 300 * time.Millisecond

func newPainter(conn net.Conn, stalled func(is bool)) *painter {
	return &painter{conn: conn, stalled: stalled, more: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// Write takes what the program paints.
func (p *painter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.behind || p.over {
		return len(b), nil
	}
	for rest := b; len(rest) > 0; {
		n := min(len(rest), wire.MaxFrame)
		p.queue = append(p.queue, frame{wire.Append(nil, wire.Paint, rest[:n]), true})
		p.size += n
		rest = rest[n:]
	}
	if p.size > stallsAt {
		p.dropLocked()
	}
	p.wakeLocked()
	return len(b), nil
}

// send queues a frame after all that was painted so far. The caller must not exceed the frame limit.
func (p *painter) send(k wire.Kind, f wire.Fields) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.queue = append(p.queue, frame{bytes: wire.Append(nil, k, f.Bytes())})
		p.wakeLocked()
	}
}

// bye makes the screen end; nothing is sent after it. It waits a moment until the goodbye is written. It truncates
// says to fit a frame: the screen would reject a longer one and take its host for lost.
func (p *painter) bye(code int, says []string) {
	var f wire.Fields
	f.Add(wire.Code, strconv.Itoa(code))
	for _, s := range says {
		f.Add(wire.Say, s)
	}
	p.last(f)
}

// again makes the screen look for another host.
func (p *painter) again() { p.last(wire.Fields{wire.Again + "=yes"}) }

// last sends a goodbye.
func (p *painter) last(f wire.Fields) {
	body := f.Bytes()
	body = body[:min(len(body), wire.MaxFrame)]
	p.mu.Lock()
	if !p.over {
		p.queue = append(p.queue, frame{bytes: wire.Append(nil, wire.Bye, body)})
		p.over = true
		p.wakeLocked()
	}
	p.mu.Unlock()
	late := time.NewTimer(endsWithin)
	defer late.Stop()
	select {
	case <-p.done:
	case <-late.C:
	}
}

func (p *painter) wakeLocked() {
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *painter) dropLocked() {
	kept := p.queue[:0]
	for _, f := range p.queue {
		if !f.painted {
			kept = append(kept, f)
		}
	}
	p.queue, p.size, p.behind = kept, 0, true
}

// take takes everything there is to write.
func (p *painter) take() (b []byte, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.queue {
		b = append(b, f.bytes...)
	}
	p.queue, p.size = nil, 0
	return b, p.over
}

// run writes until the screen is gone, or has been sent its goodbye.
func (p *painter) run() {
	defer close(p.done)
	told := false
	for {
		select {
		case <-p.more:
		case <-p.quit:
			return
		}
		b, over := p.take()
		for len(b) > 0 {
			_ = p.conn.SetWriteDeadline(time.Now().Add(stallsAfter))
			n, err := p.conn.Write(b)
			if b = b[n:]; err == nil {
				break
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				p.mu.Lock()
				p.over = true
				p.mu.Unlock()
				return
			}
			if n > 0 {
				continue // it is slow
			}
			p.mu.Lock()
			p.dropLocked()
			p.mu.Unlock()
			if !told {
				told = true
				p.stalled(true)
			}
		}
		p.mu.Lock()
		was := p.behind
		p.behind = false
		p.mu.Unlock()
		if was {
			told = false
			p.stalled(false)
		}
		if over {
			return
		}
	}
}
