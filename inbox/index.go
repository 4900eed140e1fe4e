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
	left chan struct{} // holds a token if a slice or more is left out
}

// Index keeps the words of messages found, until ctx ends: of what a migration left out at once, and of what comes when
// no more does for a moment, so that no deposit waits for it. A slice at a time, so that others write in between.
func (w *Words) Index(ctx context.Context) error {
	for {
		if err := catchUp(ctx, w.db, slice); err != nil {
			return err
		}
		select {
		case <-w.left:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := settled(ctx, w.db); err != nil {
			return err
		}
	}
}

// settled waits until nobody deposits for a moment, or far too many messages are not indexed.
func settled(ctx context.Context, db *store.DB) error {
	tick := time.NewTicker(lull)
	defer tick.Stop()
	for before := int64(-1); ; {
		upTo, newest, err := indexed(ctx, db)
		if err != nil || newest == before || newest-upTo > farBehind {
			return err
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

// catchUp indexes what came last, if more than that many messages are not.
func catchUp(ctx context.Context, db *store.DB, behind int64) error {
	for db.ReadOnly() == nil { // else search looks at those themselves
		upTo, newest, err := indexed(ctx, db)
		if err != nil || newest-upTo <= behind {
			return err
		}
		behind = 0
		if err := db.Write(ctx, "index", func(tx *store.Tx) error { return index(tx, newest) }); err != nil {
			return err
		}
	}
	return nil
}

// index lets messages up to that one be found by their words, the oldest first and at most a slice.
func index(tx *store.Tx, upTo int64) error {
	var from int64
	err := tx.QueryRow(`SELECT message FROM words_upto`).Scan(&from)
	if upTo = min(upTo, from+slice); err == nil && from < upTo {
		_, err = tx.Exec(`INSERT INTO words (rowid, place, sender, subject, tags, body, error)
			SELECT id, place, sender, subject, tags, body, error FROM message_words WHERE id > ? AND id <= ?`, from, upTo)
		if err == nil {
			_, err = tx.Exec(`UPDATE words_upto SET message = ?`, upTo)
		}
	}
	if err != nil {
		return fmt.Errorf("index the words of messages: %w", err)
	}
	return nil
}

// leftOut tells Index that there is a slice for it.
func (w *Words) leftOut() {
	select {
	case w.left <- struct{}{}:
	default: // it is told
	}
}
