package sqlite

import (
	"context"
	"strings"
	"testing"
)

func TestReaders_cannotWrite(t *testing.T) {
	db := fresh(t)
	err := db.Read(context.Background(), func(rx *Rx) error {
		var text string
		return rx.QueryRow(`INSERT INTO notes VALUES ('a') RETURNING text`).Scan(&text)
	})
	if err == nil || !strings.Contains(err.Error(), "read-only") && !strings.Contains(err.Error(), "readonly") {
		t.Errorf("%v", err)
	}
}

func TestRead_isOneSnapshot(t *testing.T) {
	db := fresh(t)
	write(t, db, set("a"))
	read(t, db, func(rx *Rx) error {
		count := func() int64 {
			n, err := rx.c.number(`SELECT count(*) FROM notes`)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		before := count()
		write(t, db, set("b"))
		if after := count(); before != 1 || after != 1 {
			t.Errorf("%d, then %d", before, after)
		}
		return nil
	})
}

func TestRead_whenItsFunctionPanics(t *testing.T) {
	db := fresh(t)
	for range 2 * maxReaders {
		if v := catch(func() { _ = db.Read(context.Background(), func(*Rx) error { panic("oh") }) }); v != "oh" {
			t.Fatalf("caught %v", v)
		}
	}
	notes(t, db) // a connection is free
}
