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
	s := newSite(t)
	if out, errs, code := s.run(t, "", "send", "main", "hello"); code != ok {
		t.Fatal(out, errs)
	}
	for _, c := range []struct {
		flag                string
		begins, need, upper int // MiB: surely main begins, the program works, the end
		step                int
	}{
		{flag: "-v", begins: 1900, need: needAddresses >> 20, upper: 3000, step: 50},
		{flag: "-d", begins: 160, need: needData >> 20, upper: 400, step: 8},
	} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			for limit := c.step; limit <= c.upper; limit += c.step {
				for _, args := range [][]string{{"inbox"}, {"-p", "say hello"}} {
					program := s.command(args...)
					limited := exec.Command("/bin/sh", append([]string{"-c", `ulimit "$1" "$2"; shift 2; exec "$@"`, "sh", c.flag, fmt.Sprint(limit << 10)}, program.Args...)...)
					limited.Dir, limited.Env = program.Dir, program.Env
					out, _ := limited.CombinedOutput() // the code says it
					code, said := limited.ProcessState.ExitCode(), string(out)
					clear := strings.HasPrefix(said, "fantail: too little memory: ") && strings.Count(said, "\n") == 1 && strings.Contains(said, "ulimit "+c.flag)
					switch {
					case code == ok && strings.Contains(said, "hello"):
						if limit < c.need {
							t.Errorf("%d MiB: it works below what it says it needs", limit)
						}
					case code == failed && clear && limit < c.need:
					case limit < c.begins && code != ok: // the runtime
					default:
						t.Errorf("%d MiB, %v: exit code %d: %.600s", limit, args, code, said)
					}
				}
			}
		})
	}
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
