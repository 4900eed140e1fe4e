package screen

import (
	"math"
	"os"
	"runtime/debug"
)

// heap is how much garbage and all a start may keep, in bytes, before it is collected all the same.
const heap = 64 << 20

// hurry puts collecting garbage off. What the libraries make at their initialisation stays, so that looking through it
// while they do, on the same two cores, only holds up the first picture.
func hurry() {
	if ordered() {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heap)
}

// Collect has garbage collected as ever: the process is past its first picture, or shows none.
func Collect() {
	if ordered() {
		return
	}
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
}

// ordered reports whether the environment says how garbage is to be collected.
func ordered() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
