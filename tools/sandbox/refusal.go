package sandbox

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Refusal is what a command seems to have wanted and its sandbox refused. It is read from the command's own output, so
// it may lead to a question to a human, and to nothing else.
type Refusal struct {
	Write string // a file or directory that it needs to change; "": it is the network
	Host  string // the host that it wanted to reach; "": unknown
}

// lastWords is how many bytes at the end of a command's output are searched.
const lastWords = 64 << 10

var (
	// unwritten finds lines that report a failed change.
	unwritten = regexp.MustCompile(`(?i)read-only file ?system|permission denied|operation not permitted|device or resource busy|\bEROFS\b|\bEACCES\b|\bEPERM\b`)
	// unreached finds lines that report an unreachable network.
	unreached = regexp.MustCompile(`(?i)network is unreachable|could not resolve|temporary failure in name resolution|name or service not known|` +
		`no such host|getaddrinfo|\bEAI_AGAIN\b|\bENETUNREACH\b|\bENOTFOUND\b|failed to lookup address|nodename nor servname|unable to resolve|` +
		`connection refused|lookup [^ ]+( on [^ ]+)?: `)
	// named finds what may be a path: in quotes, or a word with a slash, or the text before the colon.
	named = regexp.MustCompile("['‘]([^'’]+)['’]|\"([^\"]+)\"|`([^`]+)`|(?:^|[\\s=(\\[])((?:~|\\.{0,2})/[^\\s:'\",;)\\]]+)|([^\\s:'\"]+): (?:[A-Z]|open|read|write|mk)")
	// host finds the host in a line.
	host = regexp.MustCompile(`(?i)(?:https?|ssh|git)://(?:[^/@\s]*@)?([a-z0-9.-]+)|(?:host(?:name)?:?|lookup|getaddrinfo [A-Z_]+|resolve(?: host)?:?) ['"]?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})|@([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}):`)
)

// fetches finds a program that fetches something and whose exit code is lost, because another one follows it in a
// pipeline, or because its output is a part of another command.
var fetches = regexp.MustCompile(`(?:^|[;&|(\n]|\b(?:do|then|else|time|sudo|exec|env)\b)\s*(?:\w+=\S*\s+)*(curl|wget|aria2c|http|https|xh)\s[^;&|\n]*(?:\||\))`)

// local finds a server of this machine in a command.
var local = regexp.MustCompile(`(?i)localhost|127\.0\.0\.1|\[::1\]|file://`)

// Missed returns the program in a command that was to fetch something for another one, where the sandbox has no
// network; "" if there is none. Such a command succeeds, and many of these programs print no error.
func (b *Box) Missed(command string) string {
	if b == nil || b.view.net || local.MatchString(command) {
		return ""
	}
	if m := fetches.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// Refused returns what the sandbox seems to have refused to a command that failed with that output.
func (b *Box) Refused(output string) (Refusal, bool) {
	if b == nil {
		return Refusal{}, false
	}
	lines := strings.Split(output[max(0, len(output)-lastWords):], "\n")
	for _, l := range lines {
		if unwritten.MatchString(l) {
			if p := b.unwritten(l); p != "" {
				return Refusal{Write: p}, true
			}
		}
	}
	if b.view.net {
		return Refusal{}, false
	}
	for i, l := range lines {
		if !unreached.MatchString(l) {
			continue
		}
		r := Refusal{}
		for _, l := range lines[max(0, i-2):min(len(lines), i+2)] {
			for _, m := range host.FindAllStringSubmatch(l, -1) {
				if h := m[1] + m[2] + m[3]; r.Host == "" || r.Host == "localhost" {
					r.Host = strings.ToLower(strings.Trim(h, "."))
				}
			}
		}
		refused := strings.Contains(strings.ToLower(l), "connection refused")
		if local := r.Host == "localhost" || r.Host == "127.0.0.1"; local || refused && r.Host == "" {
			continue // a server of its own that is not running
		}
		return r, true
	}
	return Refusal{}, false
}

// Hidden returns the first hidden path that one of the texts names, or "". To the command, a hidden directory or file
// is empty: nothing else says that there is more.
func (b *Box) Hidden(texts ...string) string {
	if b == nil {
		return ""
	}
	for _, h := range b.view.hide {
		names := []string{h}
		if rel, err := filepath.Rel(b.view.home, h); err == nil && filepath.IsLocal(rel) {
			names = append(names, "~/"+rel, "$HOME/"+rel, "${HOME}/"+rel)
		}
		if rel, err := filepath.Rel(b.dir, h); err == nil {
			names = append(names, rel)
		}
		for _, n := range names {
			if slices.ContainsFunc(texts, func(t string) bool { return mentions(t, n) }) {
				return h
			}
		}
	}
	return ""
}

// mentions reports whether a text contains a path as a whole, or one below it.
func mentions(text, path string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], path)
		if i < 0 {
			return false
		}
		before, after := text[:at+i], text[at+i+len(path):]
		if at += i + len(path); after != "" && ofName(after[0]) {
			continue
		}
		if before == "" || before[len(before)-1] != '/' && !ofName(before[len(before)-1]) {
			return true
		}
	}
}

// ofName reports whether a byte may be part of a path's element.
func ofName(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// unwritten returns the path on the line that must be granted because the sandbox, not the user's permissions, prevents
// its change; "" if there is none.
func (b *Box) unwritten(line string) string {
	names := named.FindAllStringSubmatch(line, -1)
	slices.Reverse(names) // the last one is the object; the first may be the program that reports it
	for _, m := range names {
		i := slices.IndexFunc(m[1:], func(s string) bool { return s != "" })
		if i < 0 {
			continue
		}
		p := m[1+i]
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(b.view.home, rest)
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(b.dir, p)
		}
		if g := b.grantable(p); g != "" {
			return g
		}
	}
	return ""
}

// machine are the system's trees. Nothing in them is ever granted.
var machine = []string{"/proc", "/sys", "/dev", "/run", "/usr", "/etc", "/boot", "/lib", "/lib64", "/bin", "/sbin"}

// tooMuch are directories that are not granted whole.
var tooMuch = []string{"/", "/home", "/var", "/opt", "/srv", "/mnt", "/media"}

// grantable returns what has to be granted so that a command may change path: path itself, or its nearest existing
// parent. It returns "" if that is writable already, if the user can't change it either, if it is hidden, or if it is
// too much to grant.
func (b *Box) grantable(path string) string {
	v := b.view
	path = filepath.Clean(path)
	if slices.ContainsFunc(machine, func(d string) bool { return in(path, d) }) {
		return ""
	}
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
			break
		}
		up := filepath.Dir(path)
		if up == path {
			return ""
		}
		path = up
	}
	for _, k := range v.keep {
		if in(path, k) {
			return k
		}
	}
	switch {
	case v.writes(path), v.hides(path), slices.Contains(tooMuch, path), v.home != "" && in(v.home, path), in(v.root, path):
		return ""
	case slices.ContainsFunc(v.hide, func(h string) bool { return in(h, path) }):
		return "" // it would show what is hidden in it
	case unix.Access(path, unix.W_OK) != nil:
		return ""
	}
	return path
}
