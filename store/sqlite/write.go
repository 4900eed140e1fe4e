package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// maxBatch bounds the transactions of one COMMIT, and so how long the first of
// them waits.
const maxBatch = 128

// writer owns the writing connection. Its goroutine (serve) takes what has
// queued, runs it in one transaction and commits once: the queue that forms
// while one COMMIT waits for the disk is the next batch. A write's function
// runs on its caller's goroutine while the writer waits for it, so a panic in
// it unwinds where it belongs.
type writer struct {
	mu     sync.Mutex
	queue  []*job
	closed bool          // nothing is queued any more
	wake   chan struct{} // holds one token if the queue may have something
	ended  chan struct{} // closed by serve

	// Owned by serve.
	conn   *conn // nil: to be opened anew
	gate   gate
	rounds rounds
	batch  []*job
	// on names the write whose function or hooks run now.
	on atomic.Pointer[string]
}

// job is one Write on its way. The writer owns err, hooks and aborted, but
// between turn and ran, when the caller does. The callers of a batch hand the turn
// on among themselves: through the writer each would cost two changes of goroutines.
type job struct {
	name string
	raw  func(c *conn) error // set: not a transaction, the writer runs it itself

	turn chan *Tx      // to the caller: run
	ran  chan struct{} // the caller to the writer: err and hooks are set, of this one and those before it
	pass func()        // hands the turn to the next of the batch, where nothing went wrong; nil: to the writer
	done chan struct{} // closed: err is the result

	err     error
	aborted bool // the function panicked or ended its goroutine
	hooks   []func()
	panic   any // what a hook panicked with
}

func (w *writer) init() {
	w.wake = make(chan struct{}, 1)
	w.ended = make(chan struct{})
}

// stop lets what is queued run and waits for the end.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.nudge()
	<-w.ended
}

func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) put(j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("write %s: %w", j.name, ErrClosed)
	}
	w.queue = append(w.queue, j)
	w.nudge()
	return nil
}

// withdraw takes j back and reports whether the writer had not begun with it.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, q := range w.queue {
		if q == j {
			w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
			return true
		}
	}
	return false
}

// take waits for the next batch: transactions, or one raw job. An empty one says
// that it is time for a look; more is false at the end.
func (w *writer) take() (batch []*job, more bool) {
	for {
		select {
		case <-w.rounds.due():
			return nil, true
		default:
		}
		w.mu.Lock()
		n := 0
		for n < min(len(w.queue), maxBatch) && w.queue[n].raw == nil {
			n++
		}
		if n == 0 && len(w.queue) > 0 {
			n = 1
		}
		batch, closed := w.queue[:n:n], w.closed
		if w.queue = w.queue[n:]; len(w.queue) == 0 {
			w.queue = nil
		}
		w.mu.Unlock()
		if n > 0 || closed {
			return batch, n > 0
		}
		select {
		case <-w.wake:
		case <-w.rounds.stirred():
			w.rounds.resume()
		case <-w.rounds.due():
			return nil, true
		}
	}
}

// Write runs f in a write transaction and returns after its COMMIT, or with the
// error that undid it. f may run more than once (a batch that failed as a whole
// is tried again one by one), so it must only act on tx and on variables it sets
// anew. ctx bounds the wait for the writer, never a started transaction. The
// name says who writes; a Write inside a Write panics with both names.
//
// f runs on the caller's goroutine. If it panics, its transaction is rolled
// back and the panic goes on; transactions beside it are not touched. If a hook
// it hung panics, the transaction stands and Write panics with what the hook did.
func (db *DB) Write(ctx context.Context, name string, f func(tx *Tx) error) error {
	return db.do(ctx, &job{name: name}, f)
}

// onWriter runs f with the writer's connection, outside of any transaction.
func (db *DB) onWriter(ctx context.Context, name string, f func(c *conn) error) error {
	return db.do(ctx, &job{name: name, raw: f}, nil)
}

