package inbox

import (
	"context"
	"fmt"
	"time"

	"fantail/store"
)

const (
	// slice is how many messages one transaction indexes at most, as other writers wait for it, and how many may be
	// missing from the index: to index each by itself would cost more than its deposit. A search indexes the missing
	// ones first.
	slice = 256
	// farBehind is the number of missing messages at which they are indexed although others still deposit.
	farBehind = 8 * slice
	// lull is how long no message may arrive before the index catches up.
	lull = 50 * time.Millisecond
)

// Index keeps the word index of messages up to date.
type Index struct {
	db   *store.DB
	left chan struct{} // holds a token if a slice may be missing
}

// LeftOut makes Index check whether messages are missing. Deposits of this inbox call it once for each slice; a caller
// that learns of other processes' deposits calls it for those.
func (w *Index) LeftOut() {
	select {
	case w.left <- struct{}{}:
	default: // it has a token
	}
}

// Index keeps the words of messages indexed, until ctx ends or the database is closed. It indexes at once what a
// migration left out, and later messages when no more arrive for a moment. It works a slice at a time, so that others
// can write in between. It passes errors to trouble, and tries again when more messages arrive.
func (w *Index) Index(ctx context.Context, trouble func(error)) {
	for err := catchUp(ctx, w.db, slice); ; err = w.follow(ctx) {
		if ctx.Err() != nil || store.Stopped(err) {
			return
		}
		if err != nil {
			trouble(err)
		}
	}
}

// follow waits for new messages, and indexes them.
func (w *Index) follow(ctx context.Context) error {
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

// catchUp indexes the messages that exist now, if more than behind are missing.
func catchUp(ctx context.Context, db *store.DB, behind int64) error {
	if db.ReadOnly() != nil {
		return nil // a search reads the missing ones itself
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
