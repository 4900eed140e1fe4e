package guard

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// modes are the terminal's modes now, and as the screen sets them, in the words of
// stty -g.
func modes(f *os.File) (now, raw string, err error) {
	var t syscall.Termios
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); e != 0 {
		return "", "", fmt.Errorf("read the terminal's modes: %w", e)
	}
	now = spelled(t)
	t.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	t.Oflag &^= syscall.OPOST
	t.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	t.Cflag &^= syscall.CSIZE | syscall.PARENB
	t.Cflag |= syscall.CS8
	t.Cc[syscall.VMIN], t.Cc[syscall.VTIME] = 1, 0
	return now, spelled(t), nil
}

func spelled(t syscall.Termios) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x:%x:%x:%x", t.Iflag, t.Oflag, t.Cflag, t.Lflag)
	for _, c := range t.Cc {
		fmt.Fprintf(&b, ":%x", c)
	}
	return b.String()
}