func (db *DB) do(ctx context.Context, j *job, f func(tx *Tx) error) error {
	if inWrite() {
		outer := "of another database"
		if on := db.writer.on.Load(); on != nil {
			outer = fmt.Sprintf("%q", *on)
		}
		panic(fmt.Sprintf("store: write %q inside write %s", j.name, outer))
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write %s: %w", j.name, err)
	}
	if why := db.ReadOnly(); why != nil && j.raw == nil {
		return fmt.Errorf("write %s: %w", j.name, why)
	}
	j.turn, j.done = make(chan *Tx), make(chan struct{})
	if err := db.writer.put(j); err != nil {
		return err
	}
	over := ctx.Done()
	for {
		select {
		case tx := <-j.turn:
			j.run(tx, f)
		case <-j.done:
			if j.panic != nil {
				panic(j.panic)
			}
			return j.err
		case <-over:
			if db.writer.withdraw(j) {
				return fmt.Errorf("write %s: wait for the writer: %w", j.name, ctx.Err())
			}
			over = nil
		}
	}
}

// run runs f on the caller's goroutine. When f does not return, it waits until
// the transaction is undone before the goroutine goes on unwinding. inWrite
// looks for this function on the stack.
//
//go:noinline
func (j *job) run(tx *Tx, f func(tx *Tx) error) {
	j.err, j.hooks, j.aborted = nil, nil, true
	ran := j.ran
	defer func() {
		tx.end()
		j.hooks = tx.hooks
		aborted := j.aborted
		if pass := j.pass; pass != nil && !aborted && j.err == nil {
			pass()
		} else {
			ran <- struct{}{}
		}
		if aborted {
			<-j.done
		}
	}()
	err := f(tx)
	if tx.broken != nil {
		err = tx.broken
	}
	j.err, j.aborted = err, false
}

