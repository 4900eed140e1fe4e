package cli

import (
	"os"

	"github.com/creack/pty"
)

// isTerminal reports whether f is a terminal: only those have a size.
func isTerminal(f *os.File) bool {
	_, err := pty.GetsizeFull(f)
	return err == nil
}
