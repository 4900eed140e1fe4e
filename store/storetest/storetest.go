// Package storetest opens workspace files in tests.
//
// Does: open a new file whose schema was made only once in the process, as that is most of the work of a short test
// under the race detector. Return directories in memory ([Dir], [Memory]), where no test waits for a disk.
//
// Does not: know the content of the file.
package storetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"fantail/store"
)

// Open is [store.Open] of a file that may be new.
func Open(ctx context.Context, path string, o store.Options) (*store.DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		data, err := empty()
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, path, o)
}

// empty is a workspace file without rows.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fantail-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "fantail.db")
	db, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
