package tools

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fantail/tools/permission"
)

// TestAuto_ownPaths: a path that means something else to a command than to this program is judged as the command will
// see it, whatever is there for this program: here a descriptor leads to the database, and the host's /tmp to a secret.
func TestAuto_ownPaths(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	e := readable(t)
	db, err := os.Open(top(e) + "/data/fantail.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	data, err := os.Open(top(e) + "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	n, pid := int(db.Fd()), os.Getpid()
	put(t, e.Root+"/plain.pem", "x\n")
	put(t, e.Root+"/sub/pw/token", "x\n")
	elsewhere, err := os.MkdirTemp("/tmp", "fantail-own-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(elsewhere) })
	link(t, e.Root+"/plain.pem", elsewhere+"/out")
	link(t, "/dev/stderr", e.Root+"/err")
	link(t, fmt.Sprintf("/proc/self/fd/%d", n), e.Root+"/open")
	link(t, "/proc/self/cwd/plain.pem", e.Root+"/back")
	link(t, elsewhere+"/out", e.Root+"/loose")
	said := strings.NewReplacer("DB", fmt.Sprint(n), "PID", fmt.Sprint(pid), "TMP", elsewhere, "ROOT", e.Root, "DATA", fmt.Sprint(data.Fd()))
	free := []string{
		"echo x > /dev/stderr", "echo x >> /dev/stderr", "echo x >&2", "echo x | tee /dev/stderr", "tee /dev/stdout < main.go", "cat /dev/stdin", "cat < /dev/stdin", "cat - /dev/stdin < main.go", "echo x > /dev/stdout",
		"echo x > /dev/fd/DB", "cat /dev/fd/DB", "cat < /dev/fd/DB", "echo x > /proc/self/fd/DB", "cat /proc/self/fd/DB", "cat /proc/thread-self/fd/DB", "cat /proc/self/task/PID/fd/DB", "cat /proc/PID/fd/DB", "cat /proc/PID/task/PID/fd/DB",
		"cat /proc/$$/fd/DB", "echo x > /proc/$$/fd/2", "echo x > /proc/${BASHPID}/fd/2", "ls -l /proc/$PPID/fd", "ls /dev/fd", "ls -l /dev/fd/", "ls -l /proc/self/fd", "cat /dev/fd/*", "cat /proc/self/fd/*", "cat /proc/*/fd/DB", "wc -c /dev/fd/DB",
		"echo x > /dev/tty", "stty -a < /dev/tty", "cat /dev/tty", "ls /dev/pts", "echo x > /dev/pts/0", "cat /dev/pts/*", "ls /dev", "cat /dev/null", "head -c 4 /dev/urandom", "cat /dev/zero | head -c 1",
		"cat /proc/self/status", "cat /proc/PID/status", "cat /proc/thread-self/comm", "cat /proc/*/comm", "cat /proc/cpuinfo", "cat /proc/net/tcp", "readlink /proc/self/exe", "ls /proc/self/ns", "cat /proc/self/cwd/main.go", "ls /proc/self/cwd", "cat /proc/$$/cwd/main.go", "cat /proc/self/rootROOT/main.go",
		"echo x > err", "cat open", "cat op*", "echo x > open", "./run 2> /dev/fd/1", "exec 3>&1; echo x > /dev/fd/3", "diff <(ls) /dev/stdin", "dd of=/dev/stderr if=main.go",
		"echo x > TMP/out", "cat TMP/out", "cat TMP/o*", "cat TMP/*", "cat loose", "ls -R /tmp", "find /tmp -name x", "ls /tmp/*", "cp main.go /tmp/", "cat /var/tmp/x", "mktemp -p /tmp", "cat /dev/shm/x", "unzip /tmp/x.zip", "cat /tmp/../TMP/out",
	}
	named := []string{
		"cat /proc/self/cwd/plain.pem", "cat /proc/self/cwd/pl*", "cat /proc/thread-self/cwd/plain.pem", "cat /proc/PID/cwd/plain.pem", "cat /proc/$$/cwd/plain.pem", "cat /proc/self/task/PID/cwd/plain.pem", "cat back", "cat ba*", "cd sub && cat /proc/self/cwd/pw/token",
		"cat /proc/self/rootROOT/plain.pem", "cat /proc/self/rootROOT/pl*", "cat /proc/self/root/proc/self/rootROOT/plain.pem", "cat /proc/PID/rootROOT/plain.pem", "cat /dev/fd/../cwd/plain.pem", "cat /proc/self/fd/../cwd/plain.pem", "cat /proc/self/fd/../rootROOT/plain.pem",
		"cat /dev/fd/DATA/fantail.db", "cat /proc/self/fd/DATA/fantail.db", "cat /proc/*/cwd/pl*", "cat /proc/*/root/x", "cat /proc/*/*/pl*", "cat /proc/[s]elf/cwd/pl*", "cat /proc/self/fd/*/fantail.db",
		"cat /proc/self/environ", "cat /proc/$$/environ", "cat /proc/PID/environ", "cat /proc/*/environ", "cat /proc/self/mem", "cat /tmp/.env", "cat /tmp/id_rsa", "cat /tmp/..ROOT/plain.pem", "cat ROOT/pl*",
	}
	g := reader(t, permission.Auto)
	decide := func(command string, boxed bool) permission.Verdict {
		a := parse(t, e, "bash", "command", said.Replace(command)).Action
		a.Boxed = boxed
		return g.Decide(a)
	}
	for _, command := range free {
		if v := decide(command, true); v.Decision != permission.Allow {
			t.Errorf("%s: %+v", said.Replace(command), v)
		}
		if v := decide(command, false); v.Secret != "" && !strings.Contains(command, "TMP") && !strings.Contains(command, "loose") && !strings.Contains(command, "PID") && !strings.Contains(command, "/tmp") {
			t.Errorf("outside a sandbox %s: %+v", said.Replace(command), v)
		}
	}
	for _, command := range named {
		for _, boxed := range []bool{true, false} {
			if v := decide(command, boxed); v.Decision != permission.AskHuman || v.Secret == "" {
				t.Errorf("boxed %v: %s: %+v", boxed, said.Replace(command), v)
			}
		}
	}
	for _, command := range []string{"cat TMP/out", "cat TMP/o*", "cat loose", "cat /proc/1/cwd/x", "cat /proc/PID/cwd/main.go"} {
		if v := decide(command, false); v.Secret == "" {
			t.Errorf("outside a sandbox %s leads where the user's files are: %+v", said.Replace(command), v)
		}
	}
	t.Logf("%d rows", len(free)+len(named))
}

// TestRules_standardDescriptors: output into a standard descriptor counts as >&2, for rules too.
func TestRules_standardDescriptors(t *testing.T) {
	e := readable(t)
	g := reader(t, permission.Ask)
	if err := g.Allow("bash(go test *)"); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]permission.Decision{
		"go test ./... > /dev/stderr": permission.Allow, "go test ./... 2> /dev/stdout": permission.Allow, "go test ./... >> /dev/fd/2": permission.Allow, "go test ./... >/proc/self/fd/1": permission.Allow, "go test ./... >&2": permission.Allow, "ls > /dev/stderr": permission.Allow,
		"go test ./... > /dev/fd/3": permission.AskHuman, "go test ./... > /dev/stderr/x": permission.AskHuman, "go test ./... > /dev/../x": permission.AskHuman, "go test ./... > /proc/self/cwd/x": permission.AskHuman,
	} {
		if v := g.Decide(parse(t, e, "bash", "command", command).Action); v.Decision != want {
			t.Errorf("%s: %+v", command, v)
		}
	}
}
