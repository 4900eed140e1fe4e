package sqlite

import (
	"cmp"
	"context"
	"time"

	"fantail/store/files"
)

// round is how often the files are looked at while nobody reads or writes.
const round = 3 * time.Second

// rounds are the looks at the files that no write asks for. The writer's goroutine
// owns them.
type rounds struct {
	every time.Duration // 0: round
	tick  *time.Ticker  // nil: nobody wants to hear
	vigil *files.Vigil  // nil: there is none, and no rest
	rests bool          // there is nothing to look for until the vigil has news
	tell  func(error)
	told  string // what was told last; "": that all is in order
}

// due is when the next look is.
func (r *rounds) due() <-chan time.Time {
	if r.tick == nil {
		return nil
	}
	return r.tick.C
}

// stirred is when something is done to the files during a rest.
func (r *rounds) stirred() <-chan struct{} {
	if !r.rests {
		return nil
	}
	return r.vigil.News()
}

// resume ends a rest: the next look is a round away, so that all that is done together is seen together.
func (r *rounds) resume() {
	r.rests = false
	r.tick.Reset(cmp.Or(r.every, round))
}

func (r *rounds) end() {
	if r.tick != nil {
		r.tick.Stop()
	}
	r.vigil.Close()
	r.vigil, r.rests = nil, false
}

// Patrol has the files looked at every few seconds from now on, so that one that was
// deleted or replaced is noticed, and mended where that is possible, before the next
// write. The writer calls tell with each finding that differs from the one before; nil
// says that what was found is undone. Like a hook tell must be quick and not write.
func (db *DB) Patrol(ctx context.Context, tell func(error)) error {
	return db.onWriter(ctx, "patrol", func(*conn) error {
		r := &db.writer.rounds
		r.end()
		r.tick, r.tell = time.NewTicker(cmp.Or(r.every, round)), tell
		if db.hears {
			r.vigil = files.NewVigil(db.start)
		}
		return nil
	})
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
		if r.rests = heard && err == nil; r.rests {
			r.tick.Stop()
		}
		return
	}
	r.told = said
	r.tell(err)
	if err != nil && db.examine() == nil {
		r.told = "" // mended: there is nothing that others could undo
	}
}
