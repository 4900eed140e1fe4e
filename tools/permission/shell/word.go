package shell

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Readings are the paths that a word may mean: itself, and its part after an option's letter, a blank or one of =:@,.
func (w Word) Readings() []string {
	text := w.Text
	out := []string{text}
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("=:@, \t\n", text[i]) >= 0 {
			add(text[i+1:])
		}
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		add(text[2:])
	}
	return out
}

// BadPath says why a word can't be an argument, or "": as a path, or after an option or a colon, it would leave the
// directory or name a protected file.
func (w Word) BadPath(dir string) string { return badPath(w, dir, false) }

// BadInput is BadPath for a command that only reads: git's own files are not protected then.
func (w Word) BadInput(dir string) string { return badPath(w, dir, true) }

func badPath(w Word, dir string, reads bool) string {
	for _, t := range w.Readings() {
		if strings.HasPrefix(t, "~") {
			return t + " may be read as a home directory"
		}
		if t == "/dev/null" {
			continue
		}
		parts := strings.Split(t, "/")
		if slices.Contains(parts, "..") {
			return t + " leads outside"
		}
		if strings.HasPrefix(t, "/") {
			rel, err := filepath.Rel(dir, path.Clean(t))
			if dir == "" || err != nil || !filepath.IsLocal(rel) {
				return t + " is outside the workspace"
			}
			t = rel
		}
		if why := Sensitive(t); why != "" {
			return t + " names " + why
		}
		if !reads && slices.ContainsFunc(parts, func(s string) bool { return strings.EqualFold(s, ".git") }) {
			return t + " is inside .git"
		}
	}
	if w.Pattern != "" {
		if why := SensitivePattern(w.Pattern); why != "" {
			return "it may name " + why
		}
		for _, s := range strings.Split(w.Pattern, "/") {
			s = Brackets(s)
			if m, err := path.Match(strings.ToLower(s), ".git"); (m || err != nil) && strings.HasPrefix(s, ".") {
				return w.Text + " may match .git"
			}
			if m, _ := path.Match(s, ".."); m && strings.HasPrefix(s, ".") {
				return w.Text + " may lead outside"
			}
		}
	}
	return ""
}

// Texts are the words as the program gets them.
func Texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// Quote writes words as the shell reads them back.
func Quote(words []string) (string, error) {
	q := make([]string, 0, len(words))
	for _, w := range words {
		s, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("quote %q: %w", w, err)
		}
		q = append(q, s)
	}
	return strings.Join(q, " "), nil
}
