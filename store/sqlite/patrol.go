package sqlite

import (
	"context"
	"time"
)

// round is how often the files are looked at while nobody reads or writes.
const round = 3 * time.Second

// rounds are the looks at the files that no write asks for. The writer's goroutine
// owns them.
type rounds struct {
	tick *time.Ticker // nil: nobody wants to hear
	tell func(error)
	told string // what was told last; "": that all is in order
}

// due is when the next look is.
func (r *rounds) due() <-chan time.Time {
	if r.tick == nil {
		return nil
	}
	return r.tick.C
}

func (r *rounds) end() {
	if r.tick != nil {
		r.tick.Stop()
	}
}

// Patrol has the files looked at every few seconds from now on, so that one that was
// deleted or replaced is noticed, and mended where that is possible, before the next
// write. The writer calls tell with each finding that differs from the one before; nil
// says that what was found is undone. Like a hook tell must be quick and not write.
func (db *DB) Patrol(ctx context.Context, tell func(error)) error {
	return db.onWriter(ctx, "patrol", func(*conn) error {
		r := &db.writer.rounds
		r.end()
		r.tick, r.tell = time.NewTicker(round), tell
		return nil
	})
}

// patrol looks at the files.
func (db *DB) patrol() {
	r, said := &db.writer.rounds, ""
	if db.writer.conn == nil {
		return // the next write opens them anew
	}
	err := db.examine()
	if err != nil {
		said = err.Error()
	}
	if said == r.told {
		return
	}
	r.told = said
	r.tell(err)
	if err != nil && db.examine() == nil {
		r.told = "" // mended: there is nothing that others could undo
	}
}
