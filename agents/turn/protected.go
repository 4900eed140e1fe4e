package turn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// ProtectedOptions configure ProtectedFiles.
type ProtectedOptions struct {
	Root    string              // directory of the workspace
	Before  func() []string     // paths protected before a command runs, which may not exist
	After   func() []string     // paths protected afterwards; nil: only the same ones
	Aside   string              // directory for files that are moved away
	Changes *permission.Changes // what agents' tools wrote, which no command did
	// Harmless reports whether no program runs or obeys anything new after a change of a file; nil:
	// no change is harmless.
	Harmless func(path string, was, is []byte) bool
	Now      func() time.Time // of the machine
}

// ProtectedFiles watches the protected files of one workspace. It is safe for concurrent use.
type ProtectedFiles struct {
	o ProtectedOptions

	mu      sync.Mutex // held during a check, so that checks don't overlap
	state   *sandbox.Snapshot
	blind   map[string]bool // paths that can't be checked: they hold too much
	owed    bool            // something could not be put back, so state still counts
	running int
	since   time.Time       // when the first of the running commands began
	found   *ProtectedFound // undecided changes
}

// NewProtectedFiles returns a ProtectedFiles.
func NewProtectedFiles(o ProtectedOptions) *ProtectedFiles {
	return &ProtectedFiles{o: o, blind: map[string]bool{}}
}

// ProtectedFound is what a command changed in protected files. No command begins until Keep or
// PutBack is called.
type ProtectedFound struct {
	Changes []sandbox.Change
	Diff    string // of text files

	watch   *ProtectedFiles
	allowed []string
	fault   error // what could not be checked
	decided chan struct{}
}

// Begin records the start of a command that may change the allowed paths. It waits while earlier
// changes are undecided. The returned function records the command's end and returns the changes
// found; nil: none.
func (w *ProtectedFiles) Begin(ctx context.Context, allowed []string) (end func() *ProtectedFound, err error) {
	if err := w.wait(ctx); err != nil {
		return nil, err
	}
	defer w.mu.Unlock()
	if w.running == 0 && !w.owed { // else the state before the first of them counts
		if err := w.look(); err != nil {
			return nil, err
		}
		w.since = w.o.Now()
	}
	w.running++
	return func() *ProtectedFound { return w.end(allowed) }, nil
}

