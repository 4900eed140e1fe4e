package shell

import (
	"runtime/debug"
	"strings"
)

// Version returns the program's version from its build: a module version, or the revision it was built from.
func Version() string {
	info, found := debug.ReadBuildInfo()
	if !found {
		return "unknown"
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	v := strings.TrimPrefix(info.Main.Version, "v")
	if v == "" || v == "(devel)" {
		v = "development"
	}
	revision, changed := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if len(revision) < 12 || strings.Contains(v, revision[:12]) {
		return v
	}
	v += " (" + revision[:12]
	if changed {
		v += ", changed"
	}
	return v + ")"
}
