package llmtest

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Listener is a [net.Listener] whose connections are pipes in memory. Unlike
// sockets they do not keep fake time from passing.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewListener returns an open listener.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// DialContext connects to the listener; network and address do not matter. It
// is what an http.Transport dials with.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- spool(server):
		return client, nil
	case <-l.done:
		return nil, fmt.Errorf("dial in memory: %w", net.ErrClosed)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and DialContext; connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr is a name.
func (l *Listener) Addr() net.Addr { return memory{} }

type memory struct{}

func (memory) Network() string { return "memory" }
func (memory) String() string  { return "memory" }

// spooled is a pipe's end that is written to without waiting for the reader, as
// a socket is.
type spooled struct {
	net.Conn
	more chan struct{}

	mu     sync.Mutex
	text   []byte
	closed bool
	err    error
}

func spool(c net.Conn) net.Conn {
	s := &spooled{Conn: c, more: make(chan struct{}, 1)}
	go s.pump()
	return s
}

// pump writes the spooled bytes until all are written and the end is closed, or the reader is gone.
func (s *spooled) pump() {
	defer s.Conn.Close()
	for range s.more {
		s.mu.Lock()
		text, closed := s.text, s.closed
		s.text = nil
		s.mu.Unlock()
		if _, err := s.Conn.Write(text); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return
		}
		if closed {
			return
		}
	}
}

func (s *spooled) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	if s.err != nil {
		return 0, s.err
	}
	s.text = append(s.text, p...)
	s.wake()
	return len(p), nil
}

// Close lets what was written reach the reader.
func (s *spooled) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
	return nil
}

func (s *spooled) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}
