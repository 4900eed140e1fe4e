package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/store/config"
	"fantail/tools/sandbox"
	"fantail/ui/workspace"
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
		m    DoctorMachine
		want string
		bad  bool
	}{
		{"nothing said", DoctorMachine{Logind: []string{missing}, Linger: missing}, "leaves hosts alive", false},
		{"it kills", DoctorMachine{Logind: []string{yes}, Linger: missing}, "enable-linger", true},
		{"the last word counts", DoctorMachine{Logind: []string{yes, no}, Linger: missing}, "leaves hosts alive", false},
		{"lingering", DoctorMachine{Logind: []string{no, yes}, Linger: there}, "lingering is on", false},
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
		m := DoctorMachine{Group: write("group", group)}
		if f := m.scope(); f.Bad != bad {
			t.Errorf("%q: %+v", group, f)
		}
	}
}

// TestSandbox: what holds, how, and why not better; none is bad, and so is the one that the configuration names and that
// does not work.
func TestSandbox(t *testing.T) {
	userns := filepath.Join(t.TempDir(), "userns")
	if err := os.WriteFile(userns, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, faults := []string{"a command writes the workspace", "it reads nothing that is private"}, []string{"bubblewrap: it is not installed (/usr/bin/bwrap)", "namespaces: operation not permitted"}
	for _, c := range []struct {
		name  string
		m     DoctorMachine
		bad   bool
		what  string
		wants []string
	}{
		{
			"it prevents",
			DoctorMachine{Wall: &sandbox.Backend{Kind: sandbox.Bubblewrap, Facts: facts}},
			false, "sandbox",
			[]string{"bubblewrap", "; /sandbox says what holds"},
		},
		{
			"it detects",
			DoctorMachine{Wall: &sandbox.Backend{Kind: sandbox.Landlock, Facts: facts, Faults: faults}, Keeps: workspace.Machine{AppArmor: userns}},
			false, "sandbox",
			[]string{"Landlock", "; /sandbox says what holds", "; to do: install bubblewrap", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
		},
		{
			"none works",
			DoctorMachine{Wall: &sandbox.Backend{Faults: append(faults, "landlock: the kernel has no Landlock, or it is switched off")}},
			true, "sandbox",
			[]string{"none works here: commands run as you", "not namespaces: operation not permitted", "lsm="},
		},
		{"off", DoctorMachine{Sandbox: config.SandboxOff}, true, "sandbox", []string{`sandbox = "off"`, "commands run as you", `"on" takes the best`}},
		{
			"only that one",
			DoctorMachine{Sandbox: "bubblewrap", Wall: &sandbox.Backend{Faults: faults[:1]}},
			true, "sandbox",
			[]string{"wants the sandbox bubblewrap and no other", "it is not installed", "install bubblewrap", `"on" for the best`},
		},
		{"that one works", DoctorMachine{Sandbox: "landlock", Wall: &sandbox.Backend{Kind: sandbox.Landlock}}, false, "sandbox", []string{"Landlock"}},
		{"nothing is known", DoctorMachine{Config: errors.New("config.toml:2: unknown key")}, true, "configuration", []string{"config.toml:2"}},
	} {
		f := c.m.sandbox()
		if f.Bad != c.bad || f.What != c.what || strings.Contains(f.Says, "\n") {
			t.Errorf("%s: %+v", c.name, f)
		}
		if !f.Bad && strings.Contains(f.Says, "a command writes") {
			t.Errorf("%s: it is not short: %q", c.name, f.Says)
		}
		for _, want := range c.wants {
			if !strings.Contains(f.Says, want) {
				t.Errorf("%s: nothing of %q in %q", c.name, want, f.Says)
			}
		}
	}
	all := Diagnose(t.Context(), workspace.Place{Root: "/", Data: "/"}, DoctorMachine{})
	if !slices.ContainsFunc(all, func(f Finding) bool { return f.What == "sandbox" && f.Bad }) {
		t.Errorf("nobody looked: %+v", all)
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	at := workspace.Place{Root: dir, Data: dir, Screens: filepath.Join(dir, "x.sock")}
	all := Diagnose(t.Context(), at, DoctorHere("nobody"))
	if last := all[len(all)-1]; last.What != "host" || last.Bad || !strings.Contains(last.Says, "none runs") {
		t.Errorf("%+v", last)
	}
	m := DoctorHere("nobody")
	m.File = filepath.Join(dir, "config.toml")
	if all := Diagnose(t.Context(), at, m); !slices.Contains(all, Finding{What: "configuration", Says: m.File + " (there is none)"}) {
		t.Errorf("the path of the configuration is not named: %+v", all)
	}
	// Somebody has the workspace and does not answer.
	lock, err := workspace.Lock(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	all = Diagnose(t.Context(), at, DoctorHere("nobody"))
	if last := all[len(all)-1]; !last.Bad || !strings.Contains(last.Says, "does not answer") {
		t.Errorf("%+v", last)
	}
}

// TestInstructions: what is found, used and not used of the workspace's instruction files, each with its place; none of it
// is in a host's way.
func TestInstructions(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"AGENTS.md": "see @gone.md", "CLAUDE.md": "x"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := workspace.Place{Root: root, Dir: root}
	var all []string
	for _, f := range (DoctorMachine{Written: at.Written(func(string) string { return "" })}).instructions(root) {
		if all = append(all, f.Says); f.Bad {
			t.Errorf("%+v is in the way", f)
		}
	}
	want := []string{"AGENTS.md", "AGENTS.md:1:5: there is no file gone.md", "CLAUDE.md: not used: AGENTS.md comes first"}
	if !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
}
