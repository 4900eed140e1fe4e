package proc

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Umask is the permissions that new files and directories do not get. The zero value is this program's own umask.
//
// A process has one umask for all its threads, so a program that serves several shells can't change it for one file: a
// command's shell sets it, and a tool changes the permissions of a file after it has made it.
type Umask struct {
	bits fs.FileMode
	set  bool
}

// UmaskOf returns the umask with those bits; if they are out of range, this program's own.
func UmaskOf(bits int) Umask {
	if bits < 0 || bits > 0o777 {
		return Umask{}
	}
	return Umask{bits: fs.FileMode(bits), set: true}
}

// OwnUmask returns the bits of this program's umask. It sets others for a moment, so call it before files are made
// elsewhere.
func OwnUmask() int {
	bits := syscall.Umask(0o077)
	syscall.Umask(bits)
	return bits
}

// Of returns the mode for a new file or directory that was requested with perm and created with the mode was; false: it
// has that mode already.
func (u Umask) Of(perm, was fs.FileMode) (fs.FileMode, bool) {
	want := was&^fs.ModePerm | perm&^u.bits
	return want, u.set && want != was
}

// script is the text by which a shell sets it.
func (u Umask) script() string {
	if !u.set {
		return ""
	}
	return fmt.Sprintf("umask %04o; ", u.bits)
}
