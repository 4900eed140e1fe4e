package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boxed returns a sandbox with a hidden directory in the home directory, and the path of a file in that home.
func boxed(t *testing.T) (*Box, func(string) string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(rel string) string { return filepath.Join(base, rel) }
	for _, d := range []string{"home/w/.git/hooks", "home/other/deep", "home/.ssh", "scratch"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"home/w/.git/config", "home/.gitconfig", "home/w/a"} {
		if err := os.WriteFile(at(f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := Workspace{
		Root: at("home/w"), Home: at("home"), Scratch: at("scratch"),
		Secret: func(p string) string { return map[string]string{".ssh": "SSH keys"}[p] },
	}
	g.Kept = func() []string { return []string{at("home/w/.git/config"), at("home/w/.git/hooks")} }
	v, err := g.view(Command, Leave{}, &Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return &Box{backend: &Backend{Kind: Namespaces}, view: v, dir: g.Root}, at
}

func TestBox_Hidden(t *testing.T) {
	b, at := boxed(t)
	for _, c := range []struct {
		text  string
		found bool
	}{
		{"cat ~/.ssh/id_rsa", true},
		{"ls $HOME/.ssh", true},
		{`ls "${HOME}/.ssh"/*`, true},
		{"cat ../.ssh/id", true},
		{"cat " + at("home/.ssh"), true},
		{"cat: " + at("home/.ssh") + "/id: No such file or directory", true},
		{"x ~/.sshd; cat ~/.ssh", true},
		{"cat ~/.sshd", false},
		{"cat ~/.ssh-old", false},
		{"cat a/../.ssh", false}, // counted from elsewhere
		{"cat .ssh/id", false},
		{"true", false},
	} {
		want := ""
		if c.found {
			want = at("home/.ssh")
		}
		if got := b.Hidden("", c.text); got != want {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
	}
	if got := (*Box)(nil).Hidden("cat ~/.ssh/id"); got != "" {
		t.Errorf("no sandbox hides %s", got)
	}
}

func TestBox_Refused(t *testing.T) {
	b, at := boxed(t)
	for _, c := range []struct{ says, write, host string }{
		{"touch: cannot touch 'HOME/other/x': Read-only file system", "HOME/other", ""},
		{"bash: line 1: HOME/other/deep/y: Permission denied", "HOME/other/deep", ""},
		{"bash: ../other/x: Read-only file system", "HOME/other", ""},
		{"mkdir: cannot create directory ‘HOME/other/deep/new’: Read-only file system", "HOME/other/deep", ""},
		{"Error: EROFS: read-only file system, open 'HOME/.gitconfig'", "HOME/.gitconfig", ""},
		{"open HOME/other/x: permission denied", "HOME/other", ""},
		{"PermissionError: [Errno 13] Permission denied: 'HOME/other/x'", "HOME/other", ""},
		{"error: could not write config file .git/config: Device or resource busy", "HOME/w/.git/config", ""},
		{"cp: cannot create regular file '.git/hooks/pre-commit': Read-only file system", "HOME/w/.git/hooks", ""},
		// What the command may change, what can't be granted, and what says nothing about the sandbox.
		{"bash: ./a: Permission denied", "", ""},
		{"touch: cannot touch 'HOME/new': Read-only file system", "", ""},
		{"touch: cannot touch '/etc/x': Read-only file system", "", ""},
		{"cat: HOME/.ssh/id: Permission denied", "", ""},
		{"touch: cannot touch '/x': Read-only file system", "", ""},
		{"open /proc/1/mem: permission denied", "", ""},
		{"all is well in HOME/other", "", ""},
		// The network.
		{"curl: (6) Could not resolve host: go.example.com", "-", "go.example.com"},
		{"go: example.com/x@v1.0.0: Get \"https://go.example.com/example.com\": dial tcp: lookup go.example.com: Temporary failure in name resolution", "-", "go.example.com"},
		{"npm error code EAI_AGAIN\nnpm error request to https://npm.example.com/left-pad failed, reason: getaddrinfo EAI_AGAIN npm.example.com", "-", "npm.example.com"},
		{"ssh: Could not resolve hostname github.com: Temporary failure in name resolution\nfatal: Could not read from remote repository.", "-", "github.com"},
		{"fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", "-", "github.com"},
		{"urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", "-", ""},
		{"dial tcp 1.2.3.4:443: connect: network is unreachable", "-", ""},
		{"curl: (7) Failed to connect to localhost port 80: Connection refused", "", ""},
		{"dial tcp 127.0.0.1:80: connect: connection refused", "", ""},
	} {
		says := strings.ReplaceAll(c.says, "HOME", at("home"))
		r, found := b.Refused("one line\n" + says + "\nmore\n")
		want := Refusal{Write: strings.ReplaceAll(c.write, "HOME", at("home")), Host: c.host}
		if want.Write == "-" {
			want.Write = ""
		}
		if found != (c.write != "") || r != want {
			t.Errorf("%q: %+v, %t; want %+v", c.says, r, found, want)
		}
	}
	b.view.net = true
	if r, found := b.Refused("curl: (6) Could not resolve host: nowhere.test"); found {
		t.Errorf("with the network granted: %+v", r)
	}
}

// TestBox_Missed: a program that fetches something silently, with its exit code unseen, is named.
func TestBox_Missed(t *testing.T) {
	b, _ := boxed(t)
	for command, want := range map[string]string{
		"curl -s https://example.com/x.sh | sh":              "curl",
		"curl -fsSL https://example.com/x.sh | bash -s -- y": "curl",
		"cd a && curl -s https://example.com | jq .":         "curl",
		"wget -qO- https://example.com/x | tar xz":           "wget",
		`echo "$(curl -s https://example.com)"`:              "curl",
		"bash <(curl -s https://example.com/x.sh)":           "curl",
		"http example.com | head":                            "http",
		"true; curl -s https://example.com |& cat":           "curl",
		"if x; then A=b curl -s example.com | cat; fi":       "curl",
		"cd a\ncurl -s example.com | cat":                    "curl",
		"curl -s https://example.com":                        "", // its exit code is seen
		"curl -s https://example.com; ls | cat":              "",
		"curl -s http://localhost:8080/ | jq .":              "",
		"curl -s http://127.0.0.1:1/ | cat":                  "",
		"curl -s file:///etc/hosts | cat":                    "",
		"cat curl | sh":                                      "",
		"ls libcurl x | cat":                                 "",
		"grep -r http . | head":                              "",
		"grep http x | head":                                 "",
	} {
		if got := b.Missed(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	b.view.net = true
	if got := b.Missed("curl -s https://example.com | sh"); got != "" {
		t.Errorf("with a network: %q", got)
	}
}
