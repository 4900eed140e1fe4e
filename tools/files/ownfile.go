package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadOwn returns the content of the file, at most so many bytes. The error is [fs.ErrNotExist] if there is none.
func ReadOwn(path string, most int64) ([]byte, error) {
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

// WriteOwn replaces the content of the file, on disk, with that mode. It makes the directory if needed, for this user
// only.
func WriteOwn(path string, data []byte, mode fs.FileMode) error {
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
