package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir makes dir and its parents, 0700, and brings their names to disk: a
// database whose directory is lost in a power cut is lost with it.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	syncDir(parent)
	return nil
}

// syncDir brings the names in dir to disk where that is possible: not every
// directory may be read, and not every file system can sync one.
func syncDir(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = f.Sync()
}
