package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// round is the interval between checks of the files.
const round = 3 * time.Second

// rounds are the checks of the files between writes. Their goroutine runs each in the writer's turn, and owns told and
// lost.
type rounds struct {
	every time.Duration // 0: round
	quit  chan struct{} // closed to end it; nil: it never began
	ended chan struct{} // closed once it has ended
	tell  func(error)
	watch *Watcher    // nil: there is none, and no rest
	rests atomic.Bool // no check until the watcher has news
	told  string      // the last result; "": no damage
	lost  int         // consecutive checks without the files' directory
}

// returns is the limit of consecutive checks without the files' directory: a file system may be being remounted.
const returns = 4

// Patrol starts checks of the files every few seconds, so that a deleted or replaced file is noticed before the next
// write. If their directory is another one or missing for a few checks in a row, the DB is stopped. Patrol calls tell
// with each result that differs from the one before; nil says that the damage is undone. Like a hook tell must be quick
// and not write. Call Patrol once, and not concurrently with Close.
func (db *DB) Patrol(tell func(error)) {
	r := &db.rounds
	r.tell, r.quit, r.ended = tell, make(chan struct{}), make(chan struct{})
	if db.hears {
		r.watch = NewWatcher(db.start)
	}
	db.start("store patrol", func() {
		defer close(r.ended)
		r.run(db)
	})
}

// stop ends the checks.
func (r *rounds) stop() {
	if r.quit == nil {
		return // they never began
	}
	close(r.quit)
	<-r.ended
	r.watch.Close()
}

// run checks the files until quit is closed.
func (r *rounds) run(db *DB) {
	tick := time.NewTicker(cmp.Or(r.every, round))
	defer tick.Stop()
	look := func() error {
		db.patrol()
		return nil
	}
	for {
		var news <-chan struct{}
		if r.rests.Load() {
			news = r.watch.News()
			tick.Stop()
		}
		select {
		case <-news: // the next check is a round away, so that simultaneous changes are seen together
			r.rests.Store(false)
			tick.Reset(cmp.Or(r.every, round))
			continue
		case <-tick.C:
		case <-r.quit:
			return
		}
		if err := db.do(context.Background(), &job{name: "patrol", raw: look}); err != nil {
			return // it is closed
		}
	}
}

// patrol checks the files once.
func (db *DB) patrol() {
	r, said := &db.rounds, ""
	if r.lost++; !db.files.Lost() {
		r.lost = 0
	}
	if r.lost == returns && db.usable() == nil {
		stop := fmt.Errorf("%w: the directory of %s is gone. What was acknowledged is where its files are now, if they are anywhere", ErrStopped, db.path)
		db.stopped.Store(&stop)
	}
	if db.writer.conn == nil && db.usable() == nil {
		return // the next write reopens them
	}
	heard := r.watch.Begin(&db.files)
	err := db.examine()
	if err != nil {
		said = err.Error()
	}
	if said == r.told {
		r.rests.Store(heard && err == nil)
		return
	}
	r.told = said
	r.tell(err)
}
