// Package shell is what all processes of the command line share: exit codes, errors of usage, flags and standard
// input.
package shell

import (
	"errors"
	"fmt"
	"io"

	"fantail/store/config"
	"fantail/ui/cells"
)

// Exit codes. An ending signal n is 128+n.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3 // an errand found nothing
)

// UsageError says what is wrong with the arguments; the exit code is Usage.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Misused returns a *UsageError.
func Misused(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ExitCode returns the exit code an error ends the program with.
func ExitCode(err error) int {
	var u *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &u):
		return ExitUsage
	}
	return ExitFailed
}

// Meant returns a question that suggests one of the names; "" if none is like s.
func Meant(s string, names []string) string {
	name := config.Nearest(s, names)
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// Warn writes a line for people to out, which is standard error. It removes control sequences from the text.
func Warn(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "fantail: %s\n", cells.Clean(fmt.Sprintf(format, args...)))
}
