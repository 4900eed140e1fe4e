package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	if os.Getenv(unspaced) == "asked" {
		if err := refuse(); err != nil {
			panic(err)
		}
	}
	if os.Getenv(concealed) != "" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 2 && os.Args[1] == escaper {
		os.Exit(tryEscape(os.Args[2], os.Args[3:]))
	}
	os.Exit(func() int {
		defer func() { _ = os.RemoveAll(plainly) }()
		return m.Run()
	}())
}

// program returns where this program is, or, with the race detector, where it is without: with it each child that a test
// starts takes ten times as long to begin.
func program(t *testing.T) string {
	t.Helper()
	path, err := itself()
	must(t, err)
	return path
}

// plainly is the directory that itself builds in; "": it has not.
var plainly string

var itself = sync.OnceValues(func() (string, error) {
	if !raced {
		return os.Executable()
	}
	dir, err := os.MkdirTemp("", "fantail-plainly")
	if err != nil {
		return "", err
	}
	plainly = dir
	path := filepath.Join(dir, "program")
	build := exec.Command("go", "test", "-c", "-o", path, "fantail/tools/sandbox")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests without the race detector: %w: %s", err, out)
	}
	return path, os.Chmod(dir, 0o755)
})

// concealed names the kinds that a program finds into which nobody can look, as the host is one.
const concealed = "FE_CONCEALED"

// What a program is found that conceals itself, and that is not root: its own files of /proc are closed to it.
func TestFindConcealed(t *testing.T) {
	want := os.Getenv(concealed)
	if want == "" {
		var works []string
		for _, k := range kinds {
			if sandbox.Find(t.Context(), k).Level() != sandbox.None {
				works = append(works, string(k))
			}
		}
		asUser(t, "^TestFindConcealed$", os.Getenv("PATH"), concealed+"="+strings.Join(works, ","))
		return
	}
	for k := range strings.SplitSeq(want, ",") {
		if w := sandbox.Find(t.Context(), sandbox.Kind(k)); w.Level() == sandbox.None {
			t.Errorf("%s: %s", k, w.Why())
		}
	}
}

func TestFind(t *testing.T) {
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		t.Log(k, w.Level(), w.Word(), w.Facts, w.Why())
		if (w.Level() == sandbox.None) != (len(w.Facts) == 0) || (w.Level() == sandbox.None) != (w.Why() != "") {
			t.Errorf("%s: level %s with the facts %v, and why there is no better: %q", k, w.Level(), w.Facts, w.Why())
		}
	}
	if cell.ABI() >= 6 && sandbox.Find(t.Context(), sandbox.Landlock).Level() != sandbox.Detects {
		t.Error("this kernel has Landlock, and the wall of it alone was not found")
	}
}

// What is below a temporary directory, whose place another one takes, is read all the same by who writes none of it: the
// workspace and what git keeps for it, and nothing beside.
func TestBox_belowTemporary(t *testing.T) {
	base := t.TempDir()
	g := sandbox.Ground{Root: filepath.Join(base, "work"), Git: []string{filepath.Join(base, "git")}, Scratch: filepath.Join(base, "scratch")}
	for _, d := range []string{g.Root, g.Git[0], g.Scratch, filepath.Join(base, "beside")} {
		must(t, os.Mkdir(d, 0o755))
		must(t, os.WriteFile(filepath.Join(d, "f"), []byte(filepath.Base(d)+"\n"), 0o644))
	}
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		if w.Level() == sandbox.None {
			continue
		}
		for _, p := range []sandbox.Profile{sandbox.Observer, sandbox.Check} {
			box, err := w.Box(g, p, sandbox.Leave{}, g.Root)
			must(t, err)
			r, err := proc.Run(t.Context(), proc.Spec{
				Shell: "cat f ../git/f ../beside/f 2>/dev/null; echo x >>f; echo x >>../git/f", Dir: g.Root, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10,
			})
			must(t, err)
			if !strings.HasPrefix(r.Text, "work\ngit\n") || strings.Contains(r.Text, "beside\n") {
				t.Errorf("%s, %s: it reads %q", k, p, r.Text)
			}
			for _, d := range []string{g.Root, g.Git[0]} {
				if b, _ := os.ReadFile(filepath.Join(d, "f")); string(b) != filepath.Base(d)+"\n" {
					t.Errorf("%s, %s: %s is %q", k, p, d, b)
				}
			}
		}
	}
}

