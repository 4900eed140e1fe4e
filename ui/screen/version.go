package screen

import (
	"os"
	"strings"
	_ "unsafe" // for go:linkname
)

// buildInfo returns what [runtime/debug.ReadBuildInfo] parses, between two marks of markSize bytes; "" if the build has
// none. The start gate can't import that package: its name alone places its initialiser after those of most libraries.
//
//go:linkname buildInfo runtime/debug.modinfo
func buildInfo() string

const markSize = 16

// Version returns the program's version, its commit and the commit's date, as far as the build knows them. A build with
// none of them, such as that of `go run`, is "built from source".
func Version() string {
	info := buildInfo()
	if len(info) < 2*markSize {
		return version("")
	}
	return version(info[markSize : len(info)-markSize])
}

// version is [Version] of a build with that information. A line of it is "mod", the module and its version, or "build"
// and KEY=VALUE, with tabs between.
func version(info string) string {
	var v string
	vcs := map[string]string{}
	for line := range strings.Lines(info) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if words[0] == "mod" && len(words) > 2 {
			v = strings.TrimPrefix(words[2], "v")
		}
		if key, value, ok := strings.Cut(words[len(words)-1], "="); ok && words[0] == "build" {
			vcs[key] = value
		}
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

// prints prints the version if the arguments ask for it and nothing else. It returns false, too, if it can't be
// written: the program then reports why.
func prints(args []string) bool {
	if len(args) != 1 || args[0] != "--version" && args[0] != "-v" {
		return false
	}
	_, err := os.Stdout.WriteString("fantail " + Version() + "\n")
	return err == nil
}
