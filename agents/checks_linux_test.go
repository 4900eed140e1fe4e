package agents_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/agents/schedule"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
	"fantail/tools/sandbox"
)

// boxed is a setting with the best sandbox there is.
func boxed(t *testing.T) observerSetting {
	t.Helper()
	wall := sandbox.Find(t.Context())
	if wall.Level() != sandbox.Prevents {
		t.Skip("no sandbox prevents here: " + wall.Why())
	}
	return observerSetting{wall: permission.Prevents, box: func(root string) func(sandbox.Profile, sandbox.Leave, []string) (*sandbox.Box, error) {
		base := filepath.Dir(root)
		g := sandbox.Workspace{
			Root: root, Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch"),
			Private: []string{filepath.Join(base, "data")}, Secret: shell.Sensitive,
		}
		return func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
			g := g
			g.Environ = environ
			return wall.Box(g, p, leave, root)
		}
	}}
}

// script puts a program into the workspace.
func (w *site) script(name, text string) {
	w.t.Helper()
	w.file(name, "#!/bin/sh\n"+text+"\n")
	observerCheck(w.t, os.Chmod(filepath.Join(w.root, name), 0o700))
}

func (w *site) add(text string) {
	w.t.Helper()
	c, err := schedule.ParseCheck(text)
	observerCheck(w.t, err)
	_, err = w.pool.Observe.Checks().Add(w.t.Context(), c)
	observerCheck(w.t, err)
}

// An observer runs the checks that were attached to its task, by their names, and no others; what it sees is what the
// human is shown. A check that fails is a finding.
// Spec: R-4.
func TestChecks(t *testing.T) {
	s := boxed(t)
	var got []llm.ToolResult
	var offered bool
	s.reply = func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
		if n == 0 {
			for _, k := range req.Tools {
				offered = offered || k.Name == "run_check"
			}
			return calls(n, "run_check", `{"name":"red"}`, `{"name":"other"}`, `{"name":"gone"}`, `{"name":"two words"}`), nil
		}
		got = observerResults(req)
		return says("the tests are red"), nil
	}
	w := observerOpen(t, s)
	w.script("red.sh", `echo "[$1]"; echo "2 failed" >&2; exit 3`)
	w.add(`red ./red.sh 'a  b;$HOME'`)
	w.add("other echo x")
	m := w.observes(agents.ObserverOrder{Checks: []string{"red", "gone"}})
	if !offered || m.Error != "" || len(got) != 4 {
		t.Fatalf("offered %t, %+v, %+v", offered, m, got)
	}
	want := "[a  b;$HOME]\n2 failed\n[exit code 3]"
	if got[0].Text != want || !got[0].Error {
		t.Errorf("red: %+v", got[0])
	}
	for n, want := range map[int]string{1: `no check "other" is attached`, 2: `there is no check "gone"; there is other, red`, 3: `no check "two words" is attached`} {
		if !strings.Contains(got[n].Text, want) || !got[n].Error {
			t.Errorf("%d: %+v", n, got[n])
		}
	}
	shown, err := w.pool.Observe.Checks().Run(t.Context(), "red")
	if err != nil || shown.Text != want {
		t.Errorf("the human is shown %+v, %v", shown, err)
	}
}

// A check changes nothing but its temporary directory and the caches, has no network, sees no secret, and gets an
// environment of what is known to be harmless.
// Spec: R-4, O-70, O-71, O-73, E-27.
func TestChecks_held(t *testing.T) {
	s := boxed(t)
	s.env = []string{"MY_PLACE=x", "SSH_AUTH_SOCK=/x", "GITHUB_TOKEN=secret", "DATABASE_URL=z", "GOCACHE="}
	w := observerOpen(t, s)
	cache := filepath.Join(w.home, ".cache", "go-build")
	observerCheck(t, os.MkdirAll(cache, 0o700))
	observerCheck(t, os.MkdirAll(filepath.Join(w.home, ".ssh"), 0o700))
	observerCheck(t, os.WriteFile(filepath.Join(w.home, ".ssh", "id"), []byte("needle"), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	observerCheck(t, err)
	defer l.Close()
	w.file("f", "x")
	port := l.Addr().(*net.TCPAddr).Port
	w.script("try.sh", fmt.Sprintf(`
try() { name=$1; shift; if "$@" 2>/dev/null; then echo "did $name"; fi; }
try change sh -c 'echo y >f'
try make touch new
try remove rm f
try rename mv f g
try mode chmod 777 f
try outside touch "$HOME/new"
try secret grep -q needle "$HOME/.ssh/id"
try data ls "$HOME/../data/fantail.db"
try network bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d'
try temporary touch "$TMPDIR/x"
try cache touch "$HOME/.cache/go-build/x"
env | grep -E '^(MY_PLACE|SSH_AUTH_SOCK|GITHUB_TOKEN|DATABASE_URL)='
pwd`, port))
	w.add("try ./try.sh")
	r, err := w.pool.Observe.Checks().Run(t.Context(), "try")
	observerCheck(t, err)
	want := "did temporary\ndid cache\n" + w.root + "\n"
	if _, err := os.Stat("/usr/local/go/bin/go"); err != nil {
		want = "did temporary\n" + w.root + "\n" // no tool is there whose cache it is
	}
	if r.Text != want {
		t.Errorf("it says %q, want %q", r.Text, want)
	}
	if data, err := os.ReadFile(filepath.Join(w.root, "f")); err != nil || string(data) != "x" {
		t.Errorf("the file is %q, %v", data, err)
	}
	w.add("net net=127.0.0.1 ./try.sh")
	if r, err := w.pool.Observe.Checks().Run(t.Context(), "net"); err != nil || !strings.Contains(r.Text, "did network") {
		t.Errorf("with net= it says %q, %v", r.Text, err)
	}
}

// What a check puts out is cut, and one that is in no row any more that may run runs no more.
func TestChecks_bounds(t *testing.T) {
	s := boxed(t)
	w := observerOpen(t, s)
	w.script("loud.sh", "yes | head -c 1000000")
	w.add("loud ./loud.sh")
	r, err := w.pool.Observe.Checks().Run(t.Context(), "loud")
	if err != nil || len(r.Text) > 30_000 || len(r.Text) < 1000 {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	observerCheck(t, w.pool.Observe.Checks().Remove(t.Context(), "loud"))
	if _, err := w.pool.Observe.Checks().Run(t.Context(), "loud"); err == nil || !strings.Contains(err.Error(), `there is no check "loud", nor any`) {
		t.Errorf("it ran: %v", err)
	}
	if err := w.pool.Observe.Checks().Remove(t.Context(), "loud"); err == nil {
		t.Error("it was removed twice")
	}
}