// inWrite reports whether the calling goroutine is inside a write's function
// or hook, of any database: waiting there for a writer could wait for itself.
func inWrite() bool {
	run, hook := reflect.ValueOf((*job).run).Pointer(), reflect.ValueOf((*job).runHook).Pointer()
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if f := runtime.FuncForPC(pc - 1); f != nil && (f.Entry() == run || f.Entry() == hook) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// serve is the writer's goroutine.
func (db *DB) serve() {
	w := &db.writer
	defer func() {
		// After a regular end there is nothing left. A hook that ended the
		// goroutine must not leave its batch and the queue waiting for ever.
		w.mu.Lock()
		w.closed = true
		left := append(w.batch, w.queue...)
		w.batch, w.queue = nil, nil
		w.mu.Unlock()
		for _, j := range left {
			w.answer(j, fmt.Errorf("write %s: the writer's goroutine was ended by a hook: %w", j.name, ErrClosed))
		}
		if w.conn != nil {
			db.part()
		}
		w.gate.close()
		w.rounds.end()
		close(w.ended)
	}()
	for {
		batch, more := w.take()
		if !more {
			return
		}
		if len(batch) == 0 {
			db.patrol()
			continue
		}
		w.batch = batch
		if j := batch[0]; j.raw != nil {
			w.answer(j, db.raw(j))
		} else {
			db.commit(batch)
		}
		w.batch = nil
	}
}

// answer ends j, once.
func (w *writer) answer(j *job, err error) {
	select {
	case <-j.done:
	default:
		j.err = err
		close(j.done)
	}
}

func (db *DB) raw(j *job) error {
	c, err := db.writing()
	if err == nil {
		err = db.examine()
	}
	if err == nil {
		err = j.raw(c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, explain(err))
	}
	return nil
}

// writing is the writer's connection, opened anew if the last one broke.
func (db *DB) writing() (*conn, error) {
	w := &db.writer
	if w.conn == nil {
		if err := db.usable(); err != nil {
			return nil, err
		}
		if r := db.reading.Load(); r != nil {
			err := r.anew(db)
			return w.conn, err
		}
		c, err := db.connect(context.Background(), false)
		if err == nil && db.files.Lapsed() {
			err = db.hold(c)
		}
		if err != nil {
			return nil, fmt.Errorf("open the writer's connection: %w", err)
		}
		c.trace, c.withhold = db.trace, db.withhold
		// The look of the old connection doesn't count for the new one: -1 is
		// never a data_version, so the next Changed says yes.
		w.conn, db.version, db.sound = c, -1, false
	}
	return w.conn, nil
}

// commit runs batch in one transaction. If that fails, each of it is tried
// alone, so that one's error is only its own.
func (db *DB) commit(batch []*job) {
	w := &db.writer
	again, err := db.transact(batch)
	switch {
	case err == nil:
		for _, j := range batch {
			w.on.Store(&j.name)
			for _, hook := range j.hooks {
				j.runHook(hook)
			}
		}
		w.on.Store(nil)
		for _, j := range batch {
			w.answer(j, nil)
		}
	case again && len(batch) > 1:
		for _, j := range batch {
			if j.aborted {
				w.answer(j, err)
			} else {
				db.commit([]*job{j})
			}
		}
	default:
		for _, j := range batch {
			w.answer(j, err)
		}
	}
}

// runHook runs hook and keeps what it panics with for the caller. inWrite
// looks for this function on the stack.
//
//go:noinline
func (j *job) runHook(hook func()) {
	defer func() {
		if v := recover(); v != nil && j.panic == nil {
			j.panic = fmt.Sprintf("store: a hook of write %q panicked: %v\n\n%s", j.name, v, debug.Stack())
		}
	}()
	hook()
}

// transact runs batch in one transaction. On an error nothing of it is in the
// file, and again says whether trying one by one can help.
func (db *DB) transact(batch []*job) (again bool, err error) {
	w := &db.writer
	c, err := db.writing()
	if err != nil {
		return false, fmt.Errorf("write %s: %w", batch[0].name, explain(err))
	}
	defer w.gate.enter()()
	if _, err = c.exec("BEGIN IMMEDIATE"); err != nil {
		err = fmt.Errorf("write %s: begin: %w", batch[0].name, explain(err))
		return false, db.undo(c, err)
	}
	// Who holds the lock and then finds the files in their places writes where all
	// others read.
	if d := db.files.Glimpse(); d != nil {
		return false, fmt.Errorf("write %s: %w", batch[0].name, db.mend(d, c.rollback(), undone))
	}
	if err := current(db, c); err != nil {
		return false, db.undo(c, fmt.Errorf("write %s: %w", batch[0].name, explain(err)))
	}
	owed := new(debts)
	if j := w.relay(c, batch, owed, db.moment); j.aborted {
		return true, db.undo(c, fmt.Errorf("write %s: its function did not return", j.name))
	} else if j.err != nil {
		return true, db.undo(c, explain(j.err))
	}
	last := newTx(c, owed, db.moment())
	err = Settle(&last.View)
	if last.end(); err != nil {
		return true, db.undo(c, fmt.Errorf("write %s: %w", batch[0].name, explain(err)))
	}
	if _, err = c.exec("COMMIT"); err != nil {
		// A disk that failed to write or sync is in an unknown state: nobody is
		// tried again, and the connection forgets what it holds in memory.
		again = !undoes(err) || errors.Is(explain(err), ErrFull)
		return again, db.undo(c, fmt.Errorf("write %s: commit: %w", batch[0].name, explain(err)))
	}
	if d := db.files.Taken(); d != nil {
		return false, fmt.Errorf("write %s: it may or may not have been kept: %w", batch[0].name, db.mend(d, nil, ""))
	}
	return false, nil
}

// relay runs the functions of batch, one after the other, and returns the one that went wrong, or the last.
func (w *writer) relay(c *conn, batch []*job, owed *debts, now func() time.Time) *job {
	at := 0 // whoever's turn it is
	begin := func() {
		w.on.Store(&batch[at].name)
		batch[at].turn <- newTx(c, owed, now())
	}
	ran := make(chan struct{})
	for i, j := range batch {
		if j.ran, j.pass = ran, nil; i+1 < len(batch) {
			j.pass = func() {
				at++
				begin()
			}
		}
	}
	begin()
	<-ran
	w.on.Store(nil)
	return batch[at]
}

// current sees that no newer program changed the schema and whether another process committed. Only then can the
// schema be another one.
func current(db *DB, c *conn) error {
	if err := db.look(c); err != nil {
		return err
	}
	if db.sound {
		return nil
	}
	version, err := c.number("PRAGMA user_version")
	if err == nil && version > int64(db.schema) {
		err = newer(int(version), db.schema)
	}
	db.sound = err == nil
	return err
}

// undo rolls back and returns err. A connection that can't, or whose
// transaction failed for a reason of the disk, is given up.
func (db *DB) undo(c *conn, err error) error {
	rolled := c.rollback()
	if undoes(err) {
		if d := db.files.Damage(); d != nil { // that is why
			return errors.Join(db.mend(d, rolled, undone), err)
		}
	}
	if rolled != nil || (undoes(err) && !errors.Is(err, ErrFull) && !errors.Is(err, ErrBusy)) {
		db.writer.conn = nil
		err = errors.Join(err, rolled)
		_ = c.close() // it is broken; err says why
	}
	return err
}
