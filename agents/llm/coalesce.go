package llm

import (
	"net"
	"sync"
	"time"
)

// A model's reply arrives in reads of a few bytes, and waking up for each costs more than all the work on it. After
// coalesceAfter short reads in a row the connection waits for coalesceDelay before each read, and then reads all that
// came meanwhile. It does so below TLS and HTTP/2, so their readers sleep as well. A read that fills its buffer is not
// short: more is there. A read that waits for longer than coalesceDelay gains nothing and ends the delays.
const (
	minReadWait   = time.Millisecond / 2
	coalesceAfter = 16 // drops
	coalesceDelay = 18 * time.Millisecond
)

// coalescingConn is a connection that joins short reads.
type coalescingConn struct {
	net.Conn
	shortReads int           // in a row
	bufferFull bool          // the last read filled its buffer
	closed     chan struct{} // closed by Close
	closeOnce  sync.Once
}

func newCoalescingConn(c net.Conn) *coalescingConn {
	return &coalescingConn{Conn: c, closed: make(chan struct{})}
}

// Read has one caller at a time.
func (l *coalescingConn) Read(b []byte) (int, error) {
	if l.shortReads >= coalesceAfter && !l.bufferFull {
		l.pause()
	}
	began := time.Now()
	n, err := l.Conn.Read(b)
	switch took := time.Since(began); {
	case took >= coalesceDelay:
		l.shortReads = 0
	case took >= minReadWait:
		l.shortReads++
	}
	l.bufferFull = n == len(b)
	return n, err
}

func (l *coalescingConn) pause() {
	t := time.NewTimer(coalesceDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.closed:
	}
}

// Close also ends a delay.
func (l *coalescingConn) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return l.Conn.Close()
}
