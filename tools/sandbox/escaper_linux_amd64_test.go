package sandbox_test

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// compat asks the kernel for the process's number as a 32-bit program does: there a filter sees other numbers of calls.
func compat() error {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	copy(code, []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3}) // mov eax, getpid; int 0x80; ret
	at := unsafe.Pointer(&code[0])
	entry := unsafe.Pointer(&at)
	if got := (*(*func() int)(unsafe.Pointer(&entry)))(); got != os.Getpid() {
		return errors.New("the kernel knows no 32-bit programs")
	}
	return nil
}

func port() error { return unix.Iopl(3) }
