package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// ripgrep searches with ripgrep. It finds the same as the walk; each file is judged before any of it is shown.
func (f *found) ripgrep(ctx context.Context, w *Walk, rg string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, rg, f.query.options(w)...)
	cmd.Dir = w.Base()
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
	err = f.lines(ctx, w, out)
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

// options are ripgrep's. No configuration file, no ignore files but git's, no links followed, nothing unpacked.
func (q *SearchQuery) options(w *Walk) []string {
	o := []string{
		"--no-config", "--null", "--line-number", "--no-heading", "--with-filename", "--color=never", "--hidden", "--no-messages", "--no-follow",
		"--sort=path", "--no-ignore-global", "--no-ignore-dot", "--no-require-git", "--crlf", "--max-columns=0", "--no-search-zip", "--no-pre", "--glob=!.git",
	}
	if w.All {
		o = append(o, "--no-ignore-vcs")
	}
	if q.IgnoreCase {
		o = append(o, "--ignore-case")
	}
	if q.namesFiles() {
		o = append(o, "--files-with-matches")
	}
	return append(o, "--regexp="+q.Pattern, "--", "./"+w.Start())
}

// namesFiles reports whether ripgrep only returns the names of files in which lines match. It knows no keys: naming a
// file, or showing the lines around a match, would tell what a key contains.
func (q *SearchQuery) namesFiles() bool { return q.FilesOnly || q.Context > 0 }

// lines reads ripgrep's answer: path, NUL, number, ':', text.
func (f *found) lines(ctx context.Context, w *Walk, out io.Reader) error {
	r := bufio.NewReaderSize(out, 64<<10)
	if f.query.namesFiles() {
		return f.named(ctx, w, r)
	}
	ok, last := false, ""
	for {
		b, _, err := ReadLine(ctx, r, maxLine)
		if err != nil && (!errors.Is(err, io.EOF) || len(b) == 0) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil
		}
		name, rest, cut := strings.Cut(string(b), "\x00")
		if !cut {
			continue
		}
		if name != last {
			var h *os.File
			if h, ok = f.open(w, name); ok {
				h.Close()
			}
			last = name
		}
		if !ok {
			continue
		}
		number, text, cut := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if err != nil || !cut {
			continue
		}
		text = strings.TrimSuffix(text, "\r")
		if told := f.keys.Text(text); told != text {
			if text = told; !matchesLine(ctx, f.query.re, []byte(text)) {
				continue // only a key matched: a result would tell what the key contains
			}
		}
		if err := f.match(ctx, w.Shown(name), n, text); err != nil {
			return err
		}
	}
}

// named reads the paths that ripgrep prints, each ended by NUL, and searches those files.
func (f *found) named(ctx context.Context, w *Walk, r *bufio.Reader) error {
	for {
		name, err := r.ReadString(0)
		if err != nil {
			return ctx.Err()
		}
		name = strings.TrimSuffix(name, "\x00")
		h, ok := f.open(w, name)
		if !ok {
			continue
		}
		err = f.scan(ctx, h, w.Shown(name))
		h.Close()
		if err != nil {
			return err
		}
	}
}

// open opens a file that ripgrep names, if it is one to search.
func (f *found) open(w *Walk, name string) (h *os.File, ok bool) {
	rel, ok := w.Rel(name)
	if !ok || !matchGlob(f.query.Glob, rel) {
		return nil, false
	}
	return w.OpenNamed(name)
}

// limited keeps the first bytes that are written to it.
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
