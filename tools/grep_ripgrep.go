package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// ripgrep returns the absolute path of a ripgrep that nobody but its owner could
// have put there, "" if there is none. One inside the workspace does not count.
func (e *Env) ripgrep() string {
	dirs := ""
	for _, v := range e.Environ {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs = p
		}
	}
	for _, d := range filepath.SplitList(dirs) {
		if !filepath.IsAbs(d) {
			continue
		}
		p, err := resolve(filepath.Join(d, "rg"))
		if err != nil {
			continue
		}
		fi, err := os.Lstat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 || fi.Mode()&0o002 != 0 {
			continue
		}
		if _, ok := below(e.Root, p); !ok {
			return p
		}
	}
	return ""
}

// ripgrep searches with ripgrep. It finds what the walk would; each file it
// names is judged before its lines are shown.
func (w *walk) ripgrep(ctx context.Context, rg string, f *found) error {
	dir, err := w.env.holdDir(w.from.abs, false)
	if err != nil {
		return err
	}
	dir.Close()
	ignore, ignored := w.inherited()
	w.all = w.all || ignored
	if !w.all && !(w.plainAbove() && w.plainBelow(ctx, w.from.abs, ignore)) {
		return w.grep(ctx, f)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, rg, w.options(f.search)...)
	cmd.Dir = w.base()
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	var complaint bytes.Buffer
	cmd.Stderr = &limited{w: &complaint, left: 1 << 10}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start ripgrep: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ripgrep: %w", err)
	}
	err = w.lines(ctx, out, f)
	stop()
	waited := cmd.Wait()
	if err != nil {
		return err
	}
	var ended *exec.ExitError
	// 1 is no match; 2 with matches or without complaints is a file that could not be read.
	if errors.As(waited, &ended) && ended.ExitCode() == 2 && complaint.Len() > 0 && f.matches == 0 {
		return errors.New(strings.TrimSpace(complaint.String()))
	}
	return nil
}

// plainAbove reports whether the ignore files of the directories that hold the
// search are plain files or missing. ripgrep opens whatever they are: a pipe
// would hold it for ever, and a link to /dev/zero takes all memory.
func (w *walk) plainAbove() bool {
	for dir := w.from.abs; ; dir = filepath.Dir(dir) {
		for _, name := range []string{".gitignore", ".git/info/exclude"} {
			if fi, err := os.Lstat(filepath.Join(dir, name)); err == nil && !fi.Mode().IsRegular() {
				return false
			}
		}
		if dir == "/" {
			return true
		}
	}
}

// plainBelow is plainAbove for the directories of the search that git does not ignore.
func (w *walk) plainBelow(ctx context.Context, dir string, ignore []gitignore.Pattern) bool {
	list, err := os.ReadDir(dir)
	if err != nil || ctx.Err() != nil { // ripgrep can't read it either, or is not going to run
		return true
	}
	rel, _ := below(w.from.abs, dir)
	domain := w.domain(rel)
	if i := slices.IndexFunc(list, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }); i >= 0 {
		if !list[i].Type().IsRegular() {
			return false
		}
		ignore = append(slices.Clip(ignore), w.patterns(dir, domain, ".gitignore")...)
	}
	match := gitignore.NewMatcher(ignore)
	for _, d := range list {
		if !d.IsDir() || d.Name() == ".git" || match.Match(append(slices.Clip(domain), d.Name()), true) {
			continue
		}
		if !w.plainBelow(ctx, filepath.Join(dir, d.Name()), ignore) {
			return false
		}
	}
	return true
}

// options are ripgrep's. No configuration file, no ignore files but git's, no
// links followed, nothing unpacked.
func (w *walk) options(s search) []string {
	o := []string{
		"--no-config", "--null", "--line-number", "--no-heading", "--with-filename", "--color=never", "--hidden", "--no-messages", "--no-follow",
		"--sort=path", "--no-ignore-global", "--no-ignore-dot", "--no-require-git", "--crlf", "--max-columns=0", "--no-search-zip", "--no-pre", "--glob=!.git",
	}
	if w.all {
		o = append(o, "--no-ignore-vcs")
	}
	if s.IgnoreCase {
		o = append(o, "--ignore-case")
	}
	if s.FilesOnly {
		o = append(o, "--files-with-matches")
	} else if s.Context > 0 {
		o = append(o, "--context="+strconv.Itoa(s.Context))
	}
	rel, _ := below(w.base(), w.from.abs)
	return append(o, "--regexp="+s.Pattern, "--", "./"+rel)
}

// lines reads ripgrep's answer: path, NUL, number, ':' or '-', text.
func (w *walk) lines(ctx context.Context, out io.Reader, f *found) error {
	r := bufio.NewReaderSize(out, 64<<10)
	if f.search.FilesOnly {
		return w.names(r, f)
	}
	ok, last := false, ""
	for {
		b, _, err := readLine(ctx, r, grepLine)
		if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil
		}
		name, rest, cut := strings.Cut(string(b), "\x00")
		if !cut { // "--" between groups
			continue
		}
		if name != last {
			ok, last = w.may(name, f.search.Glob), name
		}
		if !ok {
			continue
		}
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(rest[:i])
		if err != nil || i == len(rest) {
			continue
		}
		text := strings.TrimSuffix(rest[i+1:], "\r")
		if told := f.keys.Text(text); told != text {
			if text = told; rest[i] == ':' && !matches(ctx, f.search.re, text) {
				continue // only a key matched: to say so would tell what is in it
			}
		}
		if rest[i] != ':' {
			f.show(w.named(name), n, '-', text)
		} else if err := f.match(w.named(name), n, text); err != nil {
			return err
		}
	}
}

// names reads ripgrep's answer of paths, each ended by NUL.
func (w *walk) names(r *bufio.Reader, f *found) error {
	for {
		name, err := r.ReadString(0)
		if err != nil {
			return nil
		}
		if name = strings.TrimSuffix(name, "\x00"); w.may(name, f.search.Glob) {
			if err := f.match(w.named(name), 0, ""); err != nil {
				return err
			}
		}
	}
}

// may judges a file that ripgrep names.
func (w *walk) may(name, glob string) bool {
	abs := filepath.Join(w.base(), name)
	rel, ok := below(w.from.abs, abs)
	if !ok || !matchGlob(glob, rel) {
		return false
	}
	fi, ok := isRegular(abs)
	if !ok || w.closed[identity(fi)] {
		return false
	}
	for _, p := range w.paths {
		if _, in := below(p, abs); in {
			return false
		}
	}
	// ripgrep before version 14 forgets patterns of the directories above where it begins.
	if !w.all && w.ignored(name) {
		return false
	}
	dir, err := w.env.holdDir(filepath.Dir(abs), false)
	if err != nil {
		return false
	}
	defer dir.Close()
	h, fi, err := openIn(dir, filepath.Base(abs), w.closed)
	if err != nil {
		return false
	}
	defer h.Close()
	return !w.secret(entry{rel: rel, show: w.shown(rel)}, fi, h)
}

// named is a file that ripgrep names as people read it.
func (w *walk) named(name string) string {
	rel, _ := below(w.from.abs, filepath.Join(w.base(), name))
	return w.shown(rel)
}

// limited keeps the first bytes of what is written to it.
type limited struct {
	w    *bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.left, len(b))
	l.left -= n
	l.w.Write(b[:n])
	return len(b), nil
}
