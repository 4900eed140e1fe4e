package sqlite

import (
	"fmt"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite keeps the pages of all connections of a process in one list, in the order of their last use. Left to itself,
// each connection has a share of it: who has used theirs up takes the oldest page of the list, whosever it is, and so
// one reader of much has the writer's. It does not give them back. The writer is below its share then and asks for new
// ones, which are dropped at the end of each use because all together there are too many: from then on each statement
// reads the pages that it needs from the file. So there are no shares here, but one bound to the memory of all.

// memory is how much all connections keep, in bytes: pages, statements and what they work with. What they need at one
// time they get.
const memory = 8 << 20

// spill is how many pages a connection has before a transaction's own go to the file ahead of its COMMIT.
const spill = 500

// counted has SQLite count the memory it takes, without which it has no bound. It does not begin to once somebody has
// opened a file.
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

// bounded has a connection keep to the bound, in SQL that follows other SQL.
func bounded() string {
	if counted() != nil {
		return "" // each has its share
	}
	return fmt.Sprintf("; PRAGMA soft_heap_limit = %d; PRAGMA cache_size = -%d; PRAGMA cache_spill = %d", memory, memory>>10, spill)
}
