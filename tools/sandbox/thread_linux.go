package sandbox

import (
	"os"
	"runtime"
	"syscall"
)

// Thread runs f in a goroutine that is locked to its thread, and discards the thread if f says that it is spent. It
// never uses the first thread: that one ends only with the process, and what the kernel imposes on it applies to the
// process.
func Thread(f func() (spent bool)) {
	go func() {
		runtime.LockOSThread()
		if first() {
			begun := make(chan struct{})
			Thread(func() bool { // on another thread, as this one is blocked until then
				close(begun)
				return f()
			})
			<-begun
			runtime.UnlockOSThread()
			return
		}
		if !f() {
			runtime.UnlockOSThread()
		}
	}()
}

// first reports whether this is the first thread of the process.
func first() bool { return syscall.Gettid() == os.Getpid() }
