package attach

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// comer is the variable that makes the test's program a process that connects: its value says what it does then.
const comer = "FANTAIL_TEST_COMER"

// TestComer is no test but a process that connects to the socket in its arguments, and may leave the connection to
// another one.
func TestComer(t *testing.T) {
	how := os.Getenv(comer)
	if how == "" {
		t.Skip("only TestPeerOf starts it")
	}
	if how == "below" { // connects by a process of its own, which outlives it
		c := exec.Command(os.Args[0], "-test.run=TestComer$")
		c.Env, c.Stdin, c.Stdout = append(os.Environ(), comer+"=stays"), os.Stdin, os.Stdout
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: os.Getenv(comer + "_SOCKET"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if how == "leaves" {
		f, err := conn.File()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("cat")
		c.Stdin, c.ExtraFiles = os.Stdin, []*os.File{f}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = os.Stdout.WriteString("connected\n")
	if how == "stays" {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
	}
}

// TestPeerOf holds that a process that connected is identified by more than its number: one that has ended is refused,
// even if another goes on with its connection, and one whose parents ended still counts as a descendant of the process
// that adopts orphans.
func TestPeerOf(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("the system does not let this process adopt: ", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, how   string
		ends, reaps bool // before it is identified
		want        error
	}{
		{name: "lives", how: "stays"},
		{name: "lives below one that ended", how: "below", ends: true, reaps: true},
		{name: "ended", how: "goes", ends: true, reaps: true, want: ErrGone},
		{name: "ended, and nobody asked how", how: "goes", ends: true, want: ErrGone},
		{name: "ended and left its connection", how: "leaves", ends: true, reaps: true, want: ErrGone},
		{name: "left its connection, and nobody asked how", how: "leaves", ends: true, want: ErrGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=TestComer$")
			cmd.Env = append(os.Environ(), comer+"="+c.how, comer+"_SOCKET="+path)
			in, hold, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close() // its waiting child ends then
			out, say, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd.Stdin, cmd.Stdout = in, say
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			say.Close()
			if err := out.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			for said := bufio.NewReader(out); ; {
				line, err := said.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if line == "connected\n" {
					break
				}
			}
			if c.ends {
				flags := unix.WEXITED
				if !c.reaps {
					flags |= unix.WNOWAIT
				}
				if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, flags, nil); err != nil {
					t.Fatal(err)
				}
			}
			if !c.reaps {
				defer func() { _ = hold.Close(); _ = cmd.Wait() }()
			}
			conn, err := l.AcceptUnix()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			p, err := PeerOf(conn)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if c.want == nil && (!slices.Contains(p.Above, os.Getpid()) || p.UID != os.Geteuid()) {
				t.Errorf("%+v is none of process %d", p, os.Getpid())
			}
		})
	}
}
