package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"fantail/tools/permit"
)

const (
	maxPath  = 4096
	maxLinks = 40
)

// id is what two names of one file share.
type id struct{ dev, ino uint64 }

// identity returns the file's id.
func identity(fi fs.FileInfo) id {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return id{uint64(s.Dev), uint64(s.Ino)}
	}
	return id{}
}

// links is how many names the file has.
func links(fi fs.FileInfo) uint64 {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// target is a path a call names, as judged before anything is opened. abs has no
// symbolic links; opening it later finds the same place or fails.
type target struct {
	raw       string
	abs       string
	rel       string // from the workspace; "" outside
	inside    bool
	sensitive string
	guarded   bool // as permit.Action's
	forbidden string
	tilde     bool // written with ~, which is judged but never opened
}

// show is the path as people and models read it.
func (t target) show() string {
	if t.inside {
		return t.rel
	}
	return t.abs
}

// touch adds the target to an action.
func (t target) touch(a permit.Action) permit.Action {
	a.Paths = append(a.Paths, t.abs)
	a.Outside = a.Outside || !t.inside
	if a.Sensitive == "" {
		a.Sensitive = t.sensitive
	}
	a.Guarded = a.Guarded || t.guarded
	if a.Forbidden == "" {
		a.Forbidden = t.forbidden
	}
	return a
}

// refused is the error for opening a target that may not be opened.
func (t target) refused() error {
	if t.forbidden != "" {
		return errors.New(t.forbidden)
	}
	if t.tilde {
		return fmt.Errorf("%s: ~ is not expanded; use the absolute path %s", t.raw, t.abs)
	}
	return nil
}

// target judges a path. It follows symbolic links, and opens nothing but
// a regular file that is open to tools, to see how it begins.
func (e *Env) target(raw string, k permit.Kind) (target, error) {
	t := target{raw: raw}
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
		p = e.home() + raw[1:]
	} else if !filepath.IsAbs(raw) {
		p = e.Root + "/" + raw
	}
	abs, err := resolve(p)
	if err != nil {
		return t, err
	}
	t.abs = abs
	if rel, ok := below(e.Root, abs); ok {
		t.rel, t.inside = rel, true
	}
	own := false
	if k == permit.Read && e.Outputs != "" {
		if out, err := resolve(e.Outputs); err == nil {
			_, own = below(out, abs)
		}
	}
	t.inside = t.inside || own
	if t.inside && t.rel == "" {
		t.rel = abs
	}
	if !own {
		t.forbidden = e.forbidden(t, k)
		t.sensitive = e.sensitive(t)
	}
	if k == permit.Write && t.forbidden == "" {
		why, always := e.guard(t)
		t.guarded = always
		if t.sensitive == "" || always {
			t.sensitive = why
		}
	}
	return t, nil
}

// maxMatches bounds how many files a pattern of a command is followed to.
const maxMatches = 2000

// leads says where links lead a path of a command, if that is closed, secret or
// outside though its name is not; or, of a pattern, a file it matches.
func (e *Env) leads(p string, pattern bool) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(e.Root, p)
	}
	if !pattern {
		return e.leadsFrom(p)
	}
	wild := 0
	for _, s := range strings.Split(p, "/") {
		if strings.ContainsAny(s, "*?[") {
			wild++
		}
	}
	if wild > 2 {
		return "is too wide a pattern to follow"
	}
	names, _ := filepath.Glob(p)
	if len(names) > maxMatches {
		return "matches too many files to follow"
	}
	for _, n := range names {
		if where := e.leadsFrom(n); where != "" {
			return "matches " + filepath.Base(n) + ", which " + where
		}
	}
	return ""
}

func (e *Env) leadsFrom(p string) string {
	real, err := resolve(p)
	if err != nil { // what can't be looked at can't be opened
		return ""
	}
	if real == filepath.Clean(p) {
		if fi, err := os.Lstat(real); err != nil || !fi.Mode().IsRegular() {
			return ""
		} else if why := e.holds(target{abs: real}); why != "" {
			return "holds " + why
		} else if links(fi) < 2 {
			return ""
		}
	}
	t, err := e.target(p, permit.Read)
	switch {
	case err != nil:
		return ""
	case t.forbidden != "" || t.sensitive != "":
		return "leads to " + t.abs + ": " + t.forbidden + t.sensitive
	case !t.inside:
		return "leads out of the workspace, to " + t.abs
	case real != filepath.Clean(p) && slices.Contains(strings.Split(real, "/"), ".git"):
		return "leads into .git"
	}
	return ""
}

