package files

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/permission"
)

// process is a command's process, for paths that mean something else to it than to this program: it has its own
// descriptors, directory and root, and in a sandbox its own temporary files. nil is this process.
type process struct {
	dir   string   // that it runs in
	boxed bool     // it is in a sandbox, and so is any process that it can name by number
	shown []string // directories that a sandbox shows unchanged, also below a temporary directory
}

// by is the process of a command that reaches for a path so.
func (tr *Tree) by(how permission.Reach) *process {
	by := &process{dir: tr.Root, boxed: how.Boxed, shown: append([]string{tr.Root, tr.Home}, tr.Private...)}
	if how.Dir != "" {
		by.dir = tr.absolute(how.Dir)
	}
	return by
}

// replaced are directories that a command in a sandbox has its own versions of.
var replaced = []string{"/tmp", "/var/tmp", "/dev/shm"}

// standard are the links to descriptors.
var standard = map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}

// own says where a name in dir, which has no links, leads for the process, if this program would come elsewhere. to is
// "" if only the process can tell.
func (by *process) own(dir, name string) (to string, is bool) {
	if by == nil {
		return "", false
	}
	at := path.Join(dir, name)
	if dir == "/dev" && standard[name] != "" {
		return standard[name], true
	}
	if by.boxed && slices.ContainsFunc(replaced, func(r string) bool { _, in := below(r, at); return in }) {
		shown := slices.ContainsFunc(by.shown, func(s string) bool {
			_, holds := below(at, s)
			_, in := below(s, at)
			return holds || in
		})
		return "", !shown && !slices.Contains(replaced, at)
	}
	who, rest, is := ofProcess(at)
	if !is || len(rest) == 0 {
		return at, is && (who == "self" || who == "thread-self")
	}
	self := by.boxed || who == "self" || who == "thread-self" || who == ""
	switch {
	case rest[0] == "cwd" && self:
		return by.dir, true
	case rest[0] == "root" && self:
		return "/", true
	case len(rest) > 1 || rest[0] == "cwd" || rest[0] == "root" || rest[0] == "exe":
		return "", true
	}
	return at, true // such as the directory of its descriptors
}

// ofProcess returns whose path below /proc p is, and its rest, without the thread. If a shell computes the number, who
// is "".
func ofProcess(p string) (who string, rest []string, is bool) {
	below, is := strings.CutPrefix(p, "/proc/")
	if !is {
		return "", nil, false
	}
	rest = strings.Split(below, "/")
	if slices.Contains([]string{"cwd", "root", "fd", "exe"}, rest[0]) {
		return "", rest, true
	}
	if who = rest[0]; who != "self" && who != "thread-self" && strings.Trim(who, "0123456789") != "" && !strings.ContainsAny(who, "*?[") {
		return "", nil, false
	}
	rest = rest[1:]
	if len(rest) > 1 && rest[0] == "task" {
		rest = rest[2:]
	}
	return who, rest, true
}

// has reports whether the file at a path without links exists for the process only.
func (by *process) has(at string) bool {
	if _, _, is := ofProcess(at); is {
		return true
	}
	_, device := below("/dev", at)
	_, own := by.own(path.Dir(at), path.Base(at))
	return device && !strings.HasPrefix(at, "/dev/shm/") || own
}

// untold says why such a path may lead to secrets: through a process's directory, or one that it has open.
func untold(at string) string {
	_, rest, is := ofProcess(at)
	if !is || len(rest) == 0 {
		return ""
	}
	may := func(name string) bool { m, _ := path.Match(rest[0], name); return m }
	if may("cwd") || may("root") || may("fd") && len(rest) > 2 {
		return "secrets: where " + at + " leads can't be told"
	}
	return ""
}

// begin returns pattern with its literal beginning resolved.
func (by *process) begin(pattern string) string {
	parts := strings.Split(filepath.Clean(pattern), "/")
	n := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, `*?[\`) })
	if n <= 0 {
		return filepath.Clean(pattern)
	}
	at, err := by.resolve(strings.Join(parts[:n], "/") + "/")
	if err != nil {
		return filepath.Clean(pattern)
	}
	return filepath.Join(append([]string{at}, parts[n:]...)...)
}
