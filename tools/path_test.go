package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/long"
	"fantail/tools/permission"
)

// top is the directory that place made everything in.
func top(e *Runtime) string { return filepath.Dir(e.Root) }

func link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestTarget_descriptorsAndProc(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	e := place(t)
	f, err := os.Open(top(e) + "/data/fantail.db")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := os.Open(top(e) + "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, p := range []string{
		fmt.Sprintf("/proc/self/fd/%d", f.Fd()), fmt.Sprintf("/dev/fd/%d", f.Fd()), fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()), fmt.Sprintf("/proc/thread-self/fd/%d", f.Fd()),
		fmt.Sprintf("/proc/self/fd/%d/fantail.db", d.Fd()), "/proc/self/root" + top(e) + "/data/fantail.db", "/proc/self/cwd/../../../../../../../../../../.." + top(e) + "/data/fantail.db",
	} {
		c := parse(t, e, "read_file", "path", p)
		if c.Action.Forbidden == "" {
			t.Errorf("%s is not forbidden: %+v", p, c.Action)
		}
		if r := c.Run(t.Context()); !r.Error || strings.Contains(r.Text, "SECRET") {
			t.Errorf("%s gave %+v", p, r)
		}
	}
	if c := parse(t, e, "read_file", "path", "/proc/self/environ"); c.Action.Sensitive == "" || !c.Action.Outside {
		t.Errorf("/proc/self/environ is %+v", c.Action)
	}
}

// Every file tool tells the gate which file it would touch.
func TestParse_actions(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a.go", "package a\n")
	put(t, e.Root+"/AGENTS.md", "x\n")
	put(t, e.Root+"/.env", "K=V\n")
	ok(t, e, "read_file", "path", "a.go")
	one := []map[string]string{{"old": "package a", "new": "package b"}}
	for _, c := range []struct {
		tool                          string
		kv                            []any
		kind                          permission.Kind
		outside, sensitive, forbidden bool
		diff                          string
	}{
		{tool: "read_file", kv: []any{"path", "a.go"}, kind: permission.Read},
		{tool: "read_file", kv: []any{"path", ".env"}, kind: permission.Read, sensitive: true},
		{tool: "read_file", kv: []any{"path", "/etc/hosts"}, kind: permission.Read, outside: true},
		{tool: "list_files", kv: []any{"path", ".."}, kind: permission.Read, outside: true},
		{tool: "list_files", kv: []any{"path", "../data"}, kind: permission.Read, outside: true, forbidden: true},
		{tool: "glob", kv: []any{"pattern", "../else/*"}, kind: permission.Read, outside: true},
		{tool: "glob", kv: []any{"pattern", "/etc/*"}, kind: permission.Read, outside: true},
		{tool: "glob", kv: []any{"pattern", "../data/*"}, kind: permission.Read, outside: true, forbidden: true},
		{tool: "glob", kv: []any{"pattern", "*", "path", "../home/.ssh"}, kind: permission.Read, outside: true, sensitive: true},
		{tool: "grep", kv: []any{"pattern", "x", "path", "../data"}, kind: permission.Read, outside: true, forbidden: true},
		{tool: "grep", kv: []any{"pattern", "x", "path", ".env"}, kind: permission.Read, sensitive: true},
		{tool: "write_file", kv: []any{"path", "new.go", "content", "x\n"}, kind: permission.Write, diff: "+x"},
		{tool: "write_file", kv: []any{"path", "a.go", "content", "package c\n"}, kind: permission.Write, diff: "-package a\n+package c"},
		{tool: "write_file", kv: []any{"path", "../else/n", "content", "x\n"}, kind: permission.Write, outside: true, diff: "+x"},
		{tool: "write_file", kv: []any{"path", ".git/hooks/pre-commit", "content", "x"}, kind: permission.Write, forbidden: true},
		{tool: "write_file", kv: []any{"path", "../config/config.toml", "content", "x"}, kind: permission.Write, outside: true, forbidden: true},
		{tool: "write_file", kv: []any{"path", "Makefile", "content", "x"}, kind: permission.Write, sensitive: true},
		{tool: "write_file", kv: []any{"path", "web/package.json", "content", "{}"}, kind: permission.Write, sensitive: true},
		{tool: "write_file", kv: []any{"path", ".vscode/tasks.json", "content", "x"}, kind: permission.Write, sensitive: true},
		{tool: "write_file", kv: []any{"path", "../home/.bashrc", "content", "x"}, kind: permission.Write, outside: true, sensitive: true},
		{tool: "write_file", kv: []any{"path", ".envrc", "content", "x"}, kind: permission.Write, sensitive: true},
		{tool: "edit_file", kv: []any{"path", "a.go", "edits", one}, kind: permission.Write, diff: "-package a\n+package b"},
		{tool: "edit_file", kv: []any{"path", "AGENTS.md", "edits", []map[string]string{{"old": "x", "new": "y"}}}, kind: permission.Write, sensitive: true, diff: "-x\n+y"},
		{tool: "edit_file", kv: []any{"path", "../else/other.txt", "edits", one}, kind: permission.Write, outside: true, diff: "-package a\n+package b"},
		{tool: "edit_file", kv: []any{"path", ".env", "edits", one}, kind: permission.Write, sensitive: true, diff: "-package a\n+package b"},
		{tool: "edit_file", kv: []any{"path", ".git/config", "edits", one}, kind: permission.Write, forbidden: true, diff: "+package b"},
	} {
		a := parse(t, e, c.tool, c.kv...).Action
		if a.Tool != c.tool || a.Kind != c.kind || a.Outside != c.outside || (a.Sensitive != "") != c.sensitive || (a.Forbidden != "") != c.forbidden || len(a.Paths) != 1 || a.Title == "" || a.Dir != e.Root {
			t.Errorf("%s %v is %+v, want %+v", c.tool, c.kv, a, c)
		}
		if !strings.Contains(a.Diff, c.diff) || strings.Contains(a.Diff, "K=V") {
			t.Errorf("%s %v shows %q, want %q in it", c.tool, c.kv, a.Diff, c.diff)
		}
	}
}