// resolve makes a path absolute and free of symbolic links, as the kernel would
// walk it; parts that do not exist stay as they are written.
func resolve(p string) (string, error) {
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

// below returns p counted from dir, and whether it lies there.
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

// home is the user's home directory, "" if unknown.
func (e *Env) home() string {
	for _, v := range e.Environ {
		if h, ok := strings.CutPrefix(v, "HOME="); ok && h != "" {
			return h
		}
	}
	h, _ := os.UserHomeDir()
	return h
}

// forbidden says why the target may never be opened.
func (e *Env) forbidden(t target, k permit.Kind) string {
	for _, p := range e.private() {
		if _, ok := below(p, t.abs); ok {
			return t.raw + " is Fantail's own (its database, sockets and configuration are closed to tools)"
		}
	}
	if fi, err := os.Lstat(t.abs); err == nil && e.privateIDs()[identity(fi)] {
		return t.raw + " is another name of a file of Fantail's own (its database, sockets and configuration are closed to tools)"
	}
	if k == permit.Write {
		for _, s := range strings.Split(t.abs, "/") {
			if strings.EqualFold(s, ".git") {
				return t.raw + " is git's own: hooks and configuration run programs, so file tools never write there. Use git through bash"
			}
		}
	}
	return ""
}

// private returns the private paths, resolved, with the files SQLite keeps beside a database.
func (e *Env) private() []string {
	var out []string
	for _, p := range e.Private {
		abs, err := resolve(p)
		if err != nil {
			abs = filepath.Clean(p)
		}
		out = append(out, abs)
		if fi, err := os.Lstat(abs); err == nil && !fi.IsDir() {
			out = append(out, abs+"-wal", abs+"-shm", abs+"-journal")
		}
	}
	return out
}

// privateIDs are the private files and directories by identity: other names of
// them are closed too. Directories are read, files never opened.
func (e *Env) privateIDs() map[id]bool {
	out := map[id]bool{}
	own, err := resolve(e.Outputs)
	if e.Outputs == "" || err != nil {
		own = ""
	}
	for _, p := range e.private() {
		identities(p, 3, own, out)
	}
	return out
}

// identities adds what stands at and, to that depth, below p. The directories
// that lead to own are left out: they hold many files, and are judged by name.
func identities(p string, depth int, own string, out map[id]bool) {
	fi, err := os.Lstat(p)
	if err != nil || len(out) >= maxPrivate {
		return
	}
	out[identity(fi)] = true
	if !fi.IsDir() || depth == 0 {
		return
	}
	names, err := os.ReadDir(p)
	if err != nil {
		return
	}
	for _, n := range names {
		q := filepath.Join(p, n.Name())
		if _, leads := below(q, own); !leads || own == "" {
			identities(q, depth-1, own, out)
		}
	}
}

// guard says why writing the target asks where writing is free; always: in every
// mode, since agents obey it.
func (e *Env) guard(t target) (why string, always bool) {
	name := t.abs
	if t.inside {
		name = t.rel
	}
	if why := permit.Obeyed(name); why != "" {
		return why, true
	}
	if why := e.obeyed(t.abs); why != "" {
		return why, true
	}
	if why := permit.SelfRun(name); why != "" {
		return why, false
	}
	if fi, err := os.Lstat(t.abs); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
		return fmt.Sprintf("a program (mode %04o)", fi.Mode().Perm()), false
	}
	return t.bare(), false
}

// obeyed says why agents obey a file though its name does not tell: a link of such
// a name leads to it. Links are looked for in the workspace and in its directories.
func (e *Env) obeyed(abs string) string {
	list, _ := os.ReadDir(e.Root)
	for _, d := range list {
		if why := e.obeyedLink(d, "", abs); why != "" {
			return why
		}
		if !d.IsDir() || d.Name() == "node_modules" || d.Name() == ".git" {
			continue
		}
		below, _ := os.ReadDir(filepath.Join(e.Root, d.Name()))
		for _, b := range below {
			if why := e.obeyedLink(b, d.Name(), abs); why != "" {
				return why
			}
		}
	}
	return ""
}

func (e *Env) obeyedLink(d fs.DirEntry, dir, abs string) string {
	name := filepath.Join(dir, d.Name())
	why := ""
	if d.Type()&fs.ModeSymlink != 0 {
		why = permit.Obeyed(name)
	}
	if why == "" {
		return ""
	}
	to, err := resolve(filepath.Join(e.Root, name))
	if _, in := below(to, abs); err == nil && in {
		return why
	}
	return ""
}

// bareParts are what a repository's directory holds beside HEAD.
var bareParts = map[string]bool{"config": true, "config.worktree": true, "hooks": true, "objects": true, "refs": true, "info": true, "packed-refs": true, "commondir": true}

// bare says whether the target is a part of what makes a directory a bare
// repository, whose configuration git obeys for whoever enters it. It is none
// without HEAD, which is asked for by its name; here are the parts beside one.
func (t target) bare() string {
	name := filepath.Base(t.abs)
	for d := filepath.Dir(t.abs); d != "/"; name, d = filepath.Base(d), filepath.Dir(d) {
		if !bareParts[strings.ToLower(name)] {
			continue
		}
		if fi, err := os.Lstat(filepath.Join(d, "HEAD")); err == nil && !fi.IsDir() {
			return "what git takes for a repository (" + filepath.Base(d) + "/" + name + ")"
		}
	}
	return ""
}
