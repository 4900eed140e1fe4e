package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxReaders bounds the concurrent reads; others wait.
const maxReaders = 4

// readers are connections that only read. They are opened on demand and used last in, first out, so that a quiet
// program has one.
type readers struct {
	slots chan struct{} // a token for each Read that runs
	over  chan struct{} // closed: no more Reads

	mu   sync.Mutex
	idle []*conn
}

func (r *readers) init() {
	r.slots = make(chan struct{}, maxReaders)
	r.over = make(chan struct{})
}

// stop refuses new reads and waits for the running ones.
func (r *readers) stop() {
	close(r.over)
	for range maxReaders {
		r.slots <- struct{}{}
	}
}

// close closes the idle connections.
func (r *readers) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.idle {
		_ = c.close() // it only read
	}
	r.idle = nil
}

// pause blocks new reads until resume is called. It returns false if the running ones do not end within d.
func (r *readers) pause(d time.Duration) (resume func(), ok bool) {
	late := time.NewTimer(d)
	defer late.Stop()
	n := 0
	resume = func() {
		for range n {
			<-r.slots
		}
	}
	for ; n < maxReaders; n++ {
		select {
		case r.slots <- struct{}{}:
		case <-late.C:
			resume()
			return nil, false
		}
	}
	return resume, true
}

// Read runs f in a read transaction, which sees one snapshot. ctx bounds the wait for a connection.
func (db *DB) Read(ctx context.Context, f func(rx *Rx) error) (err error) {
	r := &db.readers
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	select {
	case <-r.over:
		return fmt.Errorf("read: %w", ErrClosed)
	default:
	}
	if err := errors.Join(db.usable(), db.reading.Load().moved()); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	select {
	case r.slots <- struct{}{}:
	case <-r.over:
		return fmt.Errorf("read: %w", ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("read: wait for a connection: %w", ctx.Err())
	}
	defer func() { <-r.slots }()

	r.mu.Lock()
	var c *conn
	if n := len(r.idle); n > 0 {
		c, r.idle = r.idle[n-1], r.idle[:n-1]
	}
	r.mu.Unlock()
	if c == nil {
		if c, err = db.connect(ctx, true); err != nil {
			return fmt.Errorf("read: %w", explain(err))
		}
	}
	if err := db.snapshot(c, f); err != nil {
		return err
	}
	return db.reading.Load().moved()
}

// snapshot runs f in a transaction of c and returns c to the pool.
func (db *DB) snapshot(c *conn, f func(rx *Rx) error) (err error) {
	rx := &Rx{View{c: c}}
	defer func() { // also when f panics
		rx.end()
		if e := c.rollback(); e != nil {
			err = errors.Join(err, e, c.close())
			return
		}
		db.readers.mu.Lock()
		db.readers.idle = append(db.readers.idle, c)
		db.readers.mu.Unlock()
	}()
	if _, err := c.exec("BEGIN"); err != nil {
		return fmt.Errorf("read: begin: %w", explain(err))
	}
	if err := f(rx); err != nil {
		return explain(err)
	}
	return nil
}
