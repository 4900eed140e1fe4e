package llm

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// steady is a connection whose bytes arrive evenly, from begun on, as a socket's buffer would hold them.
type steady struct {
	net.Conn
	begun  time.Time
	every  time.Duration // for one event
	events int           // in all
	taken  int           // bytes
	waits  int
	closed atomic.Bool
}

const tick = "data: {\"token\":\"about sixty bytes of an event of a slow reply\"}\n\n"

func (s *steady) Read(b []byte) (int, error) {
	if s.taken == s.events*len(tick) || s.closed.Load() {
		return 0, io.EOF
	}
	if wait := time.Until(s.begun.Add(time.Duration(s.taken/len(tick)+1) * s.every)); wait > 0 {
		s.waits++
		<-time.After(wait)
	}
	ready := min(int(time.Since(s.begun)/s.every), s.events) * len(tick)
	n := copy(b, strings.Repeat(tick, s.events)[s.taken:ready])
	s.taken += n
	return n, nil
}

func (s *steady) Close() error {
	s.closed.Store(true)
	return nil
}

// A reply at a model's pace is read in gulps, late by no more than one; one that comes as fast as it can is never waited
// for, and a short one neither.
func TestBreath(t *testing.T) {
	for _, c := range []struct {
		name   string
		events int
		every  time.Duration
		rests  int           // at most
		waits  int           // for something to read, at most
		late   time.Duration // at most, at any event
	}{
		{"200 a second", 2000, 5 * time.Millisecond, 600, coalesceAfter + 1, coalesceDelay},
		{"1000 a second", 2000, time.Millisecond, 150, coalesceAfter + 1, coalesceDelay},
		{"40 a second", 400, 25 * time.Millisecond, 400, 400, coalesceDelay},
		{"a flood", 2000, time.Microsecond, 2000, 2000, 0},
		{"a short answer", coalesceAfter, 5 * time.Millisecond, coalesceAfter + 1, coalesceAfter, 0},
		{"ten a second", 100, 100 * time.Millisecond, 101, 100, 0},
	} {
		for name, buffer := range map[string]int{"": 4096, ", by TLS": 512} {
			t.Run(c.name+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &steady{begun: time.Now(), events: c.events, every: c.every}
					l, b := newCoalescingConn(s), make([]byte, buffer)
					var late time.Duration
					reads, rests := 0, 0
					for {
						before, first := time.Now(), s.taken/len(tick)+1
						if _, err := l.Read(b); err != nil {
							break
						}
						reads++
						if time.Since(before) > 0 {
							rests++
						}
						late = max(late, time.Since(s.begun)-time.Duration(first)*c.every)
					}
					if s.taken != c.events*len(tick) || rests > c.rests || s.waits > c.waits || late > c.late {
						t.Errorf("%d events, %d reads of which %d rested, %d waits, one %v late", s.taken/len(tick), reads, rests, s.waits, late)
					}
				})
			})
		}
	}
}

// A breath ends with its connection, and a pause of the reply ends the breaths.
func TestBreath_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steady{begun: time.Now(), events: 10000, every: 5 * time.Millisecond}
		l, b := newCoalescingConn(s), make([]byte, 4096)
		for range 200 {
			if _, err := l.Read(b); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		time.AfterFunc(time.Millisecond, func() { l.Close() })
		if _, err := l.Read(b); err != io.EOF || time.Since(began) != time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := l.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &steady{begun: time.Now(), events: 100, every: 5 * time.Millisecond}
		l, b := newCoalescingConn(s), make([]byte, 4096)
		for s.taken < 100*len(tick) {
			if _, err := l.Read(b); err != nil {
				t.Fatal(err)
			}
		}
		s.begun, s.taken = time.Now().Add(time.Second), 0 // the next reply
		for n := 1; n <= coalesceAfter; n++ {
			if _, err := l.Read(b); err != nil {
				t.Fatal(err)
			}
			if late := time.Since(s.begun.Add(time.Duration(n) * s.every)); late != 0 {
				t.Errorf("its token %d is %v late", n, late)
			}
		}
	})
}

// The connections of calls take breaths, by each protocol that net/http speaks.
func TestBreath_transport(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, tick)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		tr := transport()
		tr.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		if protocol == "HTTP/1.1" {
			tr.ForceAttemptHTTP2 = false
			tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
		}
		dial, dialed := tr.DialContext, []net.Conn(nil)
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			dialed = append(dialed, c)
			return c, err
		}
		res, err := (&http.Client{Transport: tr}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		tr.CloseIdleConnections()
		if _, rests := dialed[0].(*coalescingConn); err != nil || !rests || res.Proto != protocol || !bytes.Equal(text, []byte(tick)) {
			t.Errorf("%s: a %T, %s, %q, %v", protocol, dialed[0], res.Proto, text, err)
		}
	}
}
