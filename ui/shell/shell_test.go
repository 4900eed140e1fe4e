package shell

import (
	"bytes"
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheRevision(t *testing.T) {
	vcs := func(rev, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: rev}, {Key: "vcs.modified", Value: modified}}
	}
	rev := "0123456789abcdef0123"
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "development"},
		{debug.BuildInfo{Settings: vcs(rev, "false")}, "development (0123456789ab)"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs(rev, "true")}, "development (0123456789ab, changed)"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-2026-0123456789ab"}, Settings: vcs(rev, "false")}, "0.0.0-2026-0123456789ab"},
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
