package proc

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/tools/secret"
)

// A configured key is in no environment, under whatever name and in whatever form.
//
// Spec: O-71.
func TestClean_holdsNoConfiguredKey(t *testing.T) {
	const key, other = "w0rk/llm+key&value", "a-second-key-0123"
	env := []string{
		"PATH=/bin", "WORK_LLM=" + key, "Odd_Name=" + other, "UNSET_LLM=", "COPY=" + key, "HEADER=Authorization: Bearer " + key,
		"CODED=" + base64.StdEncoding.EncodeToString([]byte("user:"+key)), "ADDRESS=https://h.example/?k=" + url.QueryEscape(key), "EDITOR=vi", "GITHUB_TOKEN=x",
	}
	held := map[string]string{"WORK_LLM": key, "Odd_Name": other}
	keys := secret.New([]string{"WORK_LLM", "Odd_Name", "UNSET_LLM", "NOT_THERE"}, func(n string) string { return held[n] })
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"Own", Own(env, keys), []string{"PATH=/bin", "EDITOR=vi", "GITHUB_TOKEN=x"}},
		{"Clean", Clean(env, keys), []string{"PATH=/bin", "EDITOR=vi"}},
		{"Bare", Bare(Clean(env, keys)), []string{"PATH=/bin"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// An unattended agent gets only variables that are known to be harmless.
func TestBare_isAnAllowList(t *testing.T) {
	keep := []string{
		"PATH=/bin", "HOME=/h", "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "TERM=xterm", "TMPDIR=/t", "TZ=UTC",
		"XDG_CACHE_HOME=/c", "XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d", "GOPATH=/g", "GOFLAGS=-mod=mod", "GOPROXY=https://proxy.example,direct",
		"CARGO_HOME=/c", "RUSTUP_HOME=/r", "JAVA_HOME=/j", "VIRTUAL_ENV=/v", "NVM_DIR=/n", "npm_config_cache=/n", "CC=clang",
		"https_proxy=http://proxy.example:3128", "NO_PROXY=localhost", "CI=1",
	}
	drop := []string{
		"SSH_AUTH_SOCK=/s", "XDG_RUNTIME_DIR=/run/user/1", "DBUS_SESSION_BUS_ADDRESS=unix:/x", "DATABASE_URL=postgres://u:p@h/d", "DOCKER_HOST=x", "KUBECONFIG=/k",
		"AWS_PROFILE=x", "GIT_ASKPASS=x", "HTTPS_PROXY=http://u:p@proxy.example", "https_proxy=http://u:p@proxy.example", "GOPROXY=https://u:p@proxy.example",
		"LD_PRELOAD=/x.so", "BASH_ENV=/x", "PROMPT_COMMAND=x", "NODE_OPTIONS=--require=x", "PYTHONSTARTUP=/x", "PAGER=less", "EDITOR=vi", "GIT_SSH_COMMAND=x",
		"SENTRY_DSN=https://k@h", "MY_SETTING=1", "npm_config_userconfig=/x", "FANTAIL_MODEL=x", "path=/bin", "LCX=1", "no_such_proxy=1",
	}
	if got := Bare(append(slices.Clone(keep), drop...)); !slices.Equal(got, keep) {
		t.Errorf("%q\nwant %q", got, keep)
	}
}

// No byte of a key gets into the file, the result or a tick, however the command writes it: in one piece, in drops,
// wrapped, at the borders of head and tail.
func TestRun_outputHoldsNoKey(t *testing.T) {
	const key = "sk-work-0123456789-abcdefghijklmnop"
	keys := secret.New([]string{"WORK_LLM"}, func(string) string { return key })
	for name, shell := range map[string]string{
		"whole":    `printf "a %s b\n" "$K"`,
		"drops":    `for i in $(seq ${#K}); do printf %s "${K:i-1:1}"; sleep 0.003; done`,
		"wrapped":  `printf %s "$K" | base64 -w 10`,
		"borders":  `head -c 45 /dev/zero | tr '\0' x; printf %s "$K"; head -c 200000 /dev/zero | tr '\0' y; printf %s "$K"; head -c 45 /dev/zero | tr '\0' z`,
		"the end":  `printf "x%s" "$K"`,
		"nearly":   `printf "%s" "${K%?}"; sleep 0.05; printf "%s" "${K#?????????}"`,
		"on error": `printf %s "$K" >&2; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			var told strings.Builder
			r, err := Run(t.Context(), Spec{
				Shell: shell, Env: []string{"K=" + key, "PATH=" + os.Getenv("PATH")}, Keys: keys, Output: file, Head: 64, Tail: 64,
				Tick: func(tail string) { told.WriteString(tail) },
			})
			kept, _ := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if name == "nearly" { // no part was a key: no text is missing
				if string(kept) != key[:len(key)-1]+key[9:] {
					t.Errorf("kept %q", kept)
				}
				return
			}
			for where, s := range map[string]string{"result": r.Text, "file": string(kept), "ticks": told.String()} {
				for i := 0; i+12 <= len(key); i++ {
					if strings.Contains(s, key[i:i+12]) {
						t.Fatalf("%s: a part of the key: %.300q", where, s)
					}
				}
				if strings.Contains(strings.ReplaceAll(s, "\n", ""), base64.StdEncoding.EncodeToString([]byte(key))[:16]) {
					t.Fatalf("%s: a part of the coded key: %.300q", where, s)
				}
			}
			if !strings.Contains(string(kept), "[redacted: WORK_LLM]") || r.Size != int64(len(kept)) {
				t.Errorf("%.300q, %d bytes of %d", kept, len(kept), r.Size)
			}
		})
	}
}
