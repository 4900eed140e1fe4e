package wire

import (
	"net"
	"sync"
	"time"
)

// A reply at a model's own pace comes in drops of a few bytes, and to be woken for each costs more than all that is
// done with it. After so many in a row the connection takes a breath before it reads, and then takes all that came
// meanwhile: one waking for each breath, below TLS and HTTP/2, whose own readers rest with it. A read that fills its
// buffer is no drop, there is more; one that waits for longer than a breath gains nothing by it and ends the rests.
const (
	waited  = time.Millisecond / 2
	trickle = 16 // drops
	breath  = 18 * time.Millisecond
)

// lung is a connection that takes breaths.
type lung struct {
	net.Conn
	drops  int           // reads in a row that waited, but none for long
	more   bool          // the last read filled its buffer
	closed chan struct{} // by Close
	close  sync.Once
}

func breathing(c net.Conn) *lung { return &lung{Conn: c, closed: make(chan struct{})} }

// Read has one caller at a time, as those of all that read connections have.
func (l *lung) Read(b []byte) (int, error) {
	if l.drops >= trickle && !l.more {
		l.breathe()
	}
	began := time.Now()
	n, err := l.Conn.Read(b)
	switch took := time.Since(began); {
	case took >= breath:
		l.drops = 0
	case took >= waited:
		l.drops++
	}
	l.more = n == len(b)
	return n, err
}

func (l *lung) breathe() {
	t := time.NewTimer(breath)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.closed:
	}
}

// Close ends a breath too.
func (l *lung) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Conn.Close()
}
