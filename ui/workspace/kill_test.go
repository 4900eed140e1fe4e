package workspace

import (
	"bufio"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holding is the variable that makes the test's program a host: its value says what that does on SIGTERM.
const holding = "FANTAIL_TEST_HOLDING"

// TestHolding is no test but a process that has the workspace in its arguments.
func TestHolding(t *testing.T) {
	how := os.Getenv(holding)
	if how == "" {
		t.Skip("only TestKill starts it")
	}
	if how == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	role := serving
	if how == "alone" {
		role = "alone"
	}
	if _, err := lock(os.Getenv(holding+"_DIR"), time.Now(), role); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("holds\n")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// TestKill holds that a host that does not answer is ended, by force if need be, and no other process: not one that
// shows the workspace on a terminal of its own, nor one that only has the same number.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		name, how string
		stopped   bool
		changes   [2]string // of the note
		did       string
		refused   string
	}{
		{name: "stopped", stopped: true, did: "did not answer, and ended when it was told to by a signal"},
		{name: "does not answer", did: "ended when it was told to by a signal"},
		{name: "deaf", how: "deaf", did: ") did not answer or obey SIGTERM and was killed; recorded work is on disk"},
		{name: "deaf and stopped", how: "deaf", stopped: true, did: ") did not answer or obey SIGTERM and was killed; recorded work is on disk"},
		{name: "on a terminal", how: "alone", refused: "it can't be ended from here; end it where it runs"},
		{name: "another run of that number", changes: [2]string{"started=", "started=1"}, refused: "another process has that number now"},
		{name: "of another boot", changes: [2]string{"boot=", "boot=0"}, refused: "another process has that number now"},
		{name: "on another machine", changes: [2]string{"machine=", "machine=far-away-"}, refused: "on the machine far-away-"},
		{name: "in a container", changes: [2]string{"pids=", "pids=other-"}, refused: "in another container"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run=TestHolding$")
			cmd.Env = append(os.Environ(), holding+"="+cmp.Or(c.how, "hears"), holding+"_DIR="+dir)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			gone := make(chan struct{})
			go func() { _ = cmd.Wait(); close(gone) }()
			defer func() {
				_ = in.Close()
				_ = cmd.Process.Kill()
				<-gone
			}()
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "holds\n" {
				t.Fatal(line, err)
			}
			note := filepath.Join(dir, hostLock)
			text, err := os.ReadFile(note)
			if err == nil && c.changes[0] != "" {
				err = os.WriteFile(note, []byte(strings.Replace(string(text), c.changes[0], c.changes[1], 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.stopped {
				if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			did, err := Kill(t.Context(), dir)
			if c.refused != "" {
				var held *HeldError
				if !errors.As(err, &held) || !strings.Contains(err.Error(), c.refused) || Holder(dir) == nil {
					t.Errorf("%q, %v; it is held by %v", did, err, Holder(dir))
				}
				return
			}
			if err != nil || !strings.Contains(did, c.did) || Holder(dir) != nil {
				t.Errorf("%q, %v; it is held by %v", did, err, Holder(dir))
			}
		})
	}
	if did, err := Kill(t.Context(), t.TempDir()); err != nil || did != "the host had just ended" {
		t.Errorf("where nobody is: %q, %v", did, err)
	}
}
