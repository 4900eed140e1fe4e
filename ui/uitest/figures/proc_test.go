package figures

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cpu is the processor time of processes. Threads that have ended are not in
// it; a Go program keeps its threads.
func cpu(t testing.TB, pids ...int) (sum time.Duration) {
	t.Helper()
	for _, pid := range pids {
		sum += one(t, pid)
	}
	return sum
}

// one is the processor time of one process.
func one(t testing.TB, pid int) (sum time.Duration) {
	t.Helper()
	for _, task := range tasks(t, pid) {
		data, err := os.ReadFile(filepath.Join(task, "schedstat"))
		if err != nil {
			return ticks(t, pid)
		}
		ns, _, _ := strings.Cut(string(data), " ")
		n, err := strconv.ParseInt(ns, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}

// ticks is the same from a kernel without schedstat, in steps of 10 ms.
func ticks(t testing.TB, pid int) time.Duration {
	t.Helper()
	fields := strings.Fields(stat(t, pid))
	var sum int
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond
}

// stat is /proc/PID/stat behind the program's name.
func stat(t testing.TB, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(data[bytes.LastIndexByte(data, ')')+2:])
}

func tasks(t testing.TB, pid int) []string {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(all) == 0 {
		t.Fatalf("process %d has no tasks: %v", pid, err)
	}
	return all
}

// field is a number of a status file.
func field(path, name string) (int, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			return n, err == nil
		}
	}
	return 0, false
}

// wakeups is how often a thread of the process slept and was woken.
func wakeups(t testing.TB, pid int) int {
	t.Helper()
	sum := 0
	for _, task := range tasks(t, pid) {
		n, _ := field(filepath.Join(task, "status"), "voluntary_ctxt_switches")
		sum += n
	}
	return sum
}

// resident is the memory of the processes and all below them, in MB, and the
// part of it that is no file's. Of a page that several share each has its part.
func resident(t testing.TB, pids ...int) (all, own float64) {
	t.Helper()
	below := map[int][]int{}
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, p := range paths {
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
		if parent, ok := field(p, "PPid"); ok {
			below[parent] = append(below[parent], id)
		}
	}
	tree := slices.Clone(pids)
	for i := 0; i < len(tree); i++ {
		for _, id := range below[tree[i]] {
			if !slices.Contains(tree, id) {
				tree = append(tree, id)
			}
		}
		p := fmt.Sprintf("/proc/%d/smaps_rollup", tree[i])
		pss, _ := field(p, "Pss")
		anon, _ := field(p, "Pss_Anon")
		all, own = all+float64(pss)/1024, own+float64(anon)/1024
	}
	if all == 0 {
		t.Fatalf("processes %d have no memory", pids)
	}
	return all, own
}

// load is the machine's of the last minute.
func load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(data), " ")
	return one
}

// stolen is how long the machine's processors were somebody else's since it began, all together.
func stolen() time.Duration {
	data, _ := os.ReadFile("/proc/stat")
	all, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(all)
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(ticks) * (time.Second / 100)
}

func TestProc(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	pid := os.Getpid()
	was, switched := cpu(t, pid), wakeups(t, pid)
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
		_ = strings.Repeat("x", 1000)
	}
	pause(5 * time.Millisecond)
	if d := cpu(t, pid) - was; d < 5*time.Millisecond || d > 5*time.Second {
		t.Errorf("30 ms of work took %v of a processor", d)
	}
	if wakeups(t, pid) == switched {
		t.Error("a pause woke nothing")
	}
	if d := cpu(t, pid) - ticks(t, pid); d.Abs() > time.Second {
		t.Errorf("the kernel's two clocks differ by %v", d)
	}
	if all, own := resident(t, pid); all < 2 || own <= 0 || own > all {
		t.Errorf("resident %.1f MB, own %.1f MB", all, own)
	}
}
