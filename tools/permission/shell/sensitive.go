package shell

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// procSecrets are the files of a process's directory that show its environment or memory.
var procSecrets = map[string]bool{"environ": true, "mem": true, "maps": true, "auxv": true, "pagemap": true, "stack": true, "syscall": true}

// Endings of source code; a pattern for source code reads no secrets.
var codeEnds = map[string]bool{
	".go": true, ".py": true, ".js": true, ".ts": true, ".tsx": true, ".jsx": true, ".rs": true, ".c": true, ".h": true, ".cc": true,
	".cpp": true, ".java": true, ".kt": true, ".rb": true, ".php": true, ".sh": true, ".md": true, ".css": true, ".html": true,
	".sql": true, ".swift": true, ".cs": true, ".mod": true, ".sum": true, ".proto": true, ".lua": true, ".txt": true,
}

var (
	// stage matches .env.local, .env-prod, .env_test, .env2 and .env~, not .envoy.
	stage = lazy(`^\.env([^a-z]|$)`)
	// numbered finds the number or date after the name of a copy.
	numbered = lazy(`([.-][0-9]{1,14}|\.~[0-9]+~| \([0-9]+\))$`)
	// keyHead is how the text of a private key begins.
	keyHead = lazy(`(?m)^[ \t\x{feff}]*(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|PuTTY-User-Key-File-[0-9]+:|AGE-SECRET-KEY-1)|"private_?[kK]ey"[ \t]*:[ \t]*"-----BEGIN`)
	// login finds credentials in the doubtful files.
	login = lazy(`(?i)://[^/\s:@"']*:[^/\s@"']+@|://[a-z0-9_-]{20,}@|extraheader|authorization|_auth\b|auth_?token|npmauth|password|passwd|secret|api_?key|access_?token|private_?token|bearer`)
)

// Sensitive says which secrets a file of that path holds, judging by its name; "" if none. The path has slashes; for a
// file of the workspace it is relative to it. Sensitive opens no file.
func Sensitive(p string) string {
	parts := strings.Split(Fold(path.Clean("/" + p))[1:], "/")
	dir := ""
	for i, s := range parts {
		if what := secretName(dir, s, i == len(parts)-1); what != "" {
			return what + " (" + path.Join(parts[:i+1]...) + ")"
		}
		dir = s
	}
	if what, n := ofHome(parts); what != "" {
		return what + " (" + path.Join(parts[:n]...) + ")"
	}
	if n := len(parts); n >= 2 && parts[0] == "proc" && procSecrets[parts[n-1]] {
		return "a process's environment or memory"
	}
	return ""
}

// Fold returns one form for all spellings that a file system may treat as the same name: besides capitals there are
// letters, such as ſ, that share one.
func Fold(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= utf8.RuneSelf {
			return strings.ToLower(strings.ToUpper(name))
		}
	}
	return strings.ToLower(name)
}

// keyWords are texts of which keyHead needs one.
var keyWords = []string{"PRIVATE KEY", "PuTTY-User-Key-File-", "AGE-SECRET-KEY-1"}

// HeadOf is how many bytes of a file HoldsSecrets needs.
func HeadOf(p string) int {
	if isDoubtful(p) != "" {
		return 256 << 10
	}
	return 4 << 10
}

// isDoubtful describes a file that sometimes holds credentials, or returns "".
func isDoubtful(p string) string {
	dir, name := path.Split(Fold(path.Clean("/" + p)))
	if strings.Contains(dir, "/.git/") {
		return "git's configuration"
	}
	return doubtful.of(path.Base(dir), name)
}

// IsDoubtful reports whether a file sometimes holds credentials.
func IsDoubtful(p string) bool { return isDoubtful(p) != "" }

// HoldsSecrets says which secrets a file holds, judging by its beginning; "" if none. Text of a private key counts
// under any name; credentials are looked for in the few files that often hold some. Source code with a key in the
// middle of a line is source code.
func HoldsSecrets(p string, head []byte) string {
	if holdsKey(p, head) {
		return "a private key (" + path.Base(p) + ")"
	}
	if what := isDoubtful(p); what != "" && login.Match(head) {
		return "credentials in " + what + " (" + path.Base(p) + ")"
	}
	return ""
}