// A program that lies in the temporary directory runs, with what it comes with, and changes nothing there; what lies around
// that, and what nobody may see, is not there.
func TestBox_programsInTemporary(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "fantail-programs")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	g := sandbox.Ground{Root: at("work"), Scratch: at("scratch"), Private: []string{at("mods/node_modules/private")}}
	const script = "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")\"/../beside; echo x >\"$0\"; echo x >>f\n"
	for name, text := range map[string]string{
		"work/f": "work\n", "scratch/f": "", "own/d/run": script, "own/beside": "hidden\n", "venv/bin/run": script, "venv/beside": "library\n",
		"mods/node_modules/a/run": script, "mods/node_modules/beside": "package\n", "mods/node_modules/private/key": "secret\n", "mods/key": "secret\n", "others/key": "secret\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		must(t, os.WriteFile(at(name), []byte(text), 0o755))
	}
	must(t, os.MkdirAll(at("mods/node_modules/.bin"), 0o755))
	must(t, os.Symlink("../a/run", at("mods/node_modules/.bin/run")))
	must(t, os.Symlink(at("others"), at("own/d/leads")))
	one := base + "-one" // in the temporary directory itself
	must(t, os.WriteFile(one, []byte("#!/bin/sh\necho alone\n"), 0o755))
	t.Cleanup(func() { _ = os.Remove(one) })
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		if w.Level() == sandbox.None {
			continue
		}
		for program, want := range map[string]string{
			at("own/d/run"): "", at("venv/bin/run"): "library\n", at("mods/node_modules/a/run"): "package\n", at("mods/node_modules/.bin/run"): "package\n", one: "alone\n",
		} {
			box, err := w.Box(g, sandbox.Server, sandbox.Leave{Write: []string{g.Root}, Words: []string{"sh", "-c", program}}, g.Root)
			must(t, err)
			r, err := proc.Run(t.Context(), proc.Spec{
				Shell: program + " 2>/dev/null; cat " + at("*/key") + " " + at("*/*/*/key") + " " + at("own/d/leads/key") + " 2>/dev/null", Dir: g.Root, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10,
			})
			must(t, err)
			if r.Text != want {
				t.Errorf("%s: %s says %q, want %q", k, program, r.Text, want)
			}
			text, _ := os.ReadFile(program)
			if work, _ := os.ReadFile(at("work/f")); !strings.HasPrefix(string(text), "#!") || program != one && !strings.HasSuffix(string(work), "x\n") {
				t.Errorf("%s: %s begins with %.20q, the workspace has %q", k, program, text, work)
			}
			must(t, os.WriteFile(at("work/f"), []byte("work\n"), 0o644))
		}
	}
}

// What is to be hidden may be gone by the time that it is: the command starts, and nothing stands in its place.
func TestBox_goneMeanwhile(t *testing.T) {
	w := sandbox.Find(t.Context(), sandbox.Namespaces)
	if w.Level() == sandbox.None {
		t.Skip("there are no namespaces here")
	}
	g := small(t)
	box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
	must(t, err)
	at := filepath.Join(g.Root, "app.sock")
	l, err := net.Listen("unix", at)
	must(t, err)
	c := exec.Command("/bin/sh", "-c", "ls -A "+g.Root)
	c.Dir, c.Env = g.Root, []string{"PATH=/usr/bin:/bin"}
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	in, err := box.Enclose(c)
	must(t, err)
	must(t, l.Close())
	runtime.LockOSThread()
	_, err = in.Start(c)
	runtime.UnlockOSThread()
	must(t, err)
	if err := c.Wait(); err != nil || strings.Contains(said.String(), "app.sock") {
		t.Errorf("%v, it says %q, %+v", err, said.String(), in.End())
	} else if r := in.End(); r.Fault != "" {
		t.Error(r.Fault)
	}
	if _, err := os.Lstat(at); err == nil {
		t.Error("something stands where the socket was")
	}
}

// A command ends what it started by a signal, as it does without a sandbox.
func TestBox_signals(t *testing.T) {
	g := small(t)
	ends := func(box *sandbox.Box) string {
		t.Helper()
		r, err := proc.Run(t.Context(), proc.Spec{
			Shell: `for s in HUP INT QUIT TERM; do sh -c "kill -s $s \$\$"; echo $?; done 2>/dev/null`,
			Dir:   g.Root, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10,
		})
		must(t, err)
		return r.Text
	}
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests were started with a signal ignored, as nohup does, and a sandbox begins anew with it")
	}
	want := ends(nil)
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		if w.Level() == sandbox.None {
			continue
		}
		box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
		must(t, err)
		if got := ends(box); got != want {
			t.Errorf("%s: they end with %q, without a sandbox with %q", k, got, want)
		}
	}
	if !strings.HasSuffix(want, "130\n131\n143\n") {
		t.Errorf("without a sandbox they end with %q", want)
	}
}
