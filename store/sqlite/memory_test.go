package sqlite

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// large is a database of some 10 MB, more than the bound on memory.
func large(t *testing.T) *DB {
	db := fresh(t)
	long := strings.Repeat("a note ", 70)
	for i := range 10 {
		write(t, db, func(tx *Tx) error {
			for j := range 1000 {
				if err := note(tx, fmt.Sprint(i, "-", j, " ", long)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return db
}

// scan reads all notes.
func scan(t *testing.T, db *DB) {
	read(t, db, func(rx *Rx) error {
		var bytes int
		return rx.QueryRow(`SELECT sum(length(hex(text))) FROM notes NOT INDEXED`).Scan(&bytes)
	})
}

// missed returns how many pages the writer read from the file since the last call.
func missed(t *testing.T, db *DB) (pages int) {
	t.Helper()
	err := db.writer.conn.c.Raw(func(c any) (err error) {
		pages, _, err = c.(sqlite.DBStatus).Status(sqlite.DBStatusCacheMiss, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestMemory_isNotTakenForGood: a large read costs the writer its pages once, not from then on.
func TestMemory_isNotTakenForGood(t *testing.T) {
	db := large(t)
	scan(t, db)
	missed(t, db)
	for i := range 100 {
		write(t, db, func(tx *Tx) error { return note(tx, fmt.Sprint("z", i)) })
	}
	if n := missed(t, db); n > 50 {
		t.Errorf("a hundred writes read %d pages that they had before", n)
	}
}

// TestMemory_isBounded: all connections of the process together stay within the bound, however much they read and
// write.
func TestMemory_isBounded(t *testing.T) {
	db := large(t)
	var together, all sync.WaitGroup
	together.Add(maxReaders)
	for range maxReaders {
		all.Go(func() {
			err := db.Read(t.Context(), func(rx *Rx) error {
				together.Done()
				together.Wait() // each has a connection of its own
				var bytes int
				return rx.QueryRow(`SELECT sum(length(hex(text))) FROM notes NOT INDEXED`).Scan(&bytes)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	c := libc.NewTLS()
	defer c.Close()
	used := sqlite3.Xsqlite3_memory_used(c)
	if used > memory+memory/8 {
		t.Errorf("%d bytes are kept, of %d", used, memory)
	}
	if used < memory/2 {
		t.Errorf("only %d bytes are kept of %d: nobody counted", used, memory)
	}
}
