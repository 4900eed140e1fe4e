package composer

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

const (
	// MaxFiles is how many files are listed; further ones are left out, the deepest first.
	MaxFiles = 50_000
	// maxIgnore bounds how much of a .gitignore is read.
	maxIgnore = 1 << 20
)

// dir is a directory still to be read, and the patterns that apply in it, the strongest last.
type dir struct {
	parts    []string
	patterns []gitignore.Pattern
}

// ScanFiles lists the files below root, relative to it and with slashes: shallow ones first, each directory in the
// order of its names. It leaves out .git and what .gitignore files or .git/info/exclude name, follows no link, and
// skips directories that it may not read. It returns an error if root can't be read or ctx ends. It does I/O all the
// while: never call it on the interface's goroutine.
func ScanFiles(ctx context.Context, root string) ([]string, error) {
	var out []string
	queue := []dir{{patterns: patterns(filepath.Join(root, ".git", "info", "exclude"), nil)}}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
		entries, err := os.ReadDir(filepath.Join(root, filepath.Join(d.parts...)))
		if err != nil {
			if len(d.parts) == 0 {
				return nil, fmt.Errorf("list files: %w", err)
			}
			continue
		}
		for _, e := range entries {
			if e.Name() == ".gitignore" && e.Type().IsRegular() {
				own := patterns(filepath.Join(root, filepath.Join(d.parts...), e.Name()), d.parts)
				d.patterns = append(slices.Clip(d.patterns), own...)
			}
		}
		m := gitignore.NewMatcher(d.patterns)
		for _, e := range entries {
			if e.Name() == ".git" {
				continue
			}
			parts := append(slices.Clip(d.parts), e.Name())
			if m.Match(parts, e.IsDir()) {
				continue
			}
			switch {
			case e.IsDir():
				queue = append(queue, dir{parts, d.patterns})
			case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
				out = append(out, strings.Join(parts, "/"))
				if len(out) == MaxFiles {
					return out, nil
				}
			}
		}
	}
	return out, nil
}

// patterns reads a file of patterns that apply below the directory of parts. A file that can't be read has none.
func patterns(path string, parts []string) []gitignore.Pattern {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	var out []gitignore.Pattern
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		out = append(out, gitignore.ParsePattern(line, parts))
	}
	return out
}
