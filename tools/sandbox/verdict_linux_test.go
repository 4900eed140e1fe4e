package sandbox_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// claim writes a verdict into a file.
func claim(t *testing.T, file, decided string, k sandbox.Kind) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"decided": decided, "kind": k, "facts": []string{"it was claimed"}})
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

// ground is a small workspace below base.
func ground(t *testing.T, base string) sandbox.Workspace {
	t.Helper()
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch")}
	for _, d := range []string{g.Root, g.Home, g.Scratch} {
		must(t, os.MkdirAll(d, 0o700))
	}
	return g
}

// writes has a command in a sandbox of w write a file, in the directory dir of the workspace, and reports whether it is there.
func writes(t *testing.T, w *sandbox.Backend, g sandbox.Workspace, dir string) bool {
	t.Helper()
	file := filepath.Join(g.Root, "written")
	must(t, os.RemoveAll(file))
	box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
	must(t, err)
	r, err := proc.Run(t.Context(), proc.Spec{Shell: "echo x >" + file, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10})
	_, missing := os.Stat(file)
	if done := err == nil && r.Exit == 0; done != (missing == nil) {
		t.Errorf("%s: exit code %d, %v, and the file: %v", w.Word(), r.Exit, err, missing)
	}
	return missing == nil
}

// TestFindKept: a search takes an earlier one's verdict, without a try, as long as nothing changed that decides it.
func TestFindKept(t *testing.T) {
	base := t.TempDir()
	g, file := ground(t, base), filepath.Join(base, "sandbox.json")
	first := sandbox.FindKept(t.Context(), file)
	if first.Level() != sandbox.Prevents {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("less than the best is kept: %v", err)
		}
		t.Skip("no sandbox here prevents anything: " + first.Why())
	}
	kept, err := os.ReadFile(file)
	must(t, err)
	t.Setenv("TMPDIR", filepath.Join(base, "missing")) // no sandbox can be tried
	w := sandbox.FindKept(t.Context(), file)
	if w.Word() != first.Word() || !slices.Equal(w.Facts, first.Facts) || !slices.Equal(w.Faults, first.Faults) {
		t.Fatalf("%s %q %q, and it was %s %q %q", w.Word(), w.Facts, w.Faults, first.Word(), first.Facts, first.Faults)
	}
	if !writes(t, w, g, g.Root) || w.Now() != w {
		t.Error("no command runs in it")
	}
	decided := sandbox.Deciding()
	for what, do := range map[string]func(){
		"another kernel":  func() { claim(t, file, strings.Replace(decided, "Landlock", "Landlock 1", 1), first.Kind) },
		"another program": func() { claim(t, file, strings.Replace(decided, os.Args[0], "/bin/other", 1), first.Kind) },
		"other kinds":     func() { claim(t, file, sandbox.Deciding(sandbox.Landlock), first.Kind) },
		"nothing":         func() { claim(t, file, "", first.Kind) },
		"less":            func() { claim(t, file, decided, sandbox.Landlock) },
		"none":            func() { claim(t, file, decided, "") },
		"a part":          func() { must(t, os.WriteFile(file, kept[:len(kept)/2], 0o600)) },
		"no file":         func() { must(t, os.Remove(file)) },
	} {
		do()
		if w := sandbox.FindKept(t.Context(), file); w.Level() != sandbox.None {
			t.Errorf("a verdict for %s is taken: %s", what, w.Word())
		}
	}
}

// TestFindKept_doubt: after a command whose sandbox could not be made the search is made anew.
func TestFindKept_doubt(t *testing.T) {
	base := t.TempDir()
	g, file := ground(t, base), filepath.Join(base, "sandbox.json")
	if first := sandbox.FindKept(t.Context(), file); first.Level() != sandbox.Prevents {
		t.Skip("no sandbox here prevents anything: " + first.Why())
	}
	claimed := sandbox.FindKept(t.Context(), file)
	if writes(t, claimed, g, filepath.Join(base, "missing")) {
		t.Error("a command runs nowhere")
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the verdict stays: %v", err)
	}
	w := claimed.Now()
	if w == claimed || w.Level() != sandbox.Prevents || !writes(t, w, g, g.Root) || claimed.Now() != w {
		t.Errorf("the new search finds %s: %s", w.Word(), w.Why())
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("its verdict is not kept: %v", err)
	}
}

// TestFindKept_wrong: where the kernel refuses what a verdict promises, no command runs: neither in less than was
// promised, nor without a sandbox.
func TestFindKept_wrong(t *testing.T) {
	if os.Getenv(unspaced) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFindKept_wrong$", "-test.v")
		c.Env = append(os.Environ(), unspaced+"=asked")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	base := t.TempDir()
	g, file := ground(t, base), filepath.Join(base, "sandbox.json")
	for _, k := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces} {
		claim(t, file, sandbox.Deciding(), k)
		w := sandbox.FindKept(t.Context(), file)
		if w.Kind != k {
			t.Logf("%s: %s", k, w.Why()) // this machine lacks its program
			continue
		}
		if writes(t, w, g, g.Root) {
			t.Fatalf("%s: a command runs without what was promised", k)
		}
		now := w.Now()
		if _, err := now.Box(g, sandbox.Command, sandbox.Leave{}, g.Root); err == nil || !strings.Contains(err.Error(), "worked at an earlier start") || now.Level() != sandbox.Prevents {
			t.Errorf("%s: then there is %s, %s: %v", k, now.Word(), now.Level(), err)
		}
		if next := sandbox.FindKept(t.Context(), file); next.Kind != sandbox.Landlock {
			t.Errorf("%s: the next start finds %s", k, next.Word())
		}
	}
}
