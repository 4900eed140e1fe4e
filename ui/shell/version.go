package shell

import (
	"runtime/debug"
	"strings"
)

// Version returns the program's version, its commit and the commit's date, as far as the build knows them. A build with
// none of them, such as that of `go run`, is "built from source".
func Version() string {
	info, found := debug.ReadBuildInfo()
	if !found {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	v := strings.TrimPrefix(info.Main.Version, "v")
	vcs := map[string]string{}
	for _, s := range info.Settings {
		vcs[s.Key] = s.Value
	}
	var facts []string
	if revision := vcs["vcs.revision"]; len(revision) >= 12 {
		facts = append(facts, "commit "+revision[:12])
		if strings.Contains(v, revision[:12]) {
			v = "" // made of the commit and its date
		}
	}
	if date, _, ok := strings.Cut(vcs["vcs.time"], "T"); ok {
		facts = append(facts, date)
	}
	if vcs["vcs.modified"] == "true" {
		facts = append(facts, "changed")
	}
	if v == "" || v == "(devel)" {
		if facts == nil {
			return "built from source"
		}
		v = "development"
	}
	if facts == nil {
		return v
	}
	return v + " (" + strings.Join(facts, ", ") + ")"
}
