package screen

import (
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
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "(devel)"}}, "built from source"},
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "v1.2.3", Sum: "h1:x"}}, "1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "v0.0.0-20261121093000-0123456789ab"}}, "0.0.0-20261121093000-0123456789ab"},
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "v1.2.3"}, Settings: vcs(rev, time, "false")}, "1.2.3 (commit 0123456789ab, 2026-11-21)"},
		{debug.BuildInfo{Settings: vcs(rev, "", "false")}, "development (commit 0123456789ab)"},
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "(devel)"}, Settings: vcs(rev, time, "true")}, "development (commit 0123456789ab, 2026-11-21, changed)"},
		{debug.BuildInfo{Main: debug.Module{Path: "fantail", Version: "v0.0.0-20261121093000-0123456789ab+dirty"}, Settings: vcs(rev, time, "true")}, "development (commit 0123456789ab, 2026-11-21, changed)"},
	} {
		c.info.Deps = []*debug.Module{{Path: "example.org/x", Version: "v9.9.9"}}
		if got := version(c.info.String()); got != c.want {
			t.Errorf("%+v: %q, want %q", c.info, got, c.want)
		}
	}
}

// The version is read from what the build wrote, as the standard library reads it.
func TestBuildInfo(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Skip("this build has no information")
	}
	if got, want := Version(), version(info.String()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if raw := buildInfo(); len(raw) < 2*markSize {
		t.Errorf("%d bytes", len(raw))
	}
}
