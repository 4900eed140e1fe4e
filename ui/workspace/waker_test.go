package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBell: a Waker is woken, replaces a dead host's socket, and removes its own on Close.
func TestBell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "x.bell")
	Wake(path) // there is no socket
	if _, err := NewWaker(path); err != nil {
		t.Fatal(err)
	}
	b, err := NewWaker(path) // the first one's host died
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode: %v, %v", info.Mode(), err)
	}
	Wake(path) // before Serve
	heard := make(chan struct{}, 100)
	b.Serve(func(_ string, f func()) { go f() }, func() { heard <- struct{}{} })
	wait := func(what string) {
		t.Helper()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		select {
		case <-heard:
		case <-late.C:
			t.Fatalf("not heard: %s", what)
		}
	}
	wait("the first look")
	wait("a ring before it was served")
	for range 1000 {
		Wake(path) // never waits, even if no host listens
	}
	wait("a ring")
	b.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("it still hangs there")
	}
}

// TestBell_hostilePlaces: another file in the socket's place is refused.
func TestBell_hostilePlaces(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func(path string) error{
		"is not a socket":                func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"is not a socket; remove it":     func(p string) error { return os.Symlink(filepath.Join(other, "x"), p) },
		"is not a directory":             func(p string) error { return os.Remove(filepath.Dir(p)) },
		"open the wake-up socket: make ": func(p string) error { return replace(filepath.Dir(p), other) },
		"x.bell is not a socket; r":      func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		run := filepath.Join(dir, "run")
		if err := os.Mkdir(run, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(run, "x.bell")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if what == "is not a directory" {
			if err := os.WriteFile(run, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := NewWaker(path); err == nil {
			b.Close()
			t.Errorf("%q: it hangs there", what)
		} else if !strings.Contains(err.Error(), what) && what != "is not a directory" {
			t.Errorf("%v, want %q", err, what)
		}
		if err := os.RemoveAll(run); err != nil {
			t.Fatal(err)
		}
	}
}

// replace puts a symbolic link to another directory in the place of dir.
func replace(dir, other string) error {
	if err := os.Remove(dir); err != nil {
		return err
	}
	return os.Symlink(other, dir)
}
