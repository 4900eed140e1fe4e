// Package ownfile keeps small files that only this program writes.
//
// Does: write one whole, so that whoever reads it finds the old text or the new; read one that is a regular file of a bounded
// size, whatever somebody put in its place.
//
// Does not: know what a file holds, or keep two processes from writing over one another.
//
// Imports: .
package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns what the file holds, at most so many bytes. The error is [fs.ErrNotExist] if there is none.
func Read(path string, most int64) ([]byte, error) {
	i, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !i.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case i.Size() > most:
		return nil, fmt.Errorf("it has %d bytes, more than %d", i.Size(), most)
	}
	return os.ReadFile(path)
}

// Write has the file hold that from now on, on disk, with that mode; its directory is made if need be, for the user alone.
func Write(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
