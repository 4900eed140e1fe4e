package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
)

// job is a running call of Write. The holder of the writer's turn owns err, hooks and alone.
type job struct {
	name string
	f    func(tx *Tx) error
	raw  func() error // set: not a transaction, its caller runs it with the turn

	first bool      // it is its caller's turn, which can't be withdrawn; writer.mu guards it
	told  chan news // tells its caller one of the two, once

	err   error
	alone bool // a batch that it was in failed
	hooks []func()
	panic any // value of a hook's panic
}

// news tells the caller of a Write to go on.
type news bool

const (
	itsTurn news = true
	isOver  news = false // err is the result
)

// apart reports whether j can't share a transaction.
func (j *job) apart() bool { return j.raw != nil || j.alone }

// errUnreturned is the error of a function that panicked or ended its goroutine.
var errUnreturned = errors.New("its function did not return")

// Write runs f in a write transaction and returns after its COMMIT, or with the error that undid it. f may run more
// than once (a batch that failed as a whole is tried again one by one), so it must only act on tx and on variables that
// it sets anew. ctx bounds the wait for the writer, never a started transaction. The name identifies the writer; a
// Write inside a Write panics with both names.
//
// f may run on the goroutine of another Write, in one batch with it. If it panics, its transaction is rolled back and
// it runs again, alone and on its caller's goroutine, where the panic continues; the batch's other transactions are not
// affected. It must not end its goroutine: that may be another caller's, whose Write would not return. Neither must a
// hook. If one of its hooks panics, the transaction is still committed and Write panics with the hook's value.
func (db *DB) Write(ctx context.Context, name string, f func(tx *Tx) error) error {
	return db.do(ctx, &job{name: name, f: f})
}

// onWriter runs f with the writer's connection, outside of any transaction.
func (db *DB) onWriter(ctx context.Context, name string, f func(c *conn) error) error {
	return db.do(ctx, &job{name: name, raw: func() error {
		c, err := db.writing()
		if err == nil {
			err = db.examine()
		}
		if err == nil {
			err = f(c)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, explain(err))
		}
		return nil
	}})
}

func (db *DB) do(ctx context.Context, j *job) error {
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
	j.told = make(chan news, 1)
	if err := db.writer.put(j); err != nil {
		return err
	}
	over := ctx.Done()
	for {
		select {
		case n := <-j.told:
			if n == itsTurn {
				db.serve(j)
			}
		case <-over:
			if db.writer.withdraw(j) {
				return fmt.Errorf("write %s: wait for the writer: %w", j.name, ctx.Err())
			}
			over = nil
			continue
		}
		if j.panic != nil {
			panic(j.panic)
		}
		return j.err
	}
}

// run runs the function. inWrite looks for run on the stack.
//
//go:noinline
func (j *job) run(tx *Tx) {
	j.err, j.hooks = errUnreturned, nil
	defer tx.end()
	err := j.f(tx)
	if tx.broken != nil {
		err = tx.broken
	}
	j.err, j.hooks = err, tx.hooks
}

// runElsewhere is run on another caller's goroutine. If the function panics, its own caller gets the panic when it runs
// alone.
func (j *job) runElsewhere(tx *Tx) {
	defer func() { _ = recover() }()
	j.run(tx)
}

// inWrite reports whether the calling goroutine is inside a write's function or hook, of any database: if it waited
// there for a writer it could wait for itself.
func inWrite() bool {
	const longer = 1 << 12 // than either, in bytes: a larger offset from its entry means another function
	run, hook := reflect.ValueOf((*job).run).Pointer(), reflect.ValueOf((*job).runHook).Pointer()
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if pc-run > longer && pc-hook > longer {
				continue
			}
			if f := runtime.FuncForPC(pc - 1); f != nil && (f.Entry() == run || f.Entry() == hook) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// writing is the writer's connection, reopened if the last one broke.
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
		if err == nil {
			if err = db.hold(c); err != nil {
				err = errors.Join(err, c.close())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("open the writer's connection: %w", err)
		}
		c.trace, c.withhold = db.trace, db.withhold
		// The state of the old connection doesn't apply to the new one: -1 is never a data_version, so the next Changed
		// returns true.
		w.conn, db.version, db.sound = c, -1, false
	}
	return w.conn, nil
}

// commit runs the batch in one transaction. If that fails, commit tries each job alone, so that each gets only its own
// error: the first at once, the others when they have the turn.
func (db *DB) commit() {
	w := &db.writer
	again, err := db.transact()
	if err != nil && again && len(w.batch) > 1 {
		w.setApart()
		_, err = db.transact()
	}
	defer func() { // a hook may end the goroutine
		for i, j := range w.batch {
			if j.err = err; i > 0 { // the first job's caller commits
				j.told <- isOver
			}
		}
	}()
	if err == nil {
		w.ring()
	}
}

