package sandbox

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Refusal is what a command seems to have wanted and its box kept it from. Only the command's own words tell, so it is
// good for a question to a human and for nothing else.
type Refusal struct {
	Write string // a file or directory that it would have to be able to change; "" if it is the network
	Host  string // whom it wanted to reach; "" if that is not known
}

// lastWords is how much of a command's output is looked at, in bytes from its end.
const lastWords = 64 << 10

var (
	// unwritten finds the lines that say that something could not be changed.
	unwritten = regexp.MustCompile(`(?i)read-only file ?system|permission denied|operation not permitted|device or resource busy|\bEROFS\b|\bEACCES\b|\bEPERM\b`)
	// unreached finds those that say so of the network.
	unreached = regexp.MustCompile(`(?i)network is unreachable|could not resolve|temporary failure in name resolution|name or service not known|` +
		`no such host|getaddrinfo|\bEAI_AGAIN\b|\bENETUNREACH\b|\bENOTFOUND\b|failed to lookup address|nodename nor servname|unable to resolve|` +
		`connection refused|lookup [^ ]+( on [^ ]+)?: `)
	// named finds what may be a path: in quotes, or a word with a slash, or what stands before the colon.
	named = regexp.MustCompile("['‘]([^'’]+)['’]|\"([^\"]+)\"|`([^`]+)`|(?:^|[\\s=(\\[])((?:~|\\.{0,2})/[^\\s:'\",;)\\]]+)|([^\\s:'\"]+): (?:[A-Z]|open|read|write|mk)")
	// host finds whom a line speaks of.
	host = regexp.MustCompile(`(?i)(?:https?|ssh|git)://(?:[^/@\s]*@)?([a-z0-9.-]+)|(?:host(?:name)?:?|lookup|getaddrinfo [A-Z_]+|resolve(?: host)?:?) ['"]?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})|@([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}):`)
)

// Refused says what the box seems to have kept a command from that failed with that output.
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
			continue // a server of its own that does not run
		}
		return r, true
	}
	return Refusal{}, false
}

// Hidden is the first path that the box hides and that one of the texts names; "" if there is none. A hidden directory
// is empty for the command, and a hidden file too: nothing else says that there is more.
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

// mentions reports whether a text holds a path as a whole, or one below it.
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

// ofName reports whether a path's element can have that byte.
func ofName(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// unwritten is what of a line's names the box keeps the command from changing and the user does not; "" if nothing.
func (b *Box) unwritten(line string) string {
	names := named.FindAllStringSubmatch(line, -1)
	slices.Reverse(names) // the last one is what it is about; the first may be the program that says so
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

// machine are trees of which nothing is granted for a command: what the system is.
var machine = []string{"/proc", "/sys", "/dev", "/run", "/usr", "/etc", "/boot", "/lib", "/lib64", "/bin", "/sbin"}

// tooMuch are directories that are not granted whole.
var tooMuch = []string{"/", "/home", "/var", "/opt", "/srv", "/mnt", "/media"}

// grantable is what has to be granted for path to be changed: itself, or what is there above it; "" if that may be
// changed, if the user can't change it either, if it must not be seen, or if it is too much to grant.
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
		return "" // it would bring back what is hidden in it
	case unix.Access(path, unix.W_OK) != nil:
		return ""
	}
	return path
}
