package sqlite

import (
	"cmp"
	"context"
	"sync"
	"time"

	"fantail/store/files"
)

// round is how often the files are looked at while nobody reads or writes.
const round = 3 * time.Second

// rounds are the looks at the files that no write asks for. A goroutine of theirs asks for the writer's turn for each;
// whoever's turn it is owns rests and told.
type rounds struct {
	every time.Duration // 0: round
	mu    sync.Mutex    // held while the goroutine begins or ends
	quit  chan struct{} // closed to end it; nil: there is none
	over  chan struct{} // closed once it has ended
	tell  func(error)
	vigil *files.Vigil // nil: there is none, and no rest
	rests bool         // there is nothing to look for until the vigil has news
	told  string       // what was told last; "": that all is in order
}

// Patrol has the files looked at every few seconds from now on, so that one that was
// deleted or replaced is noticed, and mended where that is possible, before the next
// write. It calls tell with each finding that differs from the one before; nil
// says that what was found is undone. Like a hook tell must be quick and not write.
func (db *DB) Patrol(tell func(error)) {
	r := &db.writer.rounds
	r.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell = tell
	if db.hears {
		r.vigil = files.NewVigil(db.start)
	}
	quit, over := make(chan struct{}), make(chan struct{})
	r.quit, r.over = quit, over
	db.start("store patrol", func() {
		defer close(over)
		r.walk(db, quit)
	})
}

// end ends the looks.
func (r *rounds) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quit == nil {
		return
	}
	close(r.quit)
	<-r.over
	r.vigil.Close()
	r.quit, r.vigil, r.rests = nil, nil, false
}

// walk has the files looked at until quit is closed, or nobody has the writer's turn any more.
func (r *rounds) walk(db *DB, quit <-chan struct{}) {
	tick := time.NewTicker(cmp.Or(r.every, round))
	defer tick.Stop()
	for {
		look := db.patrol
		if r.rests {
			tick.Stop()
			// The next look is a round away, so that all that is done together is seen together.
			look = func() {
				r.rests = false
				tick.Reset(cmp.Or(r.every, round))
			}
			select {
			case <-r.vigil.News():
			case <-quit:
				return
			}
		} else {
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
		err := db.do(context.Background(), &job{name: "patrol", raw: func() error {
			look()
			return nil
		}})
		if err != nil {
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
		r.rests = heard && err == nil
		return
	}
	r.told = said
	r.tell(err)
	if err != nil && db.examine() == nil {
		r.told = "" // mended: there is nothing that others could undo
	}
}