// ring runs the hooks of the batch.
func (w *writer) ring() {
	for _, j := range w.batch {
		w.on.Store(&j.name)
		for len(j.hooks) > 0 {
			hook := j.hooks[0]
			j.hooks = j.hooks[1:]
			j.runHook(hook, w.ring)
		}
	}
	w.on.Store(nil)
}

// runHook runs hook and stores its panic for the caller. If the hook does not return, runHook runs rest: the hook may
// end the goroutine. inWrite looks for this function on the stack.
//
//go:noinline
func (j *job) runHook(hook, rest func()) {
	returned := false
	defer func() {
		if v := recover(); v != nil && j.panic == nil {
			j.panic = fmt.Sprintf("store: a hook of write %q panicked: %v\n\n%s", j.name, v, debug.Stack())
		}
		if !returned {
			rest()
		}
	}()
	hook()
	returned = true
}

// transact runs the batch in one transaction. On an error the file is unchanged, and again says whether trying one by
// one can help.
func (db *DB) transact() (again bool, err error) {
	w := &db.writer
	c, err := db.writing()
	if err != nil {
		return false, fmt.Errorf("write %s: %w", w.batch[0].name, explain(err))
	}
	defer w.gate.enter()()
	returned := false
	defer func() {
		w.on.Store(nil)
		if !returned || err != nil {
			c.known = nil
		}
		if !returned {
			_ = db.undo(c, nil) // the panic or exit has the cause
			w.setApart()
		}
	}()
	again, err = db.attempt(c)
	returned = true
	return again, err
}

// attempt is transact with the writer's connection. If the function of the first job panics, or any function ends the
// goroutine, it leaves the transaction open.
func (db *DB) attempt(c *conn) (again bool, err error) {
	w := &db.writer
	if _, err = c.exec("BEGIN IMMEDIATE"); err != nil {
		err = fmt.Errorf("write %s: begin: %w", w.batch[0].name, explain(err))
		return false, db.undo(c, err)
	}
	// If the lock is held and the files are in their places, the write goes where all others read.
	if d := db.files.Damage(); d != nil {
		rolled := c.rollback()
		return false, fmt.Errorf("write %s: nothing of it was kept: %w", w.batch[0].name, errors.Join(db.damaged(d), rolled))
	}
	if err := current(db, c); err != nil {
		return false, db.undo(c, fmt.Errorf("write %s: %w", w.batch[0].name, explain(err)))
	}
	owed := new(debts)
	for i := 0; i < len(w.batch) || w.more(); i++ {
		j := w.batch[i]
		w.on.Store(&j.name)
		if tx := newTx(c, owed, db.moment()); i == 0 {
			j.run(tx)
		} else {
			j.runElsewhere(tx)
		}
		if j.err != nil {
			return true, db.undo(c, explain(j.err))
		}
	}
	last := newTx(c, owed, db.moment())
	err = Settle(&last.View)
	if last.end(); err != nil {
		return true, db.undo(c, fmt.Errorf("write %s: %w", w.batch[0].name, explain(err)))
	}
	if _, err = c.exec("COMMIT"); err != nil {
		// A disk that failed to write or sync is in an unknown state: no job is tried again, and the connection drops
		// its pages.
		again = !undoes(err) || errors.Is(explain(err), ErrFull)
		return again, db.undo(c, fmt.Errorf("write %s: commit: %w", w.batch[0].name, explain(err)))
	}
	if c.left, err = c.seen(); err != nil {
		c.left = unseen // then the next write checks
	}
	if d := db.files.Damage(); d != nil { // rows that no process will find are not acknowledged
		return false, fmt.Errorf("write %s: it may or may not have been kept: %w", w.batch[0].name, db.damaged(d))
	}
	return false, nil
}

// current checks that no newer program changed the schema, and whether another process committed. Only a commit can
// change the schema.
func current(db *DB, c *conn) error {
	seen, err := c.seen()
	if err == nil && seen != c.left {
		err = db.look(c)
	}
	if err != nil {
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

// undo rolls back and returns err. It gives up the connection if that fails, or if the transaction failed because of
// the disk.
func (db *DB) undo(c *conn, err error) error {
	rolled := c.rollback()
	if undoes(err) {
		if d := db.files.Damage(); d != nil { // that is why
			return fmt.Errorf("%w (%w)", db.damaged(d), errors.Join(err, rolled))
		}
	}
	if rolled != nil || (undoes(err) && !errors.Is(err, ErrFull) && !errors.Is(err, ErrBusy)) {
		db.writer.conn = nil
		err = errors.Join(err, rolled)
		_ = c.close() // it is broken; err has the cause
	}
	return err
}
