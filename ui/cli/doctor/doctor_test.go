package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/ui/cli/place"
)

func TestMachine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	yes, no := write("yes.conf", "[Login]\n KillUserProcesses = yes\n"), write("no.conf", "#KillUserProcesses=yes\nKillUserProcesses=no\n")
	there, missing := write("linger", ""), filepath.Join(dir, "missing")
	for _, c := range []struct {
		name string
		m    Machine
		want string
		bad  bool
	}{
		{"nothing said", Machine{Logind: []string{missing}, Linger: missing}, "leaves hosts alive", false},
		{"it kills", Machine{Logind: []string{yes}, Linger: missing}, "enable-linger", true},
		{"the last word counts", Machine{Logind: []string{yes, no}, Linger: missing}, "leaves hosts alive", false},
		{"lingering", Machine{Logind: []string{no, yes}, Linger: there}, "lingering is on", false},
	} {
		if f := c.m.kills(); f.Bad != c.bad || !strings.Contains(f.Says, c.want) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
	for group, bad := range map[string]bool{
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-5b0.scope\n": true,
		"0::/user.slice/user-1000.slice/session-3.scope\n":                                                              false,
		"12:cpu:/\n0::/init.scope\n": false,
	} {
		m := Machine{Group: write("group", group)}
		if f := m.scope(); f.Bad != bad {
			t.Errorf("%q: %+v", group, f)
		}
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	at := place.Place{Root: dir, Data: dir, Screens: filepath.Join(dir, "x.sock")}
	all := Look(t.Context(), at, Here("nobody"))
	if last := all[len(all)-1]; last.What != "host" || last.Bad || !strings.Contains(last.Says, "none runs") {
		t.Errorf("%+v", last)
	}
	// Somebody has the workspace and does not answer.
	lock, err := place.Lock(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	all = Look(t.Context(), at, Here("nobody"))
	if last := all[len(all)-1]; !last.Bad || !strings.Contains(last.Says, "does not answer") {
		t.Errorf("%+v", last)
	}
}
