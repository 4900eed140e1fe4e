package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
)

// steady is a body whose bytes arrive evenly, from begun on, as a socket's
// buffer would hold them.
type steady struct {
	begun  time.Time
	every  time.Duration // for one event
	events int           // in all
	record bool          // a read brings one event, however many are there
	taken  int
	waits  int
}

const tick = "data: {\"token\":\"about sixty bytes of an event of a slow reply\"}\n\n"

func (s *steady) Read(b []byte) (int, error) {
	if s.taken == s.events*len(tick) {
		return 0, io.EOF
	}
	ready := func() int { return min(int(time.Since(s.begun)/s.every), s.events) * len(tick) }
	if wait := time.Until(s.begun.Add(time.Duration(s.taken/len(tick)+1) * s.every)); wait > 0 {
		s.waits++
		<-time.After(wait)
	}
	text := strings.Repeat(tick, s.events)[s.taken:ready()]
	if s.record {
		b = b[:len(tick)]
	}
	n := copy(b[:min(len(b), 4096)], text)
	s.taken += n
	return n, nil
}

func (s *steady) Close() error { return nil }

func (s *steady) RoundTrip(*http.Request) (*http.Response, error) {
	s.begun = time.Now()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: s}, nil
}

func (s *steady) call(t *testing.T, ctx context.Context) *Call {
	t.Helper()
	k := New(Peer{Name: "fake"}, &http.Client{Transport: s}).Call(ctx)
	req, err := http.NewRequestWithContext(k.Context(), http.MethodPost, "http://fake", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Do(req); err != nil {
		t.Fatal(err)
	}
	return k
}

// A reply at a model's pace is read in gulps, late by no more than one; one that
// comes as fast as it can is never waited for, and a short one neither.
func TestBreath(t *testing.T) {
	for _, c := range []struct {
		name   string
		events int
		every  time.Duration
		record bool
		waits  int           // for something to read, at most
		late   time.Duration // at most, at any event
	}{
		{"200 a second", 2000, 5 * time.Millisecond, false, 250, breath},
		{"200 a second over TLS", 2000, 5 * time.Millisecond, true, 250, breath},
		{"1000 a second over TLS", 2000, time.Millisecond, true, 100, breath},
		{"a flood", 2000, time.Microsecond, false, 2000, 0},
		{"a flood over TLS", 2000, time.Microsecond, true, 2000, 0},
		{"a short answer", trickle - 1, 5 * time.Millisecond, false, trickle, 0},
		{"ten a second", 100, 100 * time.Millisecond, false, 101, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steady{events: c.events, every: c.every, record: c.record}
				k := s.call(t, t.Context())
				defer k.Close()
				n := 0
				var late time.Duration
				for {
					if _, err := k.Next(); err != nil {
						break
					}
					n++
					late = max(late, time.Since(s.begun)-time.Duration(n)*c.every)
				}
				if n != c.events || s.waits > c.waits || late > c.late {
					t.Errorf("%d events, %d waits, one %v late", n, s.waits, late)
				}
			})
		})
	}
}

func TestBreathEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steady{events: 10000, every: 5 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		k := s.call(t, ctx)
		defer k.Close()
		for range 200 {
			if _, err := k.Next(); err != nil {
				t.Fatal(err)
			}
		}
		stop := time.AfterFunc(time.Millisecond, cancel)
		defer stop.Stop()
		began := time.Now()
		for {
			_, err := k.Next()
			if err == nil {
				continue
			}
			if err.Kind != llm.Cancelled || !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		if took := time.Since(began); took > 6*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
