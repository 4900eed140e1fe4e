package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// tries bounds how long the probe of one sandbox may take.
const tries = 10 * time.Second

// Find tries what this machine enforces, and returns the sandbox that works. among are the kinds to try; none: all.
func Find(ctx context.Context, among ...Kind) *Backend {
	if len(among) > 0 && !slices.Contains(among, Seatbelt) {
		return &Backend{}
	}
	w := &Backend{Kind: Seatbelt}
	if err := w.try(ctx); err != nil {
		return &Backend{Faults: []string{fmt.Sprintf("%s: %v", Seatbelt, err)}}
	}
	w.Facts = []string{"a command writes the workspace", "it writes nothing outside", "it reads nothing that is private"}
	return w
}

// FindKept is Find: trying one sandbox takes no longer than finding out what could have changed.
func FindKept(ctx context.Context, _ string, among ...Kind) *Backend { return Find(ctx, among...) }

// try finds out whether the sandbox works here: a shell in it writes the workspace, and nothing else.
func (w *Backend) try(ctx context.Context) error {
	base, err := os.MkdirTemp("", "fantail-wall-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	g := Workspace{Root: filepath.Join(base, "work"), Scratch: filepath.Join(base, "scratch"), Private: []string{filepath.Join(base, "private")}}
	for _, d := range []string{g.Root, g.Scratch, g.Private[0]} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(g.Private[0], "secret"), []byte("secret"), 0o600); err != nil {
		return err
	}
	box, err := w.Box(g, Command, Leave{}, g.Root)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tries)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/sh", "-c", "echo x >own || exit 1; echo x >../outside && exit 2; cat ../private/secret && exit 3; exit 0")
	c.Dir, c.Env = g.Root, []string{"PATH=/usr/bin:/bin"}
	if _, err := box.Enclose(c); err != nil {
		return err
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("it does not hold: %w: %.300s", err, out)
	}
	return nil
}
