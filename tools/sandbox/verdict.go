package sandbox

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// verdict is where a Backend comes from that an earlier search found. The zero value is that of one that was tried in
// this process.
type verdict struct {
	file    string          // where it is kept
	again   func() *Backend // searches anew
	doubted atomic.Bool     // a sandbox could not be made
	broken  error           // why no sandbox can be made; nil: they can

	mu      sync.Mutex
	instead *Backend // what the latest new search found
}

// doubt takes note that a sandbox could not be made. If the verdict is that of an earlier search, it is given up.
func (w *Backend) doubt() {
	if w.verdict.again != nil && !w.verdict.doubted.Swap(true) {
		_ = os.Remove(w.verdict.file) // the next search replaces it
	}
}

// Now is w, or what a new search found after an earlier verdict turned out to be wrong. Commands are judged by what w
// prevents. If the new search finds less, no sandbox can be made until one works again: a command would run with less
// protection than it was allowed with.
func (w *Backend) Now() *Backend {
	if w == nil || !w.verdict.doubted.Load() {
		return w
	}
	v := &w.verdict
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.instead != nil && v.instead.verdict.broken == nil {
		return v.instead
	}
	if v.instead = v.again(); v.instead.Level() != w.Level() {
		why := v.instead.Why()
		v.instead = &Backend{Kind: w.Kind, Facts: []string{"it does not work now: no command starts"}, Faults: v.instead.Faults, bwrap: w.bwrap}
		v.instead.verdict.broken = fmt.Errorf("the sandbox %s worked at an earlier start and does not work now (%s): /restart goes on with what works", w.Kind, why)
	}
	return v.instead
}
