package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
)

// TestKillsAtAnyMoment: whoever of screen and host is killed, and whenever, while three agents are at work: the terminal
// is right in time, there is one host, what was pushed is reported once, and nothing goes on that nobody knows of.
func TestKillsAtAnyMoment(t *testing.T) {
	t.Parallel()
	kills, seed := long.Times(2, 8), long.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := newSite(t).raced()
	mark := "MARK=" + filepath.Base(s.dir) + strconv.FormatUint(seed, 36) // of its commands
	var pushed []string
	c := open(t, s.command("--yolo", "--keep"))
	was := c.found
	c.until(t, home, ready)
	host := s.host(t)
	for n := range kills {
		for _, agent := range []string{"a", "b", "c"} {
			name := fmt.Sprint(agent, n)
			c.typed(t, "/push name="+name+" run touch "+name+"; "+mark+"; for i in $(seq 40); do echo line $i; sleep .02; done\r")
			c.until(t, "Queued "+name)
			pushed = append(pushed, name)
		}
		c.typed(t, "/run\r")
		for _, name := range pushed[len(pushed)-3:] {
			s.exists(t, name)
		}
		<-time.After(time.Duration(r.IntN(1000)) * time.Millisecond)
		if r.IntN(2) == 0 {
			if err := syscall.Kill(host, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			c.left(t, failed, was)
		} else {
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.left(t, -1, was)
			if now := s.host(t); now != host {
				t.Fatalf("the host was %d and is %d", host, now)
			}
		}
		c = open(t, s.command("--yolo", "--keep"))
		was = c.found
		c.until(t, home, ready)
		host = s.host(t)
	}
	// Each task has ended, and is reported once.
	reports := func() map[string]int {
		out, errs, code := s.run(t, "", "inbox", "--json")
		if code != ok {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		got := map[string]int{}
		for line := range strings.Lines(out) {
			var m struct {
				From string `json:"from"`
				Kind string `json:"kind"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			got[m.From]++
		}
		return got
	}
	holds(t, "all tasks are reported", func() bool { return len(reports()) >= len(pushed) })
	got := reports()
	for _, name := range pushed {
		if got[name] != 1 {
			t.Errorf("%s is reported %d times", name, got[name])
		}
	}
	if len(got) != len(pushed) {
		t.Errorf("%d tasks were pushed, and reported are %v", len(pushed), got)
	}
	if !comes(func() bool { return len(marked(mark)) == 0 }, wait) {
		t.Errorf("commands go on: %d", marked(mark))
	}
}

// marked are the processes whose command line holds a mark.
func marked(mark string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if words, err := os.ReadFile(path); err == nil && bytes.Contains(words, []byte(mark)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}
