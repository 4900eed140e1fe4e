package ui

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// lender notes who gets the terminal, and keeps it from the screen until it is told to give it back.
type lender struct {
	given []string
	back  chan struct{}
}

func (l *lender) Suspend() error {
	l.given = append(l.given, "shell")
	<-l.back
	return nil
}

// Run is an editor that saves at once.
func (l *lender) Run(c *exec.Cmd) error {
	l.given = append(l.given, "editor")
	err := os.WriteFile(c.Args[1], []byte("written\n"), 0o600)
	<-l.back
	return err
}

// lends runs a screen in a bubble. types types keys in one read, and waits until what they ask for is done.
func lends(t *testing.T, f func(t *testing.T, a *App, l *lender, types func(keys string))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		l := &lender{back: make(chan struct{})}
		a := New(Options{In: in, Out: io.Discard, Size: [2]int{80, 24}, Theme: "dark", Environ: []string{"EDITOR=vi"}, Terminal: l})
		ended := make(chan error, 1)
		go func() { ended <- a.Run() }()
		defer func() {
			close(l.back)
			a.Remote.Quit()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			_ = typed.Close()
			time.Sleep(time.Hour) // timers of libraries end
		}()
		f(t, a, l, func(keys string) {
			_, _ = io.WriteString(typed, keys)
			time.Sleep(time.Second)
			synctest.Wait()
		})
	})
}

// TestGivenOnce: while somebody has the terminal nobody else gets it, though the keys for that came in one read; what the
// editor saved is in the box, and nothing else of it is left. Once it is back, it can be given again.
func TestGivenOnce(t *testing.T) {
	for _, c := range []struct{ keys, who, box string }{
		{"\x07\x07", "editor", "written"}, {"\x1a\x1a", "shell", ""}, {"\x07\x1a", "editor", "written"}, {"\x1a\x07", "shell", ""},
	} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		lends(t, func(t *testing.T, a *App, l *lender, types func(keys string)) {
			for n := 1; n < 3; n++ {
				types(c.keys)
				if want := slices.Repeat([]string{c.who}, n); !slices.Equal(l.given, want) {
					t.Fatalf("%q: the terminal was given to %q, want %q", c.keys, l.given, want)
				}
				l.back <- struct{}{}
				synctest.Wait()
				if got := a.tabs.Main().Box.Value(); got != c.box {
					t.Errorf("%q: the box holds %q, want %q", c.keys, got, c.box)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
					t.Errorf("%q: left is %q", c.keys, left)
				}
			}
		})
	}
}

// TestGivenOnce_fails: an editor that can't be started keeps nobody from the terminal.
func TestGivenOnce_fails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	lends(t, func(t *testing.T, _ *App, l *lender, types func(keys string)) {
		if types("\x07"); len(l.given) > 0 {
			t.Fatalf("the terminal was given to %q", l.given)
		}
		if types("\x1a"); !slices.Equal(l.given, []string{"shell"}) {
			t.Fatalf("the terminal was given to %q, not to the shell", l.given)
		}
	})
}