// wait returns once no changes are undecided. It returns with the mutex locked unless there is an
// error.
func (w *ProtectedFiles) wait(ctx context.Context) error {
	for {
		w.mu.Lock()
		f := w.found
		if f == nil {
			return nil
		}
		w.mu.Unlock()
		select {
		case <-f.decided:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// look takes a snapshot of the protected files. Paths that can't be checked are left out from then
// on.
func (w *ProtectedFiles) look() error {
	for {
		paths := slices.DeleteFunc(w.o.Before(), func(p string) bool { return w.blind[p] })
		looks := sandbox.TakeSnapshot
		if w.state != nil {
			looks = w.state.Again
		}
		state, err := looks(paths)
		if err == nil {
			w.state, w.owed = state, false
			return nil
		}
		if !w.leaveOut(paths) {
			return fmt.Errorf("look at what commands must not change: %w", err)
		}
	}
}

// leaveOut excludes those paths that can't be checked even alone, and reports whether there are
// any.
func (w *ProtectedFiles) leaveOut(paths []string) (some bool) {
	for _, p := range paths {
		if _, err := sandbox.TakeSnapshot([]string{p}); err != nil {
			w.blind[p], some = true, true
		}
	}
	return some
}

func (w *ProtectedFiles) end(allowed []string) *ProtectedFound {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.found != nil {
		return nil // whoever found the changes decides about all of them
	}
	f := &ProtectedFound{watch: w, allowed: allowed, decided: make(chan struct{})}
	if f.find(); len(f.Changes) == 0 && f.fault == nil {
		return nil
	}
	w.found = f
	return f
}

// find finds what a command changed. A path that can no longer be checked counts as a change. The
// caller holds the mutex.
func (f *ProtectedFound) find() {
	if f.watch.o.After != nil {
		f.watch.state.Expect(f.watch.o.After())
	}
	all, err := f.watch.state.Changes()
	f.fault = err
	granted := slices.Concat(f.watch.o.Changes.Written(f.watch.since), f.allowed)
	f.Changes = slices.DeleteFunc(all, func(c sandbox.Change) bool {
		return f.harmless(c) || slices.ContainsFunc(granted, func(p string) bool {
			return c.Path == p || strings.HasPrefix(c.Path, p+string(filepath.Separator))
		})
	})
	f.Diff = f.diff()
}

// harmless reports whether a change needs no question.
func (f *ProtectedFound) harmless(c sandbox.Change) bool {
	if f.watch.o.Harmless == nil || c.What != sandbox.Changed {
		return false
	}
	was, is := f.watch.state.Was(c.Path), text(c.Path)
	return was != nil && is != nil && len(is) < maxShown && f.watch.o.Harmless(c.Path, was, is)
}

// maxShown limits the bytes of a file that a diff compares.
const maxShown = 64 << 10

// diff returns the changes of text files.
func (f *ProtectedFound) diff() string {
	var b strings.Builder
	for _, c := range f.Changes {
		if was := f.watch.state.Was(c.Path); len(was) <= maxShown {
			b.WriteString(files.Diff(f.name(c.Path), string(was), string(text(c.Path))))
		}
	}
	return b.String()
}

// text returns the content of a small file; nil: it is no regular file.
func text(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxShown))
	if err != nil {
		return nil
	}
	return b
}

// name returns a path for people: relative to the workspace if it is in it.
func (f *ProtectedFound) name(path string) string {
	if rel, err := filepath.Rel(f.watch.o.Root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Says lists the changes: "made .git/hooks/post-checkout, changed .envrc".
func (f *ProtectedFound) Says() string {
	var parts []string
	for i, c := range f.Changes {
		if i == 4 && len(f.Changes) > 5 {
			parts = append(parts, fmt.Sprintf("%d more", len(f.Changes)-i))
			break
		}
		what := string(c.What)
		switch c.What {
		case sandbox.Mode:
			what = "changed who may do what with"
		case sandbox.Linked:
			what = "gave another name to"
		}
		parts = append(parts, what+" "+f.name(c.Path))
	}
	if f.fault != nil {
		parts = append(parts, "keeps Fantail from looking ("+f.fault.Error()+")")
	}
	return strings.Join(parts, ", ")
}

// Keep keeps the changes.
func (f *ProtectedFound) Keep() error {
	f.watch.mu.Lock()
	defer f.watch.mu.Unlock()
	defer f.decide()
	return f.watch.look()
}

// PutBack restores everything, including later changes. New files are moved aside. What can't be
// restored is found again when the next command ends.
func (f *ProtectedFound) PutBack() error {
	w := f.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	defer f.decide()
	f.find()
	err := f.fault
	aside := filepath.Join(w.o.Aside, w.o.Now().UTC().Format("20060102-150405.000000000"))
	if e := os.MkdirAll(aside, 0o700); e != nil {
		err = errors.Join(err, e)
	} else {
		err = errors.Join(err, w.state.PutBack(f.Changes, aside))
		_ = os.Remove(aside) // it stays if something was moved there
	}
	if w.owed = err != nil; w.owed {
		return fmt.Errorf("put back what a command changed: %w", err)
	}
	return nil
}

// Undone restores everything, and says so to the model.
func (f *ProtectedFound) Undone() string {
	if err := f.PutBack(); err != nil {
		return "it " + f.Says() + ", which it must not, and that could not be undone: " + err.Error()
	}
	return "it " + f.Says() + ", which it must not: that was put back"
}

// decide lets commands begin again. The caller holds the mutex.
func (f *ProtectedFound) decide() {
	f.watch.found = nil
	close(f.decided)
}
