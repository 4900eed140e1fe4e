package inbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/store"
)

// When the disk is full, the deposit that does not fit returns an error, all earlier ones can be read, and deposits
// work again once there is space, without a restart. (Package store has the same test for a file that may not grow, in
// case this one is skipped.)
func TestDeposit_whenTheDiskIsFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("SKIPPED, no small disk to fill: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 700<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("start", func(t *testing.T) { startsOnFull(t, dir) })
	if err := os.Remove(filepath.Join(dir, "start.db")); err != nil {
		t.Fatal(err)
	}
	t.Run("deposit", func(t *testing.T) { fill(t, dir, ballast) }) // ends, and closes the file, before the unmount
}

func fill(t *testing.T, dir, ballast string) {
	w := at(t, filepath.Join(dir, "fantail.db"))
	body := strings.Repeat("x", 20<<10)
	var ids []int64
	var full error
	for full == nil && len(ids) < 1000 {
		id, err := w.box.Deposit(context.Background(), Message{Recipient: w.main, Body: fmt.Sprint(len(ids), body), Key: fmt.Sprint(len(ids))})
		if full = err; err == nil {
			ids = append(ids, id)
		}
	}
	if !errors.Is(full, store.ErrFull) || !strings.Contains(full.Error(), "free some space") || len(ids) < 5 {
		t.Fatalf("after %d deposits: %v", len(ids), full)
	}
	for range 3 { // the error persists; a smaller one may still fit into existing pages
		if _, err := w.box.Deposit(context.Background(), Message{Recipient: w.main, Body: body + body}); !errors.Is(err, store.ErrFull) {
			t.Errorf("a full disk took a message: %v", err)
		}
	}
	kept := func(want int) {
		t.Helper()
		ms, err := w.box.List(context.Background(), Query{Recipient: w.main})
		if err != nil || len(ms) != want {
			t.Fatalf("%d messages, %v; want %d", len(ms), err, want)
		}
		for i, m := range ms[:len(ids)] {
			if m.ID != ids[i] || m.Body != fmt.Sprint(i, body) {
				t.Errorf("message %d is spoilt", m.ID)
			}
		}
		if n, err := w.box.Count(context.Background(), w.main); err != nil || n.Pending != want {
			t.Errorf("count %+v, %v", n, err)
		}
	}
	kept(len(ids))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 2 { // with the key of the failed one: stored once
		if _, err := w.box.Deposit(context.Background(), Message{Recipient: w.main, Body: fmt.Sprint(len(ids), body), Key: fmt.Sprint(len(ids))}); err != nil {
			t.Fatalf("with space again: %v", err)
		}
	}
	kept(len(ids) + 1)
	ms, _ := w.take(Query{})
	if len(ms) != len(ids)+1 {
		t.Errorf("took %d", len(ms))
	}
	w.sound()
}

// startsOnFull: opening a database without any space is an error, and the file is unchanged.
func startsOnFull(t *testing.T, dir string) {
	path, ballast := filepath.Join(dir, "start.db"), filepath.Join(dir, "more")
	open := func() error {
		db, err := store.Open(context.Background(), path, store.Options{})
		if err != nil {
			return err
		}
		return db.Close()
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := open(); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("opened on a full disk: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file changed: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Errorf("with space again: %v", err)
	}
}