func TestRun_privateFilesStayClosed(t *testing.T) {
	e := place(t)
	if err := os.Link(top(e)+"/data/fantail.db", e.Root+"/copy.txt"); err != nil {
		t.Fatal(err)
	}
	link(t, "../data", e.Root+"/data")
	link(t, "../data/fantail.db-shm", e.Root+"/shm")
	// The private directory inside the workspace, as when it is the home directory.
	put(t, e.Root+"/.local/share/fantail/x.db", "SECRET-INSIDE\n")
	e.Private = append(e.Private, e.Root+"/.local/share/fantail")
	for _, p := range []string{"copy.txt", "data/fantail.db", "shm", "../data/fantail.db-wal", ".local/share/fantail/x.db", "data/outputs/2.out"} {
		if says := refuses(t, e, "read_file", "path", p); strings.Contains(says, "SECRET") || !strings.Contains(says, "Fantail's own") {
			t.Errorf("read_file %s: %s", p, says)
		}
		if says := refuses(t, e, "grep", "pattern", "SECRET", "path", p); strings.Contains(says, "SECRET-") {
			t.Errorf("grep %s: %s", p, says)
		}
		refuses(t, e, "edit_file", "path", p, "edits", []map[string]string{{"old": "SECRET", "new": "x"}})
		refuses(t, e, "write_file", "path", p, "content", "x")
	}
	for _, rg := range []bool{true, false} {
		if !rg {
			e.Environ = []string{"PATH=", "HOME=" + e.home()}
		}
		if r := ok(t, e, "grep", "pattern", "SECRET"); strings.Contains(r.Text, "SECRET-") || !strings.Contains(r.Text, "no match") {
			t.Errorf("grep (ripgrep %v) found %s", rg, r.Text)
		}
		r := do(t, e, "grep", "pattern", "SECRET", "path", top(e))
		if strings.Contains(r.Text, "SECRET-") {
			t.Errorf("grep (ripgrep %v) outside found %s", rg, r.Text)
		}
	}
	for _, tool := range []string{"glob", "list_files"} {
		kv := []any{"path", top(e)}
		if tool == "glob" {
			kv = append(kv, "pattern", "**")
		} else {
			kv = append(kv, "depth", 10)
		}
		if r := ok(t, e, tool, kv...); strings.Contains(r.Text, "fantail.db") && !strings.Contains(r.Text, "-> ") || strings.Contains(r.Text, "copy.txt") || strings.Contains(r.Text, "config.toml") {
			t.Errorf("%s shows %s", tool, r.Text)
		}
	}
	if text(t, top(e)+"/data/fantail.db") != "SECRET-DB" {
		t.Error("the database changed")
	}
}

