package git

import (
	"strings"
	"testing"
)

// TestGitSettings: a configuration is read as git reads it.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"[core]\n\tfsmonitor = /x\n":             "core.fsmonitor=/x",
		"[CORE]FsMonitor=/x":                     "core.fsmonitor=/x",
		"\ufeff[core] # c\n fsmonitor\n":         "core.fsmonitor=true",
		"[diff \"a b\\\"]\"]\n textconv = cat":   "diff.a b\"].textconv=cat",
		"[diff.Evil]\ntextconv = x":              "diff.evil.textconv=x",
		"[a]\nb = \"x # y\" ; z\n":               "a.b=x # y",
		"[a]\nb = x\\\n  y\n c=1\n":              "a.b=x  y a.c=1",
		"[a]\r\nb = x\r\n":                       "a.b=x",
		"# [core]\n;fsmonitor = x\n[a]\n":        "",
		"[a]\n# c \\\nb = x\n":                   "a.b=x",
		"[a] [b] c = 1":                          "b.c=1",
		"[filter \"x\"] clean = \"a\\\"b\" # \n": "filter.x.clean=a\"b",
	} {
		all, err := parse(in)
		var got []string
		for _, s := range all {
			got = append(got, s.section+"."+s.name+"="+s.value)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"[a", "[a \"b]\nx=1", "x = 1\n", "[a]\n= 1", "[a]\nb = \"x\n", "[a]\nb : c", "[a_b]\nc=1", "[a \"b\\\n\"]"} {
		if all, err := parse(in); err == nil {
			t.Errorf("%q: %v", in, all)
		}
	}
}

func TestCalm(t *testing.T) {
	env := Calm([]string{"A=1", "GIT_DIR=/x", "GIT_EXTERNAL_DIFF=/x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_SSH_COMMAND=ssh"})
	for _, want := range []string{"A=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_COUNT=5", "GIT_OPTIONAL_LOCKS=0", "GIT_SSH_COMMAND=ssh"} {
		if !strings.Contains("\n"+strings.Join(env, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if s := strings.Join(env, "\n"); strings.Contains(s, "/x") || strings.Contains(s, "COUNT=1") {
		t.Errorf("%q", env)
	}
}
