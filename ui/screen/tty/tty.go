// Package tty is a terminal as its driver knows it: modes, size, who is in its foreground.
//
// Does: read and set modes; make the modes of a full screen; tell the size and whose the terminal
// is; throw away what was typed; open it once more, so that nobody waits for it; write last words
// that wait for nobody.
//
// Does not: know what is shown, or keep anything. It needs nothing but the standard library's
// small packages.
//
// Imports: nothing of ours.
package tty

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Undo undoes what the full screen sets: synchronized output, the keyboard's protocols (each of
// the terminal's screens has its own), mouse, focus, paste, colours, the alternate screen, the cursor.
const Undo = "\x1b[?2026l\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[m\x1b[?1049l\x1b[=0u\x1b[?25h" + Cursor

// Cursor gives the user's own cursor back: the framework takes its shape for everybody's.
const Cursor = "\x1b[0 q"

// Modes are the modes of a terminal.
type Modes struct{ t syscall.Termios }

// Get reads the modes. An error means that fd is no terminal, or that it is gone.
func Get(fd int) (Modes, error) {
	var m Modes
	if err := ioctl(fd, getModes, unsafe.Pointer(&m.t)); err != nil {
		return m, fmt.Errorf("read the terminal's modes: %w", err)
	}
	return m, nil
}

// Set sets them at once, whatever is still to be written.
func (m Modes) Set(fd int) error {
	if err := ioctl(fd, setModes, unsafe.Pointer(&m.t)); err != nil {
		return fmt.Errorf("set the terminal's modes: %w", err)
	}
	return nil
}

// Raw is m as a full screen needs it: each byte as it comes, none echoed, none changed.
func (m Modes) Raw() Modes {
	t := &m.t
	t.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	t.Oflag &^= syscall.OPOST
	t.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	t.Cflag &^= syscall.CSIZE | syscall.PARENB
	t.Cflag |= syscall.CS8
	t.Cc[syscall.VMIN], t.Cc[syscall.VTIME] = 1, 0
	return m
}

// Signalled is m with keys that send signals, as Ctrl+C does. What was typed before them stays to be read.
func (m Modes) Signalled() Modes {
	m.t.Lflag |= syscall.ISIG | noFlush
	return m
}

// Lines reports whether a line feed begins a new line, as it does for a shell's commands.
func (m Modes) Lines() bool { return m.t.Oflag&syscall.OPOST != 0 }

// String spells m for [Spelled] of another process on this machine.
func (m Modes) String() string {
	return hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Pointer(&m.t)), unsafe.Sizeof(m.t)))
}

// Spelled reads what String wrote; false if it is nothing of the kind.
func Spelled(s string) (m Modes, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != int(unsafe.Sizeof(m.t)) {
		return m, false
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&m.t)), unsafe.Sizeof(m.t)), b)
	return m, true
}

// Is reports whether fd is a terminal.
func Is(fd int) bool {
	_, err := Get(fd)
	return err == nil
}

// Size returns how many columns and rows the terminal has.
func Size(fd int) (columns, rows int, err error) {
	var s struct{ rows, columns, x, y uint16 }
	if err := ioctl(fd, syscall.TIOCGWINSZ, unsafe.Pointer(&s)); err != nil {
		return 0, 0, fmt.Errorf("ask for the terminal's size: %w", err)
	}
	return int(s.columns), int(s.rows), nil
}

// Foreground reports whether this process may use the terminal: in the background it belongs to
// somebody else, most often the shell. A terminal that controls nobody here is everybody's.
func Foreground(fd int) bool {
	group := Holder(fd)
	return group == 0 || group == syscall.Getpgrp()
}

// Holder is the group of processes that may use the terminal; 0: it controls nobody here, so that
// there is none.
func Holder(fd int) int {
	var group int32
	if err := ioctl(fd, syscall.TIOCGPGRP, unsafe.Pointer(&group)); err != nil {
		return 0
	}
	return int(group)
}

// Forget throws away what was typed and nobody has read.
func Forget(fd int) error {
	if err := forget(fd); err != nil {
		return fmt.Errorf("throw away what the terminal has to be read: %w", err)
	}
	return nil
}

// Reopen opens the terminal once more, so that who reads or writes there never waits while everybody
// else does as before.
func Reopen(fd int) (int, error) {
	n, err := syscall.Open(fmt.Sprintf("/dev/fd/%d", fd), syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open the terminal again", Path: fmt.Sprintf("/dev/fd/%d", fd), Err: err}
	}
	return n, nil
}

// Say writes last words, to a terminal or to whatever stands in its place, and gives up after that
// long: who reads nothing takes nothing. It has tried once then, even if there was no time at all.
func Say(fd int, text string, within time.Duration) error {
	out, err := -1, error(syscall.ENOTTY)
	if Is(fd) {
		out, err = Reopen(fd)
	}
	if err != nil {
		return sayTo(fd, text, within)
	}
	n, err := syscall.Write(out, []byte(text))
	if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		return errors.Join(err, syscall.Close(out))
	}
	f := os.NewFile(uintptr(out), "terminal")
	defer f.Close()
	if text = text[max(n, 0):]; text == "" {
		return nil
	}
	_ = f.SetWriteDeadline(time.Now().Add(within)) // without one the write fails at once
	_, err = f.WriteString(text)
	return err
}

// sayTo is Say where a write may wait: another user's terminal, a pipe, a file. Who gives up leaves
// the writer behind, which ends with the reader or with the process.
func sayTo(fd int, text string, within time.Duration) error {
	wrote := make(chan error, 1)
	go func() {
		_, err := syscall.Write(fd, []byte(text))
		wrote <- err
	}()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case err := <-wrote:
		return err
	case <-late.C:
		return os.ErrDeadlineExceeded
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		if e == 0 {
			return nil
		}
		if e != syscall.EINTR {
			return e
		}
	}
}
