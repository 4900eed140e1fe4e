package permission

import (
	"path"
	"path/filepath"
	"strings"

	"fantail/tools/permission/shell"
)

// here reports whether the command runs in the directory the rule was given in.
func (r parsed) here(c shell.Command, root string) bool {
	dir, ok := c.Dir(root)
	if r.star && r.dir == "" && shell.FromAbove(c, c.Climbed(root)) {
		return true
	}
	return r.star && shell.Anywhere(c) || ok && dir == r.dir
}

// at is the rule for the command's directory; why says that the directory is unknown.
func (r Rule) at(c shell.Command, root string) (q Rule, why string) {
	dir, ok := c.Dir(root)
	switch {
	case strings.HasSuffix(string(r), " *)") && shell.Anywhere(c):
		return r, ""
	case !ok:
		return "", "it may run in several directories (cd DIR && … names one)"
	}
	return r.in(dir), ""
}

// in is the rule for the directory, in its shown form.
func (r Rule) in(dir string) Rule {
	if dir == "" || r == "" {
		return r
	}
	return r + Rule(" in "+dir)
}

// cutDir splits a command's rule into its text and its directory.
func cutDir(s string) (rule, dir string, err string) {
	if strings.HasSuffix(s, ")") {
		return s, "", ""
	}
	i := strings.LastIndex(s, ") in ")
	if i < 0 || !strings.HasPrefix(s, "bash(") {
		return s, "", ""
	}
	rule, dir = s[:i+1], strings.TrimSuffix(strings.TrimSpace(s[i+len(") in "):]), "/")
	switch {
	case dir == "." || dir == "":
		return rule, "", ""
	case !filepath.IsLocal(dir) || path.Clean(dir) != dir || strings.ContainsAny(dir, "~*?[\n\r\x00"):
		return s, "", "a rule's directory is one of the workspace, written from there, as in bash(make) in third_party/x"
	}
	return rule, dir, ""
}
