package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLockIsHeldByOne(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)
	l, err := Lock(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lock(dir, now)
	var held *HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || !held.Since.Equal(now) {
		t.Fatalf("a second lock: %v", err)
	}
	if i, err := os.Stat(filepath.Join(dir, "host.lock")); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the lock's file: %v, %v", i, err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	// A leftover file does not block anyone, whatever it contains.
	if err := os.WriteFile(filepath.Join(dir, "host.lock"), []byte("nonsense that is longer than what a holder writes\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err = Lock(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if _, err = Lock(dir, now); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("over a stale file: %v", err)
	}
}

func TestHeldErrorSaysWhatIsKnown(t *testing.T) {
	since := time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		e    HeldError
		want string
	}{
		{HeldError{PID: 12, Since: since}, "process 12, since " + since.Local().Format("2006-01-02 15:04:05")},
		{HeldError{}, "another process"},
	} {
		if got := c.e.Error(); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q in it", got, c.want)
		}
	}
}

func TestLockNamesTheFileItCannotWrite(t *testing.T) {
	_, err := Lock(filepath.Join(t.TempDir(), "missing"), time.Now())
	if err == nil || !strings.Contains(err.Error(), "host.lock") {
		t.Errorf("error %v", err)
	}
}

// A database of an older schema is not changed while its host runs, and no host
// starts while it is.
func TestOutdated_leavesARunningHostAlone(t *testing.T) {
	dir := t.TempDir()
	host, err := Lock(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	upgrade, done := Outdated(dir, time.Now())
	err = upgrade()
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), "end it and start this one") {
		t.Errorf("beside a host: %v", err)
	}
	done()
	if err := host.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := upgrade(); err != nil {
		t.Errorf("without a host: %v", err)
	}
	if _, err := Lock(dir, time.Now()); err == nil {
		t.Error("a host starts meanwhile")
	}
	done()
	host, err = Lock(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Unlock(); err != nil {
		t.Error(err)
	}
}
