package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fantail/tools/permission"
)

const (
	maxPath  = 4096
	maxLinks = 40 // on the way to one path
)

// Target is a path a call names, as judged before anything is opened. Opening it later
// finds the same place or fails.
type Target struct {
	Abs       string // without symbolic links
	Rel       string // from the workspace; "" outside
	Inside    bool
	Sensitive string // as permission.Action's

	raw       string
	guarded   bool   // as permission.Action's
	forbidden string // as permission.Action's
	tilde     bool   // written with ~, which is judged but never opened
}

// Show is the path as people and models read it.
func (t Target) Show() string {
	if t.Inside {
		return t.Rel
	}
	return t.Abs
}

// Touch adds the target to an action.
func (t Target) Touch(a permission.Action) permission.Action {
	a.Paths = append(a.Paths, t.Abs)
	a.Outside = a.Outside || !t.Inside
	if a.Sensitive == "" {
		a.Sensitive = t.Sensitive
	}
	a.Guarded = a.Guarded || t.guarded
	if a.Forbidden == "" {
		a.Forbidden = t.forbidden
	}
	return a
}

// Refused is the error for opening a target that may not be opened.
func (t Target) Refused() error {
	if t.forbidden != "" {
		return errors.New(t.forbidden)
	}
	if t.tilde {
		return fmt.Errorf("%s: ~ is not expanded; use the absolute path %s", t.raw, t.Abs)
	}
	return nil
}

// Target judges a path. It follows symbolic links, and opens only a regular file that is open to tools, to read its
// beginning.
func (tr *Tree) Target(raw string, k permission.Kind) (Target, error) { return tr.target(raw, k, nil) }

// target is Target as that process sees the path; nil: as this one does.
func (tr *Tree) target(raw string, k permission.Kind, by *process) (Target, error) {
	t := Target{raw: raw}
	switch {
	case raw == "":
		return t, errors.New("the path is empty")
	case strings.ContainsRune(raw, 0):
		return t, errors.New("the path contains a NUL byte")
	case len(raw) > maxPath:
		return t, fmt.Errorf("the path has %d bytes, at most %d are possible", len(raw), maxPath)
	}
	p := raw
	if raw == "~" || strings.HasPrefix(raw, "~/") {
		t.tilde = true
		p = tr.Home + raw[1:]
	} else if !filepath.IsAbs(raw) {
		p = tr.Root + "/" + raw
	}
	abs, err := by.resolve(p)
	if err != nil {
		return t, err
	}
	t.Abs = abs
	if rel, ok := below(tr.Root, abs); ok {
		t.Rel, t.Inside = rel, true
	}
	own := false
	if k == permission.Read && tr.Outputs != "" {
		if out, err := resolve(tr.Outputs); err == nil {
			_, own = below(out, abs)
		}
	}
	t.Inside = t.Inside || own
	if t.Inside && t.Rel == "" {
		t.Rel = abs
	}
	if !own {
		t.forbidden = tr.forbidden(t, k)
		t.Sensitive = tr.sensitive(t)
	}
	if k == permission.Write && t.forbidden == "" {
		why, always := tr.guard(t)
		t.guarded = always
		if t.Sensitive == "" || always {
			t.Sensitive = why
		}
	}
	return t, nil
}

// resolve makes a path absolute and free of symbolic links, as the kernel would walk it; parts that do not exist are
// unchanged.
func resolve(p string) (string, error) { return (*process)(nil).resolve(p) }

// resolve is resolve for that process.
func (by *process) resolve(p string) (string, error) {
	parts, cur, hops := strings.Split(p, "/"), "/", 0
	for len(parts) > 0 {
		name := parts[0]
		parts = parts[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		next := filepath.Join(cur, name)
		if to, own := by.own(cur, name); own {
			if cur = to; to == "" { // this process has no such file
				return filepath.Join(append([]string{next}, parts...)...), nil
			}
			continue
		}
		fi, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, syscall.ENOTDIR):
			return "", fmt.Errorf("%s is not a directory", cur)
		case err != nil:
			return "", fmt.Errorf("look at path: %w", err)
		case fi.Mode()&fs.ModeSymlink != 0:
			if hops++; hops > maxLinks {
				return "", fmt.Errorf("%s: too many symbolic links (a loop?)", p)
			}
			to, err := os.Readlink(next)
			if err != nil {
				return "", fmt.Errorf("look at path: %w", err)
			}
			if filepath.IsAbs(to) {
				cur = "/"
			}
			parts = append(strings.Split(to, "/"), parts...)
			continue
		}
		cur = next
	}
	if len(cur) > maxPath {
		return "", fmt.Errorf("the path has %d bytes, at most %d are possible", len(cur), maxPath)
	}
	return cur, nil
}

// below returns p relative to dir, and whether it is there.
func below(dir, p string) (string, bool) {
	if dir == "" {
		return "", false
	}
	if p == dir {
		return ".", true
	}
	rel, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	return rel, ok
}
