package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/store/config"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// TestText: the text of /sandbox for each sandbox.
func TestText(t *testing.T) {
	facts := []string{"a command writes the workspace", "it has a temporary directory of its own", "it writes nothing outside"}
	missing, refused := "bubblewrap: it is not installed (/usr/bin/bwrap)", "namespaces: fork/exec /proc/self/exe: operation not permitted"
	for _, c := range []struct {
		name string
		wall *sandbox.Backend
		mode permission.Mode
		want string
	}{
		{"prevents", &sandbox.Backend{Kind: sandbox.Seatbelt, Facts: facts}, permission.Auto, `Sandbox: sandbox-exec
  it prevents changes of git's hooks, .envrc, AGENTS.md and the like
  no network, but this machine's loopback with its servers
  writing in /src/shop, in its temporary directory, in build caches
  a command writes the workspace
  it has a temporary directory of its own
  it writes nothing outside
Mode auto: commands run in it without a question`},
		{"detects", &sandbox.Backend{Kind: sandbox.Landlock, Facts: facts[:1], Faults: []string{missing, refused}}, permission.Ask, `Sandbox: Landlock (ABI 0) and a filter of system calls, without namespaces
  it detects changes of git's hooks, .envrc, AGENTS.md and the like
  no network, and no loopback either
  writing in /src/shop, in its temporary directory, in build caches
  a command writes the workspace
  not bubblewrap: it is not installed (/usr/bin/bwrap)
  not namespaces: fork/exec /proc/self/exe: operation not permitted
  to do: install bubblewrap (apt install bubblewrap, dnf install bubblewrap); then /restart
Mode ask: a command that does more than read asks, and then runs in it`},
		{"none", &sandbox.Backend{Faults: []string{refused}}, permission.Ask, `Sandbox: none works here: commands run as you
  not namespaces: fork/exec /proc/self/exe: operation not permitted`},
		{"off", nil, permission.Yolo, `Sandbox: there is none, as configured (sandbox = "off"): commands run as you; sandbox = "on" takes the best that works`},
	} {
		if got := SandboxText(c.wall, "/src/shop", c.mode, Machine{}); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
	for mode, want := range map[permission.Mode]string{permission.Yolo: "outside", permission.Plan: "only commands that read", permission.AcceptEdits: "asks"} {
		if got := SandboxText(&sandbox.Backend{Kind: sandbox.Bubblewrap}, "/src", mode, Machine{}); !strings.Contains(got, "\nMode "+string(mode)+": ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", mode, got)
		}
	}
}

// TestBrief: the start screen mentions the sandbox only if it lacks something.
func TestBrief(t *testing.T) {
	for kind, want := range map[sandbox.Kind]string{
		sandbox.Bubblewrap: "", sandbox.Namespaces: "", sandbox.Seatbelt: "", sandbox.Landlock: "only detects", "": "No sandbox works here",
	} {
		if got := SandboxBrief(&sandbox.Backend{Kind: kind}); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", kind, got)
		}
	}
	if got := SandboxBrief(nil); !strings.Contains(got, "as configured") {
		t.Errorf("off: %q", got)
	}
}

// TestMissing: a sandbox that the configuration names must work; without a name none need.
func TestMissing(t *testing.T) {
	none, some := &sandbox.Backend{Faults: []string{"namespaces: no"}}, &sandbox.Backend{Kind: sandbox.Namespaces}
	for _, asked := range []string{"", config.SandboxOn} {
		if err := SandboxMissing(none, asked, Machine{}); err != nil {
			t.Errorf("%q: %v", asked, err)
		}
	}
	if err := SandboxMissing(nil, config.SandboxOff, Machine{}); err != nil {
		t.Error(err)
	}
	if err := SandboxMissing(some, "namespaces", Machine{}); err != nil {
		t.Error(err)
	}
	err := SandboxMissing(none, "namespaces", Machine{})
	if want := `the configuration wants the sandbox namespaces and no other, which does not work here (namespaces: no): say sandbox = "on" for the best that works`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := SandboxMissing(&sandbox.Backend{}, "bubblewrap", Machine{}); err == nil || !strings.Contains(err.Error(), "none of that kind") {
		t.Errorf("on another system: %v", err)
	}
}

// TestFind: off looks for none, and a named kind for no other.
func TestFind(t *testing.T) {
	if w := FindSandbox(t.Context(), config.SandboxOff); w != nil {
		t.Errorf("off: %+v", w)
	}
	if w := FindSandbox(t.Context(), "kind"); w == nil || w.Level() != sandbox.None {
		t.Errorf("one that is none: %+v", w)
	}
}

// TestNext: each cause has its own step, and only a sandbox that could be better has any.
func TestNext(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, zero, many := file("one", "1\n"), file("zero", "0\n"), file("many", "96365\n")
	missing, refused := "bubblewrap: it is not installed (/usr/bin/bwrap)", "namespaces: operation not permitted"
	for _, c := range []struct {
		name   string
		m      Machine
		faults []string
		want   []string // each in a step of its own
	}{
		{"nothing is the matter", Machine{AppArmor: one}, nil, nil},
		{"not installed", Machine{AppArmor: one}, []string{missing}, []string{"install bubblewrap"}},
		{"Ubuntu", Machine{AppArmor: one, Spaces: many, Clone: one}, []string{missing, refused}, []string{"install bubblewrap", "apparmor_restrict_unprivileged_userns=0"}},
		{"Debian", Machine{AppArmor: zero, Clone: zero}, []string{refused}, []string{"unprivileged_userns_clone=1"}},
		{"none may be", Machine{Spaces: zero}, []string{refused}, []string{"max_user_namespaces="}},
		{"a container", Machine{Container: []string{filepath.Join(dir, "none"), many}}, []string{"bubblewrap: no"}, []string{"start the container"}},
		{"an old kernel", Machine{}, []string{"namespaces: the kernel has no Landlock, or it is switched off", "landlock: the kernel has no Landlock, or it is switched off"}, []string{"lsm="}},
		{"nobody knows", Machine{}, []string{refused}, nil},
	} {
		var steps []string
		if text := c.m.Next(&sandbox.Backend{Kind: sandbox.Landlock, Faults: c.faults}); text != "" {
			steps = strings.Split(text, "; ")
		}
		ok := len(steps) == len(c.want)
		for i := range min(len(steps), len(c.want)) {
			ok = ok && strings.Contains(steps[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, steps, c.want)
		}
	}
	if text := (Machine{AppArmor: one}).Next(&sandbox.Backend{Kind: sandbox.Namespaces, Faults: []string{missing, refused}}); text != "" {
		t.Errorf("it prevents: %q", text)
	}
}
