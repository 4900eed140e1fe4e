package files

import (
	"os"
	"path/filepath"
)

// Writable is an error if there is a file at path and it, or its directory, can't be
// written.
func Writable(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil //nolint:nilerr // what is missing can be made, or opening it says why not
	}
	for _, p := range []string{filepath.Dir(real), real} {
		if err := writable(p); err != nil {
			return &os.PathError{Op: "write", Path: p, Err: err}
		}
	}
	return nil
}
