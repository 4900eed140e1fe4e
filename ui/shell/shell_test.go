package shell

import (
	"bytes"
	"runtime/debug"
	"testing"
)

// The version names the commit and its date where the build knows them.
func TestVersion(t *testing.T) {
	vcs := func(rev, time, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: rev}, {Key: "vcs.time", Value: time}, {Key: "vcs.modified", Value: modified}}
	}
	rev, time := "0123456789abcdef0123", "2026-11-21T09:30:00Z"
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "built from source"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "built from source"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261121093000-0123456789ab"}}, "0.0.0-20261121093000-0123456789ab"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: vcs(rev, time, "false")}, "1.2.3 (commit 0123456789ab, 2026-11-21)"},
		{debug.BuildInfo{Settings: vcs(rev, "", "false")}, "development (commit 0123456789ab)"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs(rev, time, "true")}, "development (commit 0123456789ab, 2026-11-21, changed)"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261121093000-0123456789ab+dirty"}, Settings: vcs(rev, time, "true")}, "development (commit 0123456789ab, 2026-11-21, changed)"},
	} {
		if got := version(&c.info); got != c.want {
			t.Errorf("%+v: %q, want %q", c.info, got, c.want)
		}
	}
}

func TestWarnSteersNoTerminal(t *testing.T) {
	var b bytes.Buffer
	Warn(&b, "open %s: %v", "a\x1b[2Jb", "no\u202e")
	if want := "fantail: open ab: no<U+202E>\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
