package sandbox_test

import (
	"context"
	"errors"
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

	"fantail/.ci/long"
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

// program returns the path of this program, or, with the race detector, of one without it: with it each child of a test
// takes ten times as long to start.
func program(t *testing.T) string {
	t.Helper()
	path, err := itself()
	must(t, err)
	return path
}

// plainly is the directory that itself builds in; "": none yet.
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

// concealed names the kinds that a program finds which conceals itself from others, as the host does.
const concealed = "FE_CONCEALED"

// What a program without root finds that conceals itself: it can't open its own files in /proc.
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

// A profile that does not write the workspace still reads it, and git's directory for it, below a temporary directory
// that is replaced; it reads nothing beside them.
func TestBox_belowTemporary(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "fantail-below") // wherever this program's temporary files are
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Git: []string{filepath.Join(base, "git")}, Scratch: filepath.Join(base, "scratch")}
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

// A key in a private directory is neither read, written, moved, linked nor replaced from any sandbox, whatever way leads there.
func TestBox_key(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "fantail-key")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	g := sandbox.Workspace{Root: at("home/work"), Home: at("home"), Scratch: at("home/data/ws/tmp"), Private: []string{at("home/data"), at("home/data/ws")}}
	for _, d := range []string{g.Root, g.Scratch} {
		must(t, os.MkdirAll(d, 0o700))
	}
	key, link := at("home/data/ws/seal.key"), at("home/work/link")
	must(t, os.WriteFile(key, []byte("key-text"), 0o600))
	must(t, os.Symlink(key, link))
	must(t, os.Symlink(at("home/data"), at("home/work/dir")))
	was, err := os.Lstat(key)
	must(t, err)
	boxes := 0
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		if w.Level() == sandbox.None {
			continue
		}
		for _, p := range []sandbox.Profile{sandbox.Observer, sandbox.Check, sandbox.Server, sandbox.Command} {
			box, err := w.Box(g, p, sandbox.Leave{Words: []string{"sh"}}, g.Root)
			must(t, err)
			r, err := proc.Run(t.Context(), proc.Spec{
				Shell: strings.NewReplacer("KEY", key, "DATA", at("home/data")).Replace(`exec 2>/dev/null
					cat KEY link dir/ws/seal.key ../data/ws/seal.key /proc/self/root/KEY /proc/self/cwd/../data/ws/seal.key DATA/*/*.key
					ln KEY hard && cat hard; cp KEY copy && cat copy; mv KEY moved && cat moved; mv DATA data && cat data/ws/seal.key
					echo evil >KEY; echo evil >>link; rm -f KEY; echo evil >other && mv -f other KEY; ln -sf other KEY; true`),
				Dir: g.Root, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10,
			})
			must(t, err)
			is, err := os.Lstat(key)
			must(t, err)
			text, err := os.ReadFile(key)
			must(t, err)
			if strings.Contains(r.Text, "key-text") || string(text) != "key-text" || !os.SameFile(was, is) || is.Mode() != was.Mode() {
				t.Errorf("%s, %s: it reads %q, and %s is %q, %v", k, p, r.Text, key, text, is.Mode())
			}
			boxes++
		}
	}
	if boxes == 0 {
		t.Skip("no sandbox works here")
	}
	t.Logf("%d sandboxes", boxes)
}