func TestRun_specialFilesDoNotHang(t *testing.T) {
	e := place(t)
	if err := syscall.Mkfifo(e.Root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(e.Root+"/.gitignore", 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	t.Chdir(e.Root)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "sock"}); err != nil {
		t.Fatal(err)
	}
	for p, says := range map[string]string{"pipe": "named pipe", "sock": "socket", "/dev/zero": "device", ".": "list_files", "/dev/null": "device"} {
		if got := refuses(t, e, "read_file", "path", p); !strings.Contains(got, says) {
			t.Errorf("read %s: %s", p, got)
		}
		if p != "." && !strings.HasPrefix(p, "/") {
			refuses(t, e, "edit_file", "path", p, "edits", []map[string]string{{"old": "a", "new": "b"}})
			refuses(t, e, "write_file", "path", p, "content", "x")
			refuses(t, e, "grep", "pattern", "x", "path", p)
		}
	}
	e.Environ = nil
	if r := ok(t, e, "grep", "pattern", "x"); !strings.Contains(r.Text, "no match") {
		t.Errorf("grep found %s", r.Text)
	}
	if r := ok(t, e, "list_files"); !strings.Contains(r.Text, "pipe  (not a file)") {
		t.Errorf("list: %s", r.Text)
	}
}

// A directory that turns into a link after it was judged leads nowhere.
func TestRun_pathsSwappedAfterTheyWereJudged(t *testing.T) {
	for _, to := range []string{"../else", ".git"} {
		e := place(t)
		put(t, e.Root+"/dir/other.txt", "mine\n")
		put(t, e.Root+"/.git/other.txt", "git\n")
		ok(t, e, "read_file", "path", "dir/other.txt")
		calls := []*Call{
			parse(t, e, "read_file", "path", "dir/other.txt"), parse(t, e, "write_file", "path", "dir/new.txt", "content", "x"), parse(t, e, "write_file", "path", "dir/other.txt", "content", "x"),
			parse(t, e, "edit_file", "path", "dir/other.txt", "edits", []map[string]string{{"old": "mine", "new": "x"}}), parse(t, e, "write_file", "path", "dir/a/b", "content", "x"),
			parse(t, e, "list_files", "path", "dir"), parse(t, e, "glob", "pattern", "dir/*"), parse(t, e, "grep", "pattern", "t", "path", "dir"), parse(t, e, "grep", "pattern", "t", "path", "dir/other.txt"),
		}
		if err := os.Rename(e.Root+"/dir", e.Root+"/was"); err != nil {
			t.Fatal(err)
		}
		link(t, to, e.Root+"/dir")
		for _, c := range calls {
			if r := c.Run(t.Context()); !r.Error {
				t.Errorf("%s worked through a link to %s: %s", c.Action.Title, to, r.Text)
			}
		}
		for _, p := range []string{top(e) + "/else", e.Root + "/.git"} {
			list, _ := os.ReadDir(p)
			if len(list) != 1 {
				t.Errorf("%s holds %v", p, list)
			}
		}
		if text(t, top(e)+"/else/other.txt") != "other\n" || text(t, e.Root+"/.git/other.txt") != "git\n" {
			t.Error("a file outside changed")
		}
	}
}

// A link and a directory that swap as fast as possible never let a read or write escape.
func TestRun_races(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a/f.txt", "inside\n")
	put(t, top(e)+"/else/f.txt", "OUTSIDE\n")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(e.Root+"/a", e.Root+"/b")
			_ = os.Symlink("../else", e.Root+"/a")
			_ = os.Remove(e.Root + "/a")
			_ = os.Rename(e.Root+"/b", e.Root+"/a")
		}
	}()
	s := New()
	for i := range long.Times(800, 3000) {
		c, err := s.Parse(e, "call", "read_file", args(t, "path", "a/f.txt"))
		if err == nil && !c.Action.Outside {
			if r := c.Run(t.Context()); strings.Contains(r.Text, "OUTSIDE") {
				t.Fatalf("read outside after %d tries", i)
			}
		}
		if i%10 > 0 { // each write waits for the disk
			continue
		}
		c, err = s.Parse(e, "call", "write_file", args(t, "path", fmt.Sprintf("a/new%d", i), "content", "x"))
		if err == nil && !c.Action.Outside {
			c.Run(t.Context())
		}
	}
	close(stop)
	<-ended
	list, _ := os.ReadDir(top(e) + "/else")
	if len(list) != 2 {
		t.Errorf("%d files stand outside, want 2", len(list))
	}
}
