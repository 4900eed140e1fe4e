package cli

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// What the program needs, in MiB.
const (
	needAddresses = 2560
	needData      = 256
)

// Under each limit of memory the program works, or says in one line what it needs.
// Where even the language's runtime can't begin, it is the runtime that says so.
func TestTooLittleMemory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, errs, code := s.run(t, "", "send", "main", "hello"); code != ok {
		t.Fatal(out, errs)
	}
	for _, c := range []struct {
		flag         string
		begins, need int   // MiB: surely main begins, the program works
		limits       []int // MiB: far below, and around each edge
	}{
		{"-v", 1900, needAddresses, []int{100, 1200, 1700, 1850, 1900, 2100, needAddresses - 1, needAddresses, needAddresses + 50, 3500}},
		{"-d", 160, needData, []int{8, 80, 120, 160, needData - 1, needData, needData + 8, 400}},
	} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			for _, limit := range c.limits {
				for _, args := range [][]string{{"show", "1"}, {"-p", "say hello"}} { // a living host has the memory for inbox
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