// A program in the temporary directory runs, with the files that it needs, and changes nothing there. The files around
// it, and hidden ones, are missing.
func TestBox_programsInTemporary(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "fantail-programs")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	path := "PATH=/usr/bin:/bin:" + at("rt/bin")
	g := sandbox.Workspace{Root: at("work"), Scratch: at("scratch"), Private: []string{at("mods/node_modules/private")}, Environ: []string{path}}
	const script = "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")\"/../beside; echo x >\"$0\"; echo x >>f\n"
	for name, text := range map[string]string{
		"work/f": "work\n", "scratch/f": "", "own/d/run": script, "own/beside": "hidden\n", "venv/bin/run": script, "venv/beside": "library\n",
		"mods/node_modules/a/run": script, "mods/node_modules/beside": "package\n", "mods/node_modules/private/key": "secret\n", "mods/key": "secret\n", "others/key": "secret\n",
		"pack/dist/run": script, "pack/package.json": "{}\n", "pack/beside": "whole\n",
		"hoist/apps/one/dist/run": "#!/bin/sh\ncat \"$(dirname \"$0\")\"/../../../node_modules/beside; echo x >\"$0\"; echo x >>f\n", "hoist/node_modules/beside": "above\n", "hoist/key": "secret\n",
		"lone/run": "#!/usr/bin/env -S A=b interprets\necho x >>f\n", "rt/bin/interprets": "#!/bin/sh\ncat \"$(dirname \"$0\")\"/../beside\nexec /bin/sh \"$@\"\n", "rt/beside": "runtime\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		must(t, os.WriteFile(at(name), []byte(text), 0o755))
	}
	must(t, os.MkdirAll(at("mods/node_modules/.bin"), 0o755))
	must(t, os.Symlink("../a/run", at("mods/node_modules/.bin/run")))
	must(t, os.Symlink(at("others"), at("own/d/leads")))
	must(t, os.MkdirAll(at("linked/bin"), 0o755))
	must(t, os.Symlink(at("mods/node_modules/a/run"), at("linked/bin/run")))
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
			at("pack/dist/run"): "whole\n", at("hoist/apps/one/dist/run"): "above\n", at("lone/run"): "runtime\n", at("linked/bin/run"): "package\n",
		} {
			box, err := w.Box(g, sandbox.Server, sandbox.Leave{Write: []string{g.Root}, Words: []string{"sh", "-c", program}}, g.Root)
			must(t, err)
			r, err := proc.Run(t.Context(), proc.Spec{
				Shell: program + " 2>/dev/null; cat " + at("*/key") + " " + at("*/*/*/key") + " " + at("own/d/leads/key") + " 2>/dev/null", Dir: g.Root, Env: []string{path}, Box: box, Head: 1 << 10, Tail: 1 << 10,
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

// A file to hide may be removed before it is hidden: the command starts, and nothing takes its place.
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

// Bubblewrap makes no sandbox if a socket to cover vanishes before it does; then the command is started again.
func TestBox_socketsComeAndGo(t *testing.T) {
	w := sandbox.Find(t.Context(), sandbox.Bubblewrap)
	if w.Level() == sandbox.None {
		t.Skip(w.Why())
	}
	base, err := os.MkdirTemp(place(t), "sockets-") // not below the temporary directory, which a command has its own of
	must(t, err)
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Scratch: filepath.Join(base, "scratch")}
	must(t, errors.Join(os.Mkdir(g.Root, 0o755), os.Mkdir(g.Scratch, 0o755)))
	box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
	must(t, err)
	at := func(name string) string { return filepath.Join(base, name+".sock") }
	l, err := net.Listen("unix", at("one"))
	must(t, err)
	for _, b := range []*sandbox.Box{box, box.WithoutSockets()} {
		c := exec.Command("/bin/sh", "-c", "echo runs")
		c.Dir, c.Env = g.Root, []string{"PATH=/usr/bin:/bin"}
		var said strings.Builder
		c.Stdout, c.Stderr = &said, &said
		in, err := b.Enclose(c)
		must(t, err)
		must(t, l.Close())
		runtime.LockOSThread()
		_, err = in.Start(c)
		runtime.UnlockOSThread()
		must(t, err)
		err = c.Wait()
		in.End()
		if made := err == nil; made != (said.String() == "runs\n") || in.Unmade(said.String()) == made || made != (b != box) {
			t.Errorf("%v, it says %q, unmade %v", err, said.String(), in.Unmade(said.String()))
		}
		if in.Unmade(said.String() + "more\n") {
			t.Error("a command that ran has no sandbox")
		}
		l, err = net.Listen("unix", at("two"))
		must(t, err)
	}
	must(t, l.Close())

	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if l, err := net.Listen("unix", at(fmt.Sprint(i, "-", n))); err == nil {
					l.Close()
				}
			}
		})
	}
	for range long.Times(5, 20) {
		r, err := proc.Run(t.Context(), proc.Spec{Shell: "echo runs", Dir: g.Root, Env: []string{"PATH=/usr/bin:/bin"}, Box: box, Head: 1 << 10, Tail: 1 << 10})
		if err != nil || r.Text != "runs\n" {
			t.Errorf("%v, it says %q", err, r.Text)
		}
	}
	stop()
	busy.Wait()
}

// Signals end a command's processes as they do without a sandbox.
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
