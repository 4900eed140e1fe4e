package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxMemory is the most of a project's own instructions that a system prompt
// holds, in bytes.
const maxMemory = 32 << 10

// Branch is the branch the workspace is on, read from git's own file: git itself
// could run what a repository's configuration says. A detached head is its short
// revision; "" if root is no git root.
func Branch(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := readHead(dir, 4<<10); err == nil {
		// A worktree or a submodule: a file that names the directory.
		to, found := strings.CutPrefix(strings.TrimSpace(link), "gitdir:")
		if !found {
			return ""
		}
		if dir = strings.TrimSpace(to); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	head, err := readHead(filepath.Join(dir, "HEAD"), 4<<10)
	if err != nil {
		return ""
	}
	line := strings.TrimSpace(head)
	if ref, found := strings.CutPrefix(line, "ref:"); found {
		ref = strings.TrimSpace(ref)
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	if len(line) < 12 || strings.Trim(line, "0123456789abcdef") != "" {
		return ""
	}
	return line[:12]
}

// Memory is the nearest AGENTS.md or CLAUDE.md from dir upwards, not beyond root:
// its path and its text. Both are empty if there is none.
func Memory(root, dir string) (path, text string) {
	for {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := readHead(path, maxMemory+1)
			if err != nil || strings.TrimSpace(text) == "" {
				continue
			}
			if len(text) > maxMemory {
				text = cutText(text, maxMemory) + "\n[cut here; read_file gives the rest]"
			}
			return path, strings.ToValidUTF8(text, "\uFFFD")
		}
		up := filepath.Dir(dir)
		if dir == root || up == dir {
			return "", ""
		}
		dir = up
	}
}

// cutText is at most n bytes of s, ending at a rune's end.
func cutText(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// readHead reads at most n bytes of a file.
func readHead(path string, n int64) (string, error) {
	// Opening anything else might wait for its other end.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, n))
	return string(text), err
}
