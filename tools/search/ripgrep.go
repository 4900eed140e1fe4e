package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"fantail/tools/content"
	"fantail/tools/workspace"
)

// ripgrep searches with ripgrep. It finds what the walk would; each file it
// names is judged before its lines are shown.
func (f *found) ripgrep(ctx context.Context, w *workspace.Walk, rg string) error {
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

// options are ripgrep's. No configuration file, no ignore files but git's, no
// links followed, nothing unpacked.
func (q *Query) options(w *workspace.Walk) []string {
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
	if q.FilesOnly {
		o = append(o, "--files-with-matches")
	} else if q.Context > 0 {
		o = append(o, "--context="+strconv.Itoa(q.Context))
	}
	return append(o, "--regexp="+q.Pattern, "--", "./"+w.Start())
}

// lines reads ripgrep's answer: path, NUL, number, ':' or '-', text.
func (f *found) lines(ctx context.Context, w *workspace.Walk, out io.Reader) error {
	r := bufio.NewReaderSize(out, 64<<10)
	if f.query.FilesOnly {
		return f.names(w, r)
	}
	ok, last := false, ""
	for {
		b, _, err := content.ReadLine(ctx, r, maxLine)
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
			ok, last = f.may(w, name), name
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
			if text = told; rest[i] == ':' && !matches(ctx, f.query.re, text) {
				continue // only a key matched: to say so would tell what is in it
			}
		}
		if rest[i] != ':' {
			f.show(w.Shown(name), n, '-', text)
		} else if err := f.match(w.Shown(name), n, text); err != nil {
			return err
		}
	}
}

// names reads ripgrep's answer of paths, each ended by NUL.
func (f *found) names(w *workspace.Walk, r *bufio.Reader) error {
	for {
		name, err := r.ReadString(0)
		if err != nil {
			return nil
		}
		if name = strings.TrimSuffix(name, "\x00"); f.may(w, name) {
			if err := f.match(w.Shown(name), 0, ""); err != nil {
				return err
			}
		}
	}
}

// may judges a file that ripgrep names.
func (f *found) may(w *workspace.Walk, name string) bool {
	rel, ok := w.Rel(name)
	return ok && matchGlob(f.query.Glob, rel) && w.Admits(name)
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
