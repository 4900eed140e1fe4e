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

// ProtectedOptions are what a watch is for.
type ProtectedOptions struct {
	Root    string              // the workspace
	Before  func() []string     // what is protected, before a command runs, whether it is there or not
	After   func() []string     // what of it is there then; nil: nothing that is not among those
	Aside   string              // the directory that gets what is put away
	Changes *permission.Changes // what agents' tools write is not a command's doing
	// Harmless reports whether a change of what a file holds makes nobody run or obey anything; nil: none is.
	Harmless func(path string, was, is []byte) bool
	Now      func() time.Time // of the machine
}

// ProtectedFiles is the watch over one workspace. It is safe for concurrent use.
type ProtectedFiles struct {
	o ProtectedOptions

	mu      sync.Mutex // held while files are looked at, so that looks follow one another
	state   *sandbox.Snapshot
	blind   map[string]bool // what can't be looked at: it holds too much
	owed    bool            // not all that was found could be put back: what state saw still counts
	running int
	since   time.Time       // the first of those that run began
	found   *ProtectedFound // what nobody has decided about yet
}

// NewProtectedFiles watches.
func NewProtectedFiles(o ProtectedOptions) *ProtectedFiles {
	return &ProtectedFiles{o: o, blind: map[string]bool{}}
}

// ProtectedFound is what a command changed of what is protected. Until Keep or PutBack is called, no command begins.
type ProtectedFound struct {
	Changes []sandbox.Change
	Diff    string // of what is text

	watch   *ProtectedFiles
	allowed []string
	fault   error // what could not be looked at
	decided chan struct{}
}

// Begin notes that a command begins, which may change the allowed paths; it waits while something that was found is not
// decided. The returned function notes its end, and returns what was found; nil: nothing.
func (w *ProtectedFiles) Begin(ctx context.Context, allowed []string) (end func() *ProtectedFound, err error) {
	if err := w.wait(ctx); err != nil {
		return nil, err
	}
	defer w.mu.Unlock()
	if w.running == 0 && !w.owed { // else what was there before the first of them counts
		if err := w.look(); err != nil {
			return nil, err
		}
		w.since = w.o.Now()
	}
	w.running++
	return func() *ProtectedFound { return w.end(allowed) }, nil
}

// wait returns once nothing is undecided, with the mutex locked unless there is an error.
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

// look looks at what is protected. What can't be looked at is left out from then on.
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

// leaveOut leaves those paths out that can't be looked at by themselves either, and reports whether there are any.
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
		return nil // whoever found it decides about all there is
	}
	f := &ProtectedFound{watch: w, allowed: allowed, decided: make(chan struct{})}
	if f.find(); len(f.Changes) == 0 && f.fault == nil {
		return nil
	}
	w.found = f
	return f
}

// find finds what a command changed. What can't be looked at any more is a change, too. The mutex is held.
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

// harmless reports whether a change is one that nobody need be asked about.
func (f *ProtectedFound) harmless(c sandbox.Change) bool {
	if f.watch.o.Harmless == nil || c.What != sandbox.Changed {
		return false
	}
	was, is := f.watch.state.Was(c.Path), text(c.Path)
	return was != nil && is != nil && len(is) < maxShown && f.watch.o.Harmless(c.Path, was, is)
}

// maxShown is how much of a file a diff is made of, in bytes.
const maxShown = 64 << 10

// diff shows what was changed, as far as it is text.
func (f *ProtectedFound) diff() string {
	var b strings.Builder
	for _, c := range f.Changes {
		if was := f.watch.state.Was(c.Path); len(was) <= maxShown {
			b.WriteString(files.Diff(f.name(c.Path), string(was), string(text(c.Path))))
		}
	}
	return b.String()
}

// text is what a small file holds; nothing if it is none, or leads elsewhere.
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

// name is a path as people read it: from the workspace, if it lies there.
func (f *ProtectedFound) name(path string) string {
	if rel, err := filepath.Rel(f.watch.o.Root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Says says what was changed: "made .git/hooks/post-checkout, changed .envrc".
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

// Keep lets it stay as it is.
func (f *ProtectedFound) Keep() error {
	f.watch.mu.Lock()
	defer f.watch.mu.Unlock()
	defer f.decide()
	return f.watch.look()
}

// PutBack makes all as it was, also what was changed since; what was made is moved aside. What could not be put back is
// found again when the next command ends.
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

// Undone puts it back, and says so to the model.
func (f *ProtectedFound) Undone() string {
	if err := f.PutBack(); err != nil {
		return "it " + f.Says() + ", which it must not, and that could not be undone: " + err.Error()
	}
	return "it " + f.Says() + ", which it must not: that was put back"
}

// decide lets commands begin again. The mutex is held.
func (f *ProtectedFound) decide() {
	f.watch.found = nil
	close(f.decided)
}
