package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/store/config"
	"fantail/store/storetest"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
	"fantail/ui/crash"
	"fantail/ui/workspace"
)

// TestGround: sandboxes get the workspace's directories with links resolved, and hide the data of all workspaces.
func TestGround(t *testing.T) {
	base, err := filepath.EvalSymlinks(storetest.Dir(t)) // a short name: a socket has to fit
	if err != nil {
		t.Fatal(err)
	}
	at := func(rel string) string { return filepath.Join(base, rel) }
	for _, d := range []string{"disk/home/shop", "run"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("disk/home", at("home")); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"HOME": "home", "XDG_DATA_HOME": "home/data", "XDG_CONFIG_HOME": "home/conf", "XDG_RUNTIME_DIR": "run"} {
		t.Setenv(name, at(dir))
	}
	t.Chdir(at("home/shop"))
	found, err := workspace.Find("", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	g := ground(found, []string{"GOCACHE=/x"})
	data := filepath.Join(at("disk/home/data/fantail"), filepath.Base(found.Data))
	if g.Root != at("disk/home/shop") || g.Home != at("disk/home") || g.Scratch != filepath.Join(data, "tmp") || !slices.Equal(g.Environ, []string{"GOCACHE=/x"}) || g.Git != nil {
		t.Errorf("%+v", g)
	}
	if want := []string{at("disk/home/data/fantail"), data, at("disk/home/conf/fantail"), at("run/fantail")}; !slices.Equal(g.Private, want) {
		t.Errorf("private: %q, want %q", g.Private, want)
	}
	if want := []string{agents.Outputs(data)}; !slices.Equal(g.Shown, want) {
		t.Errorf("shown: %q, want %q", g.Shown, want)
	}
	if g.Secret(".ssh/id_rsa") == "" || g.Secret("shop/main.go") != "" {
		t.Error("it knows no secrets by their names")
	}
	t.Setenv("HOME", "home")
	if g := ground(found, nil); g.Home != "" {
		t.Errorf("a home that is somewhere else each time: %q", g.Home)
	}
	aside, err := found.Aside()
	if err != nil {
		t.Fatal(err)
	}
	defer aside.Leave()
	if g := ground(aside, nil); g.Scratch != filepath.Join(resolved(aside.Data), "tmp") || !slices.Contains(g.Private, resolved(aside.Data)) || !slices.Contains(g.Private, at("disk/home/data/fantail")) {
		t.Errorf("beside the host: %+v", g)
	}
}

// TestClear: commands get an empty temporary directory of their own; the content of old ones is removed, but not what
// a link in them leads to.
func TestClear(t *testing.T) {
	data := t.TempDir()
	at := func(rel string) string { return filepath.Join(data, rel) }
	for _, d := range []string{"tmp/a/b", "tmp-5/c"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"tmp/a/b/x", "tmp-5/c/x", "tmper", "kept"} {
		if err := os.WriteFile(at(f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("kept"), at("tmp/a/link")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"tmp/a/b", "tmp/a"} {
		if err := os.Chmod(at(d), 0); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(data)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 2 { // the second time there is nothing in it
		if err := renew(root); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(at("tmp")); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%v, %v", info, err)
		}
		if err := sweep(root); err != nil {
			t.Fatal(err)
		}
		var names []string
		list, err := os.ReadDir(data)
		for _, e := range list {
			names = append(names, e.Name())
		}
		inside, e := os.ReadDir(at("tmp"))
		if want := []string{"kept", "tmp", "tmper"}; err != nil || e != nil || len(inside) > 0 || !slices.Equal(names, want) {
			t.Errorf("%q, %v, %v, %v; want %q", names, inside, err, e, want)
		}
	}
	w := &Workspace{guard: crash.New(nil, crash.Options{}), place: workspace.Place{Data: at("missing")}, readOnly: fs.ErrPermission}
	if err := w.clear(); err != nil {
		t.Errorf("nothing runs where nothing can be written: %v", err)
	}
	w.readOnly = nil
	if err := w.clear(); err == nil {
		t.Error("a temporary directory in no place")
	}
}

// TestSeek: the sandbox is looked for once, and not if the configuration turns it off.
func TestSeek(t *testing.T) {
	at := workspace.Place{Data: t.TempDir()}
	w := &Workspace{guard: crash.New(nil, crash.Options{}), place: at, conf: config.Config{Sandbox: config.SandboxOff}}
	w.seek()
	if got := w.wall(); got != nil {
		t.Errorf("off: %+v", got)
	}
	w.conf.Sandbox = "landlock"
	w.seek()
	got := w.wall()
	if got == nil || got.Level() == sandbox.None == (len(got.Faults) == 0) || got != w.wall() {
		t.Errorf("%+v", got)
	}
	w.conf.Sandbox = config.SandboxOn
	w.seek()
	got = w.wall()
	kept, err := os.ReadDir(at.Data)
	if err != nil || got.Level() == sandbox.Prevents && runtime.GOOS == "linux" != (len(kept) == 1) {
		t.Errorf("%s: %v, %v", got.Word(), kept, err)
	}
}

// TestHolds: /sandbox says so if patterns deny more than is hidden from commands.
func TestHolds(t *testing.T) {
	root := resolved(t.TempDir())
	gate, err := permission.NewGate(permission.Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	rule, err := permission.ParseToolRule("Read(*.pem)", permission.Places{Root: root, Base: root})
	if err != nil {
		t.Fatal(err)
	}
	gate.Limit(permission.Limits{{ToolRule: rule, List: permission.DenyList, From: "x:1:1"}})
	found := &sandbox.Backend{Kind: sandbox.Landlock}
	w := New(crash.New(nil, crash.Options{}), workspace.Place{Root: root, Data: t.TempDir()})
	w.gate, w.found = gate, func() *sandbox.Backend { return found }
	const told = "Not all that rules with patterns deny"
	for i := range 2001 {
		if i == 2000 {
			if text := w.holds(permission.Ask); strings.Contains(text, told) || !strings.Contains(text, "Sandbox:") {
				t.Errorf("all is hidden: %s", text)
			}
		}
		if err := os.WriteFile(filepath.Join(root, strconv.Itoa(i)+".pem"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text := w.holds(permission.Ask); !strings.Contains(text, told) {
		t.Errorf("not all is hidden: %s", text)
	}
	if found = nil; strings.Contains(w.holds(permission.Ask), told) {
		t.Error("no sandbox hides anything")
	}
}
