// Package shell is what the program is to the shell that started it: exit codes,
// wrong usage, a line on standard error, standard input, flags, the version.
//
// Does: name the exit codes and find the one an error ends the program with; make an
// error of wrong usage, with the name that was meant; print a line that steers no
// terminal; read standard input to its end, or until it is no longer wanted; list
// flags; tell a terminal from a file.
//
// Does not: know a flag or a sub-command, end the program.
//
// Imports: store/config/near, ui/frame.
package shell

import (
	"errors"
	"fmt"
	"io"

	"fantail/store/config/near"
	"fantail/ui/frame"
)

// Exit codes. An ending signal n is 128+n.
const (
	OK      = 0
	Failed  = 1
	Usage   = 2
	Nothing = 3 // an errand found nothing
)

// UsageError says what is wrong with the arguments; the exit code is Usage.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Misused is a *UsageError.
func Misused(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// Code is the exit code an error ends the program with.
func Code(err error) int {
	var u *UsageError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &u):
		return Usage
	}
	return Failed
}

// Meant asks whether one of the names was meant; "" if none is like s.
func Meant(s string, names []string) string {
	name := near.Word(s, names)
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// Warn writes a line for people to out, which is standard error: whatever an
// error, a path or a server says, it steers no terminal.
func Warn(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, "fantail: %s\n", frame.Clean(fmt.Sprintf(format, args...)))
}
