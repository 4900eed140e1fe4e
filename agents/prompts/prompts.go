// Package prompts holds what an agent is told before anything else.
//
// Does: fill the embedded texts main.md, sub.md, fork.md and observer.md with the facts of a start ([System]), find the text a
// project keeps for its agents ([Memory]), hold the text that asks for a summary ([Compact]).
//
// Does not: know an agent, a provider or a tool's arguments; tell a sub-agent anything about the one that dispatched
// it.
//
// Imports: nothing of ours.
package prompts

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed main.md sub.md fork.md observer.md
var texts embed.FS

//go:embed compact.md
var compact string

// Compact returns the text that tells a model to summarise a conversation.
func Compact() string { return compact }

// Facts is what a system prompt states. Name and Dir are required.
type Facts struct {
	Name     string // the agent's name
	Sub      bool   // it carries out a task and has no human at its tab
	Fork     bool   // it handles one message for another agent
	Observer bool   // it looks once, for a schedule, and reports
	Dir      string // the workspace
	Platform string // linux/amd64
	Date     string // 2026-11-21
	Branch   string // "" if there is none
	Memory   string // the text of AGENTS.md or CLAUDE.md; "" if there is none
	From     string // the path it was read from
}

// System returns the system prompt of an agent.
func System(f Facts) (string, error) {
	name := "main.md"
	switch {
	case f.Sub:
		name = "sub.md"
	case f.Fork:
		name = "fork.md"
	case f.Observer:
		name = "observer.md"
	}
	if f.Name == "" || f.Dir == "" {
		return "", errors.New("write the system prompt: the agent's name and the directory are required")
	}
	t, err := template.New("").Option("missingkey=error").ParseFS(texts, "main.md", "sub.md", "fork.md", "observer.md")
	if err != nil {
		return "", fmt.Errorf("read the system prompt: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, f); err != nil {
		return "", fmt.Errorf("write the system prompt: %w", err)
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

// memoryLimit is how much of a project's own text goes into every request.
const memoryLimit = 64 << 10

// Memory reads the nearest AGENTS.md, else CLAUDE.md, from dir up to root: a nearer directory wins, and within one
// directory AGENTS.md. A text over 64 KB is cut, and says so at its end. No file is no error: both results are "". A
// link that leads out of root counts as no file: a repository must not make a model read another file of the user's.
// root and dir are absolute and resolved.
func Memory(root, dir string) (path, text string, err error) {
	for {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			path = filepath.Join(dir, name)
			text, err = read(root, path)
			if err != nil {
				return "", "", fmt.Errorf("read the project's notes for agents: %w", err)
			}
			if strings.TrimSpace(text) != "" {
				return path, text, nil
			}
		}
		if up := filepath.Dir(dir); dir != root && up != dir {
			dir = up
			continue
		}
		return "", "", nil
	}
}

// read returns the text of a regular .md file in root; "" if there is none.
func read(root, path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, path); err != nil || !filepath.IsLocal(rel) {
		return "", nil
	}
	// A repository may link to a file that is only its user's: .env, for example, is no notes.
	if !strings.EqualFold(filepath.Ext(path), ".md") {
		return "", nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, memoryLimit+1))
	if err != nil {
		return "", err
	}
	cut := ""
	if len(data) > memoryLimit {
		data = data[:memoryLimit]
		for i := 1; i <= utf8.UTFMax; i++ {
			if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					data = data[:len(data)-i]
				}
				break
			}
		}
		cut = "\n[cut here: only the first 64 KB are read]\n"
	}
	return strings.ToValidUTF8(string(data), "\uFFFD") + cut, nil
}
