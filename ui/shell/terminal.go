package shell

import (
	"os"

	"github.com/creack/pty"
)

// IsTerminal reports whether f is a terminal: only those have a size.
func IsTerminal(f *os.File) bool {
	_, err := pty.GetsizeFull(f)
	return err == nil
}
