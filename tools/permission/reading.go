package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"fantail/tools/permission/shell"
)

// reads reports whether the script only reads in the workspace, as far as its words tell, and returns the secret that
// it would find there. It checks the files each time: without the functions for that, no script is known to only read.
func (s *script) reads(a Action) (secret string, ok bool) {
	if a.Leads == nil || a.Secrets == nil || s.unjudged(a.Dir) != "" {
		return "", false
	}
	git := false
	for _, c := range s.Commands {
		c = shell.Unwrap(c)
		r, why := shell.Reads(c, a.Dir)
		if len(c.Given) > 0 && !shell.TakesText(c) || why != "" || a.Strays == nil || a.Strays(c.Words[0].Text) != "" {
			return "", false
		}
		dir, one := c.Dir(a.Dir)
		if c.Words[0].Text == "git" {
			git = true
			if !one || dir != "" || a.Git == nil || a.Listed == nil {
				return "", false
			}
		}
		if len(r.Below) > 0 && !one {
			return "", false
		}
		for _, p := range r.Below {
			if !path.IsAbs(p) {
				p = path.Join(dir, p)
			}
			if secret == "" {
				secret = a.Secrets(p, Reach{Below: true, Hidden: r.Hidden, Only: r.Only})
			}
		}
		if r.Git != nil && secret == "" && a.Git(true) == "" {
			secret = a.Listed(r.Git)
		}
	}
	return secret, !git || a.Git(true) == ""
}

// names returns the secret that the script names, or may read because it reads everything: it looks at every word, also
// in parts that are not judged.
func (s *script) names(a Action) string {
	for _, said := range s.Said {
		for _, w := range mentions(said) {
			if why := shell.Sensitive(w); why != "" {
				return why
			}
			if a.Secrets == nil || strings.HasPrefix(w, "~") {
				continue
			}
			if why := a.Secrets(w, Reach{Pattern: strings.ContainsAny(w, "*?")}); why != "" {
				return why
			}
		}
	}
	if a.Secrets == nil {
		return ""
	}
	from := s.places()
	if from == nil {
		return "secrets: it changes the directory many times"
	}
	for _, w := range s.args() {
		for _, d := range from {
			if why := s.leads(a, w, d); why != "" {
				return why
			}
		}
	}
	for _, c := range s.Commands {
		if c = shell.Unwrap(c); !shell.Gathers(c) {
			continue
		}
		dir, one := c.Dir(a.Dir)
		if !one {
			dir = ""
		}
		if why := a.Secrets(path.Join(dir, "."), Reach{Below: true, Hidden: true}); why != "" {
			return why
		}
	}
	return ""
}

// leads says which secret a word, relative to the directory d, leads to.
func (s *script) leads(a Action, w shell.Word, d string) string {
	if w.Pattern != "" {
		p := shell.Brackets(w.Pattern)
		if !path.IsAbs(p) {
			p = path.Join(d, p)
		}
		return a.Secrets(p, Reach{Pattern: true, Dir: d})
	}
	for _, p := range w.Readings() {
		if p == "" || strings.HasPrefix(p, "-") {
			continue
		}
		if !path.IsAbs(p) {
			p = path.Join(d, p)
		}
		if why := a.Secrets(p, Reach{Dir: d}); why != "" {
			return why
		}
	}
	return ""
}

// mentions returns the possible paths in a word: the word itself, or the parts of a text or a script. There a part of
// only letters is a word of prose.
func mentions(said string) []string {
	parts := strings.FieldsFunc(said, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-~*?#", r)
	})
	if len(parts) == 1 {
		return parts
	}
	return slices.DeleteFunc(parts, func(p string) bool {
		return !strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) })
	})
}
