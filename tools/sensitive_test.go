package tools

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"fantail/tools/permission"
)

const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nneedle b3BlbnNzaC1rZXktdjEAAAAA\n"

// secretPlace is a workspace with a secret by name, by content and by another name of one, each of which contains the
// word needle.
func secretPlace(t testing.TB) *Runtime {
	e := place(t)
	put(t, top(e)+"/home/.ssh/work", "needle key\n")
	put(t, top(e)+"/home/.config/rclone/rclone.conf", "needle rclone\n")
	put(t, e.Root+"/.env", "TOKEN=needle\n")
	put(t, e.Root+"/infra/prod.tfvars", "needle = 1\n")
	put(t, e.Root+"/notes", sshKey)
	put(t, e.Root+"/.git/config", "[remote \"origin\"]\n\turl = https://me:needle@example.com/x\n")
	put(t, e.Root+"/plain.txt", "needle in plain sight\n")
	for from, to := range map[string]string{
		top(e) + "/home/.ssh/work": "readme.md", top(e) + "/home/.config/rclone/rclone.conf": "rc.txt",
		e.Root + "/.env": "docs.txt", e.Root + "/infra/prod.tfvars": "infra/values.txt", e.Root + "/.git/config": "conf.txt",
		e.Root + "/plain.txt": "plain2.txt",
	} {
		if err := os.Link(from, e.Root+"/"+to); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "notes", e.Root+"/sign")
	return e
}

// TestSecrets_byIdentity: every file tool asks for a secret under any name, and grep skips it and says so; also in
// memory, which is below /dev.
func TestSecrets_byIdentity(t *testing.T) {
	for _, where := range []string{os.TempDir(), "/dev/shm"} {
		t.Run(where, func(t *testing.T) {
			if d, err := os.MkdirTemp(where, ""); err != nil || os.Remove(d) != nil {
				t.Skip(err)
			}
			t.Setenv("TMPDIR", where)
			secretsByIdentity(t)
		})
	}
}

func secretsByIdentity(t *testing.T) {
	e := secretPlace(t)
	g, err := permission.NewGate(permission.Yolo, []permission.Rule{"read(*)", "bash(cat *)"})
	if err != nil {
		t.Fatal(err)
	}
	ask, err := permission.NewGate(permission.Ask, []permission.Rule{"read(*)", "bash(cat *)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{".env", "docs.txt", "readme.md", "rc.txt", "infra/prod.tfvars", "infra/values.txt", "notes", "sign", "conf.txt", ".git/config", "./infra/../notes"} {
		for _, tool := range []string{"read_file", "grep"} {
			args := []any{"path", p}
			if tool == "grep" {
				args = append(args, "pattern", "needle")
			}
			if v := g.Decide(parse(t, e, tool, args...).Action); v.Decision != permission.AskHuman || v.Rule != "" {
				t.Errorf("%s %s: %+v", tool, p, v)
			}
		}
		if v := ask.Decide(parse(t, e, "bash", "command", "cat "+p).Action); v.Decision != permission.AskHuman {
			t.Errorf("cat %s: %+v", p, v)
		}
	}
	for _, p := range []string{"plain.txt", "plain2.txt"} {
		if v := ask.Decide(parse(t, e, "read_file", "path", p).Action); v.Decision != permission.Allow {
			t.Errorf("read %s: %+v", p, v)
		}
		if v := ask.Decide(parse(t, e, "bash", "command", "cat "+p).Action); v.Decision != permission.Allow {
			t.Errorf("cat %s: %+v", p, v)
		}
	}
	rg, _ := exec.LookPath("rg")
	for _, path := range []string{"", rg} {
		if e.Environ = []string{"HOME=" + top(e) + "/home"}; path != "" {
			e.Environ = append(e.Environ, "PATH="+path[:len(path)-3])
		}
		for _, args := range [][]any{{}, {"glob", "**"}, {"glob", "*.txt"}, {"glob", ".env"}, {"path", "infra"}, {"context", 2}, {"files_only", true}, {"path", "."}} {
			out := ok(t, e, "grep", append([]any{"pattern", "needle"}, args...)...).Text
			for _, l := range strings.Split(out, "\n") {
				if strings.Contains(l, "needle") && !strings.Contains(l, "plain") {
					t.Errorf("grep %v with %q printed %q", args, path, l)
				}
			}
			if !strings.Contains(out, "that may hold secrets were passed over") {
				t.Errorf("grep %v with %q does not say what it passed over: %q", args, path, out)
			}
		}
	}
}

// A file that got a secret after its path was judged is not read.
func TestSecrets_afterItWasJudged(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a.txt", "nothing\n")
	c := parse(t, e, "read_file", "path", "a.txt")
	put(t, e.Root+"/a.txt", sshKey)
	if r := c.Run(t.Context()); !r.Error || strings.Contains(r.Text, "needle") {
		t.Errorf("read %q", r.Text)
	}
}
