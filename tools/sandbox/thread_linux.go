package sandbox

import (
	"os"
	"runtime"
	"syscall"
)

// Thread runs f in a goroutine that is locked to its thread, and throws the thread away if f says that it is spent. It
// is never the first one of the process: that ends only with it, and what the kernel holds against the first thread of
// a process it holds against the process.
func Thread(f func() (spent bool)) {
	go func() {
		runtime.LockOSThread()
		if first() {
			begun := make(chan struct{})
			Thread(func() bool { // on another one, for this is taken until then
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
