package permit

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"fantail/tools/permit/bash"
	"fantail/tools/permit/filenames"
	"fantail/tools/permit/programs"
)

// reads reports whether the script only reads in the workspace, as far as its words
// tell, and which secret it would find there by itself. It is looked for in the files,
// each time: where nobody looks, nothing is known to only read.
func (s *script) reads(a Action) (secret string, ok bool) {
	if a.Leads == nil || a.Secrets == nil || s.unjudged(a.Dir) != "" {
		return "", false
	}
	git := false
	for _, c := range s.Commands {
		c = programs.Unwrap(c)
		r, why := programs.Reads(c, a.Dir)
		if why != "" || a.Strays == nil || a.Strays(c.Words[0].Text) != "" {
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

// names says which secret the script names, or may read because it takes all there is:
// by any word in it, also in what is not judged.
func (s *script) names(a Action) string {
	for _, said := range s.Said {
		for _, w := range mentions(said) {
			if why := filenames.Sensitive(w); why != "" {
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
		if c = programs.Unwrap(c); !programs.Gathers(c) {
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

// leads says to which secret a word leads that counts from the directory d.
func (s *script) leads(a Action, w bash.Word, d string) string {
	if w.Pattern != "" {
		return a.Secrets(path.Join(d, filenames.Brackets(w.Pattern)), Reach{Pattern: true})
	}
	for _, p := range w.Readings() {
		if p == "" || strings.HasPrefix(p, "-") {
			continue
		}
		if !path.IsAbs(p) {
			p = path.Join(d, p)
		}
		if why := a.Secrets(p, Reach{}); why != "" {
			return why
		}
	}
	return ""
}

// mentions are what may be paths in a word: itself, and, of one that is a text or a
// script, the parts of it. A part of letters only is a word of prose there.
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
