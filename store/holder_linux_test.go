package store

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestHolder: which other process has a database open is known, whether this one has it
// open too or not; that it has is not asked for.
func TestHolder(t *testing.T) {
	if path := os.Getenv("HOLD_DATABASE"); path != "" {
		db := reopen(t, path)
		do(t, try(db, "held", nil)) // so that the file is read
		_, _ = os.Stdout.WriteString("open\n")
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the other is through
		return
	}
	path := filepath.Join(t.TempDir(), "fantail.db")
	closed(t, reopen(t, path))
	if pid := holder(path); pid != "" {
		t.Fatalf("process %s has what nobody has open", pid)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestHolder$")
	child.Env = append(os.Environ(), "HOLD_DATABASE="+path)
	in, err := child.StdinPipe()
	do(t, err)
	out, err := child.StdoutPipe()
	do(t, err)
	do(t, child.Start())
	defer func() {
		_ = in.Close()
		_ = child.Wait()
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	want := strconv.Itoa(child.Process.Pid)
	if pid := holder(path); pid != want {
		t.Errorf("process %q has it open, want %s", pid, want)
	}
	db := reopen(t, path)
	if pid := holder(path); pid != want {
		t.Errorf("with this one beside it process %q has it open, want %s", pid, want)
	}
	do(t, try(db, "beside", nil))
	closed(t, db)
}
