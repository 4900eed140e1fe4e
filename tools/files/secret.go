package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"fantail/tools/permission"
	"fantail/tools/permission/shell"
)

// Secret says which secret a path of a command leads to, or holds: see permission.Reach. "" if none. A relative path is
// relative to the workspace, unless how says otherwise.
func (tr *Tree) Secret(p string, how permission.Reach) string {
	p = tr.absolute(p)
	by := tr.by(how)
	switch {
	case how.Pattern:
		if p = by.begin(p); by.has(p) {
			return untold(p)
		}
		names, why := matches(p)
		if why != "" {
			return "secrets: " + p + " " + why
		}
		for _, n := range names {
			if hides(p, n) {
				continue
			}
			if why := tr.Secret(n, permission.Reach{Dir: how.Dir, Boxed: how.Boxed}); why != "" {
				return why
			}
		}
		return ""
	case !how.Below:
		return tr.secretAt(p, by)
	}
	at, err := by.resolve(p)
	if err != nil {
		return ""
	}
	rel, ok := below(tr.Root, at)
	if !ok {
		return "what is outside the workspace"
	}
	// After a link ripgrep matches patterns relative to the link.
	s := &sweep{tree: tr, how: how, left: maxNames, bold: at != filepath.Clean(p)}
	fi, err := os.Lstat(at)
	switch {
	case err != nil: // there is nothing to read
		return ""
	case !fi.IsDir():
		return tr.secretAt(at, by)
	}
	var ignore []gitignore.Pattern
	if !how.Hidden {
		ignore = s.above(rel)
	}
	if rel == "." {
		rel = ""
	}
	return s.dir(at, rel, ignore)
}

// secretAt is Secret for one file or directory itself.
func (tr *Tree) secretAt(p string, by *process) string {
	at, err := by.resolve(p)
	if err != nil {
		return ""
	}
	if by.has(at) {
		if why := shell.SensitiveFile(at); why != "" {
			return why
		}
		return untold(at)
	}
	if _, err := os.Lstat(at); err != nil {
		return ""
	}
	t, err := tr.target(p, permission.Read, by)
	if err != nil {
		return ""
	}
	return t.Sensitive + t.forbidden + tr.barred(t.Abs)
}

// barred says which rule forbids reading a path; "" if none does.
func (tr *Tree) barred(abs string) string {
	if tr.Barred == nil {
		return ""
	}
	return tr.Barred(abs)
}

// hides reports whether a shell skips a name that the pattern matches: a * matches no leading dot there.
func hides(pattern, name string) bool {
	parts := strings.Split(pattern, "/")
	for i, s := range strings.Split(name, "/") {
		if i < len(parts) && strings.HasPrefix(s, ".") && !strings.HasPrefix(parts[i], ".") && !strings.HasPrefix(parts[i], `\.`) {
			return true
		}
	}
	return false
}

// sweep looks for secrets by their names. It caches nothing: the next may find others.
type sweep struct {
	tree    *Tree
	how     permission.Reach
	left    int
	bold    bool          // an ignore file may bring back files that are skipped otherwise
	secrets map[id]string // files that hold secrets; made when a file with several names is met
}

// dir checks one directory and those below it.
func (s *sweep) dir(dir, rel string, ignore []gitignore.Pattern) string {
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsPermission(err) && !os.IsNotExist(err) {
		return "what can't be looked at in " + filepath.Join(rel, ".")
	}
	var domain []string
	if rel != "" {
		domain = strings.Split(rel, "/")
	}
	if !s.how.Hidden {
		if rel != "" && slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == ".git" }) {
			ignore = nil // a nested repository: the patterns above do not apply
		}
		ignore = slices.Clip(ignore)
		for _, l := range s.patterns(dir) {
			ignore = append(ignore, gitignore.ParsePattern(l, domain))
		}
	}
	match := gitignore.NewMatcher(ignore)
	for _, d := range list {
		if s.left--; s.left < 0 {
			return "secrets: there are too many files to look at"
		}
		p, r := filepath.Join(dir, d.Name()), filepath.Join(rel, d.Name())
		if !s.how.Hidden && !s.bold && (d.Name()[0] == '.' || match.Match(append(slices.Clone(domain), d.Name()), d.IsDir())) {
			continue
		}
		why := s.tree.barred(p)
		switch {
		case why != "":
		case d.IsDir() && d.Name() == ".git": // its other files are packed
			why = s.config(p)
		case d.IsDir():
			why = s.dir(p, r, ignore)
		case !d.Type().IsRegular() || s.how.Only != nil && !s.how.Only(d.Name()):
		default:
			why = s.file(d, p, r)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// file judges one file.
func (s *sweep) file(d fs.DirEntry, p, rel string) string {
	if why := shell.SensitiveFile(rel); why != "" {
		return why
	}
	if shell.IsDoubtful(rel) {
		return s.tree.holds(Target{Abs: p})
	}
	fi, err := d.Info()
	if err != nil || links(fi) < 2 {
		return ""
	}
	if s.secrets == nil {
		s.secrets = s.tree.secrets()
	}
	if of, ok := s.secrets[identity(fi)]; ok {
		return "secrets: " + rel + " is another name of a file of " + of
	}
	return ""
}

// config checks git's files whose names are no secret's.
func (s *sweep) config(git string) string {
	more, _ := filepath.Glob(filepath.Join(git, "modules", "*", "config"))
	for _, p := range append(more, filepath.Join(git, "config")) {
		if why := s.tree.holds(Target{Abs: p}); why != "" {
			return why
		}
	}
	return ""
}

// above returns the patterns of the directories above the one where a search begins. Older ripgreps ignore those with a
// slash.
func (s *sweep) above(rel string) (ps []gitignore.Pattern) {
	var domain []string
	for _, name := range strings.Split(rel, "/") {
		if name == "." {
			break
		}
		dir := filepath.Join(append([]string{s.tree.Root}, domain...)...)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			ps = nil
		}
		for _, l := range s.patterns(dir) {
			if !strings.Contains(strings.TrimSuffix(l, "/"), "/") {
				ps = append(ps, gitignore.ParsePattern(l, domain))
			}
		}
		domain = append(slices.Clip(domain), name)
	}
	return ps
}

// shared are the patterns that git and ripgrep read alike.
var shared = regexp.MustCompile(`^/?([A-Za-z0-9_.-]+/)*[A-Za-z0-9_.*-]+/?$`)

// patterns returns those of a directory's .gitignore, if ripgrep obeys it: in a repository. If one of the files that
// ripgrep obeys brings a file back, it returns none.
func (s *sweep) patterns(dir string) (lines []string) {
	for _, name := range []string{".ignore", ".rgignore", ".gitignore", ".git/info/exclude"} {
		p := filepath.Join(dir, name)
		fi, err := os.Stat(p)
		if err != nil {
			continue
		}
		if !fi.Mode().IsRegular() || fi.Size() > 1<<20 {
			s.bold = true
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			s.bold = true
		}
		for l := range strings.Lines(string(text)) {
			switch l = strings.TrimRight(l, "\r\n \t"); {
			case strings.HasPrefix(strings.TrimPrefix(l, "\ufeff"), "!"):
				s.bold = true
			case name == ".gitignore" && shared.MatchString(l) && !strings.Contains(l, "**") && s.repository():
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// repository reports whether the workspace is one of git's.
func (s *sweep) repository() bool {
	_, err := os.Lstat(filepath.Join(s.tree.Root, ".git"))
	return err == nil
}
