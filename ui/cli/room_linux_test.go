package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Under each limit of memory the program works, or says in one line what it needs.
// Where even the language's runtime can't begin, it is the runtime that says so.
func TestTooLittleMemory(t *testing.T) {
	t.Parallel()
	s := newSite(t).released(t)
	if out, errs, code := s.run(t, "", "send", "main", "hello"); code != ok {
		t.Fatal(out, errs)
	}
	const addresses, data = needAddresses >> 20, needData >> 20
	for _, c := range []struct {
		flag         string
		begins, need int   // MiB: surely main begins, the program works
		limits       []int // MiB: far below, and around each edge
	}{
		{"-v", 1900, addresses, []int{100, 1200, 1700, 1850, 1900, addresses - 1, addresses, addresses + 50, 3000}},
		{"-d", 160, data, []int{8, 80, 120, 160, data - 1, data, data + 8, 400}},
	} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			for _, limit := range c.limits {
				for _, args := range [][]string{{"inbox"}, {"-p", "say hello"}} {
					out, _ := s.limited(c.flag, limit, args...).CombinedOutput() // what it says shows how it ended
					said := string(out)
					works := strings.Contains(said, "hello")
					clear := strings.HasPrefix(said, "fantail: too little memory: ") && strings.Count(said, "\n") == 1 && strings.Contains(said, "ulimit "+c.flag)
					switch {
					case limit >= c.need && works:
					case limit < c.need && clear:
					case limit < c.begins && !works: // the runtime
					default:
						t.Errorf("%d MiB, %v: %.600s", limit, args, said)
					}
				}
			}
		})
	}
}

// limited is the program under a limit of the shell's ulimit, in MiB.
func (s *site) limited(flag string, limit int, args ...string) *exec.Cmd {
	program := s.command(args...)
	c := exec.Command("/bin/sh", append([]string{"-c", `ulimit "$1" "$2"; shift 2; exec "$@"`, "sh", flag, fmt.Sprint(limit << 10)}, program.Args...)...)
	c.Dir, c.Env = program.Dir, program.Env
	return c
}

func TestGroupLimit(t *testing.T) {
	root := t.TempDir() + "/"
	for path, text := range map[string]string{
		"proc/self/cgroup": "1:name=x:/y\n0::/user.slice/a b\n", "sys/fs/cgroup/user.slice/a b/memory.max": "33554432\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(root+path), 0o700), os.WriteFile(root+path, []byte(text), 0o600))
	}
	file := root + "sys/fs/cgroup/user.slice/a b/memory.max"
	if path, n := groupLimit(root); path != file || n != 32<<20 {
		t.Errorf("%s: %d", path, n)
	}
	must(t, os.WriteFile(file, []byte("max\n"), 0o600))
	if _, n := groupLimit(root); n != math.MaxUint64 {
		t.Errorf("without a limit: %d", n)
	}
	must(t, os.Remove(root+"proc/self/cgroup"))
	if _, n := groupLimit(root); n != math.MaxUint64 {
		t.Errorf("without groups: %d", n)
	}
}

func BenchmarkNeedRoom(b *testing.B) {
	for b.Loop() {
		if err := NeedRoom(); err != nil {
			b.Fatal(err)
		}
	}
}
