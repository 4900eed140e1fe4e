package agentstest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"fantail/tools/proc"
)

// Lives are functions, by name, that the test's program runs as a child until it is killed.
type Lives map[string]func(t *testing.T, dir, argument string)

// lifeEnv makes the program run one of them: "LIFE\nDIRECTORY\nARGUMENT".
const lifeEnv = "FANTAIL_TEST_LIFE"

// Live runs such a function, for TestMain. It returns false if this process is no child.
func (l Lives) Live() bool {
	parts := strings.SplitN(os.Getenv(lifeEnv), "\n", 3)
	if len(parts) < 3 {
		return false
	}
	tests := []testing.InternalTest{{Name: parts[0], F: func(t *testing.T) { l[parts[0]](t, parts[1], parts[2]) }}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
	return true
}

// Life returns the variable that makes the test's own program such a child.
func Life(name, dir string, argument any) string {
	return fmt.Sprintf("%s=%s\n%s\n%v", lifeEnv, name, dir, argument)
}

// Lived runs one life in a child and calls heard with each line of its output. heard returns true
// to kill the child. Lived returns once the child is gone, and reports whether it was killed, by us
// or by itself.
func Lived(t *testing.T, life, dir string, argument any, heard func(line string) bool) bool {
	t.Helper()
	exe, err := os.Executable()
	Check(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(proc.Own(os.Environ(), nil), Life(life, dir, argument))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	Check(t, err)
	Check(t, cmd.Start())
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			break // a line without an end does not count
		}
		if heard(strings.TrimSuffix(line, "\n")) {
			Check(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // how it ended is read next
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}
