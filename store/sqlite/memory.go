package sqlite

import (
	"fmt"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite keeps the pages of all connections of a process in one list, in the order of their last use. By default each
// connection has a share of it: a connection that has used up its share takes the oldest page of the list, even another
// connection's, and so one that reads much takes the writer's pages. It does not return them. The writer is then below
// its share and allocates new pages, which are dropped at the end of each use because there are too many in all: from
// then on each statement reads its pages from the file. So there are no shares here, but one bound on the memory of all
// connections.

// memory bounds the memory of all connections, in bytes: pages, statements and working memory. They may exceed it for a
// moment.
const memory = 8 << 20

// spill is the number of pages beyond which a transaction's pages are written to the file before its COMMIT.
const spill = 500

// counted makes SQLite count its memory, which the bound requires. SQLite can't start that once a file is open.
var counted = sync.OnceValue(func() error {
	t := libc.NewTLS()
	defer t.Close()
	args := libc.Xmalloc(t, 8)
	defer libc.Xfree(t, args)
	if code := sqlite3.Xsqlite3_config(t, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1))); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("have SQLite count its memory: code %d", code)
	}
	return nil
})

// bounded is the SQL that applies the bound to a connection; it follows other SQL.
func bounded() string {
	if counted() != nil {
		return "" // each has its share
	}
	return fmt.Sprintf("; PRAGMA soft_heap_limit = %d; PRAGMA cache_size = -%d; PRAGMA cache_spill = %d", memory, memory>>10, spill)
}
