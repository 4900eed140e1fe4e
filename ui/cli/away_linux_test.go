package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lingers has the site's hosts stay that long when nobody is there and nothing goes on.
func (s *site) lingers(t testing.TB, d string) {
	t.Helper()
	config := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte("host_linger = \""+d+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A reminder fires in a host that no screen is attached to, which it keeps; the next screen is told, and the next turn
// begins with it.
//
// Spec: O-4, O-40.
func TestReminderWithoutAScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.lingers(t, "0s")
	one := open(t, s.command())
	one.until(t, home, ready)
	one.typed(t, "/remind 3h turn it over\r")
	one.until(t, "Reminder reminder-1: in 3h, due")
	one.typed(t, "/remind 20s the oven\r")
	one.until(t, "Reminder reminder-2: in 20s, due", "⏲ 2")
	host := s.host(t)
	s.closes(t, one)
	if out, _, _ := s.run(t, "", "inbox"); strings.Contains(out, "the oven") {
		t.Fatalf("it came before the screen had gone: %s", out)
	}
	holds(t, "the reminder fires", func() bool {
		out, _, _ := s.run(t, "", "inbox")
		return strings.Contains(out, "the oven")
	})
	if now := s.host(t); now != host {
		t.Errorf("host %d made it, %d fired it", host, now)
	}
	two := open(t, s.command())
	two.until(t, "While you were away", "reminder    the oven", "1 pending", "⏲ 1")
	two.typed(t, "say hello\r")
	two.until(t, "from reminder-2", "A message came:", "hello", "!pending")
}

// With nobody there a host stays for what is due within a day, and for nothing that is further away.
func TestHostStaysForADay(t *testing.T) {
	t.Parallel()
	schedules := func(when string) (*site, string) {
		s := newSite(t)
		s.lingers(t, "0s")
		c := open(t, s.command())
		c.until(t, home, ready)
		c.typed(t, "/remind "+when+" tea\r")
		c.until(t, "Reminder reminder-1: in ", "⏲ 1")
		host := s.host(t)
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		c.exited(t)
		return s, strconv.Itoa(host)
	}
	near, stays := schedules("23h")
	far, ends := schedules("25h")
	if outlives(ends) {
		t.Error("a host stays for what is due in 25 hours")
	}
	if out, errs, code := far.run(t, "", "schedule"); code != ok || !strings.Contains(out, "reminder-1") {
		t.Errorf("what is due in 25 hours is gone with the host: %s%s", out, errs)
	}
	if comes(func() bool { return !alive(stays) }, time.Second) {
		t.Error("a host ended that something keeps which is due in 23 hours")
	}
	if out, errs, code := near.run(t, "", "schedule", "rm", "reminder-1"); code != ok {
		t.Fatal(out, errs)
	}
}

// wakeups is how often a thread of the process slept and was woken.
func wakeups(t testing.TB, pid int) (sum int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("process %d has no threads: %v", pid, err)
	}
	for _, task := range tasks {
		status, _ := os.ReadFile(task) // of a thread that ended meanwhile there is none
		if _, rest, found := strings.Cut(string(status), "\nvoluntary_ctxt_switches:"); found {
			n := 0
			_, _ = fmt.Sscan(rest, &n)
			sum += n
		}
	}
	return sum
}

// BenchmarkScheduledHost measures what a host with nobody there does while ten schedules wait, beside one that has none:
// how often threads of it wake up in six seconds, the least of so many times six seconds, for the runtime gives memory
// back when it likes.
func BenchmarkScheduledHost(b *testing.B) {
	const within, settled = 6 * time.Second, 5 * time.Second
	var hosts []int
	for _, n := range []int{0, 10} {
		s := newSite(b)
		c := open(b, s.command())
		c.until(b, home, ready)
		for i := range n {
			c.typed(b, fmt.Sprintf("/schedule every %dh look at log %d\r", 2+i, i))
			c.until(b, fmt.Sprintf("⏲ %d", i+1))
		}
		hosts = append(hosts, s.host(b))
		_ = c.cmd.Process.Signal(syscall.SIGHUP)
		c.exited(b)
	}
	<-time.NewTimer(settled).C
	woken := make([][]int, len(hosts))
	for range max(b.N, 5) {
		before := make([]int, len(hosts))
		for i, host := range hosts {
			before[i] = wakeups(b, host)
		}
		<-time.NewTimer(within).C
		for i, host := range hosts {
			woken[i] = append(woken[i], wakeups(b, host)-before[i])
		}
	}
	b.Logf("without schedules %d, with ten %d", woken[0], woken[1])
	b.ReportMetric(float64(slices.Min(woken[0])), "none-wakeups")
	b.ReportMetric(float64(slices.Min(woken[1])), "ten-wakeups")
	b.ReportMetric(0, "ns/op")
}
