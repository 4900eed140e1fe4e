package sqlite

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fantail/store/files"
)

// round is how often the files are looked at while nobody reads or writes.
const round = 3 * time.Second

// rounds are the looks at the files that no write asks for. A goroutine of theirs makes them, each when it has the
// writer's turn, and owns told.
type rounds struct {
	every time.Duration // 0: round
	mu    sync.Mutex    // held while the goroutine begins or ends
	over  bool          // there will be none any more
	quit  chan struct{} // closed to end it; nil: there is none
	ended chan struct{} // closed once it has ended
	tell  func(error)
	vigil *files.Vigil // nil: there is none, and no rest
	rests atomic.Bool  // there is nothing to look for until the vigil has news
	told  string       // what was told last; "": that all is in order
}

// Patrol has the files looked at every few seconds from now on, so that one that was
// deleted or replaced is noticed, and mended where that is possible, before the next
// write. It calls tell with each finding that differs from the one before; nil
// says that what was found is undone. Like a hook tell must be quick and not write.
// It does nothing once the database is closed.
func (db *DB) Patrol(tell func(error)) {
	r := &db.writer.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	if r.over {
		return
	}
	r.tell = tell
	if db.hears {
		r.vigil = files.NewVigil(db.start)
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	r.quit, r.ended = quit, ended
	db.start("store patrol", func() {
		defer close(ended)
		r.run(db, quit)
	})
}

// stop ends the looks for good.
func (r *rounds) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	r.over = true
}

// end ends the looks. The caller holds mu.
func (r *rounds) end() {
	if r.quit == nil {
		return
	}
	close(r.quit)
	<-r.ended
	r.vigil.Close()
	r.quit, r.vigil = nil, nil
	r.rests.Store(false)
}

// run has the files looked at until quit is closed.
func (r *rounds) run(db *DB, quit <-chan struct{}) {
	tick := time.NewTicker(cmp.Or(r.every, round))
	defer tick.Stop()
	look := func() error {
		db.patrol()
		return nil
	}
	for {
		var news <-chan struct{}
		if r.rests.Load() {
			news = r.vigil.News()
			tick.Stop()
		}
		select {
		case <-news: // the next look is a round away, so that all that is done together is seen together
			r.rests.Store(false)
			tick.Reset(cmp.Or(r.every, round))
			continue
		case <-tick.C:
		case <-quit:
			return
		}
		if err := db.do(context.Background(), &job{name: "patrol", raw: look}); err != nil {
			return // it is closed
		}
	}
}

// patrol looks at the files.
func (db *DB) patrol() {
	r, said := &db.writer.rounds, ""
	if db.writer.conn == nil {
		return // the next write opens them anew
	}
	heard := r.vigil.Begin(&db.files)
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
	if err != nil && db.examine() == nil {
		r.told = "" // mended: there is nothing that others could undo
	}
}
