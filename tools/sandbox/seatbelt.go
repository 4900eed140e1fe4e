package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// seatbelt is the view as a profile of macOS's sandbox-exec: the last rule that matches an operation decides.
func (v view) seatbelt() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	each := func(rule string, paths []string) {
		for _, p := range paths {
			line("(%s (subpath %s))", rule, quoted(p))
		}
	}
	line("(version 1)")
	line("(allow default)")
	line("(deny file-write*)")
	each("allow file-write*", v.write)
	line(`(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(fd/|ttys)"))`)
	each("deny file-write*", v.keep)
	for _, k := range v.keep { // nor can a directory above it be renamed and replaced
		for d := filepath.Dir(k); v.writes(d); d = filepath.Dir(d) {
			line("(deny file-write-unlink (literal %s))", quoted(d))
		}
	}
	each("deny file-read* file-write*", v.hide)
	each("allow file-read*", v.shown)
	each("allow file-read* file-write*", slices.DeleteFunc([]string{v.scratch, v.mail}, func(p string) bool { return p == "" }))
	if !v.net {
		line("(deny network*)")
		line(`(allow network* (local ip "localhost:*") (remote ip "localhost:*"))`)
		each("allow network* file-read* file-write*", []string{v.scratch})
	}
	if !v.wide {
		line("(deny signal)")
		line("(allow signal (target same-sandbox))")
		line("(deny process-info* (target others))")
		line("(deny mach-priv*)")
		line("(deny appleevent-send)")
	}
	return b.String()
}

// quoted is a path as a profile writes it.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