// holdsKey reports whether a file of that name begins with a private key. It is called for every file of a search, so
// the slow pattern comes last.
func holdsKey(p string, head []byte) bool {
	if !slices.ContainsFunc(keyWords, func(w string) bool { return bytes.Contains(head, []byte(w)) }) {
		return false
	}
	at := keyHead.FindStringIndex(string(head))
	return at != nil && (!isCode(strings.ToLower(p)) || len(bytes.TrimSpace(head[:at[0]])) == 0)
}

// SensitiveFile is Sensitive for the path of something known to be a file.
func SensitiveFile(p string) string {
	if why := Sensitive(p); why != "" {
		return why
	}
	dir, name := path.Split(Fold(path.Clean("/" + p)))
	name = original(name)
	if path.Base(dir) == "etc" && name == "passwd" {
		return "" // every user's name, and no password
	}
	if what := bareFiles.whole("", name); what != "" {
		return what + " (" + strings.TrimPrefix(dir+name, "/") + ")"
	}
	return ""
}

// secretName says which secrets a name in the directory dir means, or "". Copies by people and editors are judged like
// their original.
func secretName(dir, name string, last bool) string {
	if strings.HasPrefix(name, ".env") && stage.MatchString(name) {
		return "environment secrets"
	}
	if what := secretPlaces.of(dir, name); what != "" {
		return what
	}
	plain := original(name)
	if plain != name {
		if what := secretPlaces.of(dir, plain); what != "" {
			return what
		}
	}
	if !last || strings.HasSuffix(plain, ".pub") {
		return ""
	}
	bare := strings.TrimPrefix(plain, ".")
	for _, n := range []string{plain, bare} {
		if what := secretFiles.whole(dir, n); what != "" {
			return what
		}
		if isCode(plain) {
			continue
		}
		if what := secretFiles.glob(n); what != "" {
			return what
		}
		if bare == plain {
			break
		}
	}
	return ""
}

// isCode reports whether a name is that of source code. Any text may hold a secret.
func isCode(name string) bool {
	end := path.Ext(name)
	return codeEnds[end] && end != ".txt"
}

// original is the name of the file that a copy was made of: id_rsa of id_rsa.bak,
// .id_rsa.swp and #id_rsa#.
func original(name string) string {
	if s, ok := strings.CutPrefix(name, "#"); ok && len(s) > 1 {
		name = strings.TrimSuffix(s, "#")
	}
	for {
		cut := strings.TrimPrefix(name, ".#")
		if c := cut[max(len(cut)-1, 0):]; c != "" && (c[0] >= '0' && c[0] <= '9' || c == "~" || c == ")") {
			cut = numbered.ReplaceAllString(cut, "")
		}
		for _, l := range leftovers {
			if s, ok := strings.CutSuffix(cut, l); ok {
				cut = s
				break
			}
		}
		if cut == name || cut == "" {
			return name
		}
		name = cut
	}
}

// SensitivePattern is Sensitive for a pattern: whether a file it could match is
// sensitive. A * does not match a leading dot, as in the shell.
func SensitivePattern(pattern string) string {
	parts := strings.Split(pattern, "/")
	folded := make([]string, len(parts))
	for i, s := range parts {
		if folded[i] = Fold(s); !strings.ContainsAny(s, "*?[") {
			continue
		}
		folded[i] = strings.ReplaceAll(Fold(Brackets(s)), "\\", "")
		if mayName(Fold(Brackets(s)), i == len(parts)-1) {
			return "what " + pattern + " may match"
		}
	}
	if mayBeHome(folded) {
		return "what " + pattern + " may match"
	}
	return Sensitive(pattern)
}

// mayName reports whether the pattern of one name could match that of a secret.
func mayName(s string, last bool) bool {
	s = strings.ReplaceAll(s, "\\", "")
	end := path.Ext(s)
	code := codeEnds[end]
	hidden := func(name string) bool { return strings.HasPrefix(name, ".") && !strings.HasPrefix(s, ".") }
	tables := []table{secretPlaces}
	if last {
		tables = append(tables, secretFiles)
	}
	tries := []string{".env.local", ".env.production"}
	for _, t := range tables {
		for name := range t.exact {
			tries = append(tries, path.Base(name))
		}
		for _, g := range t.globs {
			if !code && !hidden(g.text) && (g.may(s) || g.inside() && g.may(strings.TrimSuffix(s, end))) {
				return true
			}
		}
	}
	for _, t := range tries {
		if !hidden(t) && (!code || path.Ext(t) != end) && meet(s, t) {
			return true
		}
	}
	return false
}
