package sqlite_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"fantail/store"
	"fantail/store/sqlite"
)

func opened(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path, store.Options{})
	do(t, err)
	return db
}

// noted writes, so that the file is read and locked.
func noted(db *store.DB) error {
	return db.Write(context.Background(), "note", func(tx *store.Tx) error { return tx.SetSetting("x", "y") })
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHolder: finds the other process that has a database open, whether this one has it open too or not.
func TestHolder(t *testing.T) {
	if path := os.Getenv("HOLD_DATABASE"); path != "" {
		db := opened(t, path)
		do(t, noted(db))
		_, _ = os.Stdout.WriteString("open\n")
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the other is through
		do(t, db.Close())
		return
	}
	path := filepath.Join(t.TempDir(), "fantail.db")
	do(t, opened(t, path).Close())
	if pid := sqlite.Holder(path); pid != "" {
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
	if pid := sqlite.Holder(path); pid != want {
		t.Errorf("process %q has it open, want %s", pid, want)
	}
	db := opened(t, path)
	if pid := sqlite.Holder(path); pid != want {
		t.Errorf("with this one beside it process %q has it open, want %s", pid, want)
	}
	do(t, noted(db))
	do(t, db.Close())
}
