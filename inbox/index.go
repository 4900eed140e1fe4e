package inbox

import (
	"context"
	"fmt"
	"time"

	"fantail/store"
)

const (
	// slice is how many messages one transaction indexes at most, for others wait for it, and how many may be left out:
	// alone each would cost more than its deposit. Who searches has the rest indexed first.
	slice = 256
	// farBehind is how many are indexed though others go on to deposit.
	farBehind = 8 * slice
	// lull is how long nobody deposits when what came is indexed.
	lull = 50 * time.Millisecond
)

// Words has messages found by their words.
type Words struct {
	db   *store.DB
	left chan struct{} // holds a token if somebody says that there may be a slice to index
}

// LeftOut has Index look whether messages are left out. Deposits of this inbox call it once in a slice; who sees that
// others deposited calls it for theirs.
func (w *Words) LeftOut() {
	select {
	case w.left <- struct{}{}:
	default: // it is told
	}
}

// Index keeps the words of messages found, until ctx ends or the database is closed: of what a migration left out at
// once, and of what comes when no more does for a moment. A slice at a time, so that others write in between. What goes
// wrong is told, and tried again when more comes.
func (w *Words) Index(ctx context.Context, trouble func(error)) {
	for err := catchUp(ctx, w.db, slice); ; err = w.follow(ctx) {
		if ctx.Err() != nil || store.Stopped(err) {
			return
		}
		if err != nil {
			trouble(err)
		}
	}
}

// follow waits for what comes, and indexes it.
func (w *Words) follow(ctx context.Context) error {
	select {
	case <-w.left:
	case <-ctx.Done():
		return ctx.Err()
	}
	tick := time.NewTicker(lull)
	defer tick.Stop()
	for before := int64(-1); ; {
		upTo, newest, err := indexed(ctx, w.db)
		switch {
		case err != nil:
			return err
		case newest == before || newest-upTo > farBehind:
			return catchUp(ctx, w.db, slice)
		}
		before = newest
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// indexed returns the last message that is found by its words, and the last that there is.
func indexed(ctx context.Context, db *store.DB) (upTo, newest int64, err error) {
	err = db.Read(ctx, func(rx *store.Rx) error {
		return rx.QueryRow(`SELECT message, (SELECT ifnull(max(id), 0) FROM messages) FROM words_upto`).Scan(&upTo, &newest)
	})
	return upTo, newest, err
}

// catchUp indexes what had come by now, if more than that many messages are not.
func catchUp(ctx context.Context, db *store.DB, behind int64) error {
	if db.ReadOnly() != nil {
		return nil // search looks at those itself
	}
	upTo, newest, err := indexed(ctx, db)
	if newest-upTo <= behind {
		return err
	}
	for err == nil && upTo < newest {
		err = db.Write(ctx, "index", func(tx *store.Tx) (err error) {
			upTo, err = index(tx, newest)
			return err
		})
	}
	return err
}

// index lets messages up to that one be found by their words, the oldest first and at most a slice. It returns the last
// that is.
func index(tx *store.Tx, newest int64) (upTo int64, err error) {
	var from int64
	err = tx.QueryRow(`SELECT message FROM words_upto`).Scan(&from)
	upTo = max(from, min(newest, from+slice))
	if err == nil && from < upTo {
		_, err = tx.Exec(`INSERT INTO words (rowid, place, sender, subject, tags, body, error)
			SELECT id, place, sender, subject, tags, body, error FROM message_words WHERE id > ? AND id <= ?`, from, upTo)
		if err == nil {
			_, err = tx.Exec(`UPDATE words_upto SET message = ?`, upTo)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("index the words of messages: %w", err)
	}
	return upTo, nil
}
