// Package tty handles a terminal through its driver: its modes, its size, and the process group in its foreground.
//
// Does: read and set modes; make the modes of a full screen; report the size and the foreground group; throw away
// unread input; open the terminal once more, so that writes never block; write last words with a time limit.
//
// Does not: know what is shown, or keep any state. It needs nothing but the standard library's small packages.
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

// Undo undoes what the full screen sets: synchronized output, the keyboard's protocols (the main and the alternate
// screen each have their own), mouse, focus, paste, colours, the alternate screen, the cursor.
const Undo = "\x1b[?2026l\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[m\x1b[?1049l\x1b[=0u\x1b[?25h" + Cursor

// Cursor restores the user's own cursor, whose shape the framework changes.
const Cursor = "\x1b[0 q"

// Modes are the modes of a terminal.
type Modes struct{ t syscall.Termios }

// Get reads the modes. It returns an error if fd is no terminal, or if the terminal is gone.
func Get(fd int) (Modes, error) {
	var m Modes
	if err := ioctl(fd, getModes, unsafe.Pointer(&m.t)); err != nil {
		return m, fmt.Errorf("read the terminal's modes: %w", err)
	}
	return m, nil
}

// Set sets the modes at once, without waiting for pending output.
func (m Modes) Set(fd int) error {
	if err := ioctl(fd, setModes, unsafe.Pointer(&m.t)); err != nil {
		return fmt.Errorf("set the terminal's modes: %w", err)
	}
	return nil
}

// Raw returns m as a full screen needs it: each byte as it comes, none echoed, none changed.
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

// Signalled returns m with keys that send signals, as Ctrl+C does. What was typed before such a key stays readable.
func (m Modes) Signalled() Modes {
	m.t.Lflag |= syscall.ISIG | noFlush
	return m
}

// Lines reports whether a line feed begins a new line, as it does for a shell's commands.
func (m Modes) Lines() bool { return m.t.Oflag&syscall.OPOST != 0 }

// String spells m for [Spelled] in another process on this machine.
func (m Modes) String() string {
	return hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Pointer(&m.t)), unsafe.Sizeof(m.t)))
}

// Spelled parses the output of String. It returns false for anything else.
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

// Foreground reports whether this process may use the terminal. In the background another job has it, most often the
// shell. A terminal that controls no session of this process is free for all.
func Foreground(fd int) bool {
	group := Holder(fd)
	return group == 0 || group == syscall.Getpgrp()
}

// Holder returns the process group that may use the terminal; 0 if fd is not the controlling terminal.
func Holder(fd int) int {
	var group int32
	if err := ioctl(fd, syscall.TIOCGPGRP, unsafe.Pointer(&group)); err != nil {
		return 0
	}
	return int(group)
}

// Forget throws away unread input.
func Forget(fd int) error {
	if err := forget(fd); err != nil {
		return fmt.Errorf("throw away what the terminal has to be read: %w", err)
	}
	return nil
}

// Reopen opens the terminal once more, so that reads and writes on the new descriptor never block, while other
// processes use it as before.
func Reopen(fd int) (int, error) {
	n, err := syscall.Open(fmt.Sprintf("/dev/fd/%d", fd), syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open the terminal again", Path: fmt.Sprintf("/dev/fd/%d", fd), Err: err}
	}
	return n, nil
}

// Say writes last words to a terminal, or to the pipe or file in its place, and gives up after that time. It tries
// once even if the time is 0.
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

// sayTo is Say for files where a write may block: another user's terminal, a pipe, a file. On giving up it leaves the
// writing goroutine, which ends with the reader or with the process.
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
