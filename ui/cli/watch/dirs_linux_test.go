package watch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
)

// told is an event as the kernel tells it.
func told(wd int32, mask uint32, name string) []byte {
	var b bytes.Buffer
	padded := append([]byte(name), make([]byte, 16-len(name)%16)...)
	for _, v := range []any{wd, mask, uint32(0), uint32(len(padded)), padded} {
		_ = binary.Write(&b, binary.NativeEndian, v)
	}
	return b.Bytes()
}

// TestDirs_concerns: where only some names count others are not told, nor is what nobody watches; lost events are.
func TestDirs_concerns(t *testing.T) {
	root, all := t.TempDir(), t.TempDir()
	d, err := newDirs(func() map[string][]string { return map[string][]string{root: {"a"}, all: nil} })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(d.close(), d.free()); err != nil {
			t.Error(err)
		}
	}()
	var some, any int32
	for wd, names := range d.names {
		if names == nil {
			any = wd
		} else {
			some = wd
		}
	}
	for _, c := range []struct {
		events []byte
		is     bool
	}{
		{told(some, syscall.IN_CREATE, "other"), false},
		{told(some, syscall.IN_CREATE, "a"), true},
		{append(told(some, syscall.IN_CREATE, "other"), told(any, syscall.IN_CREATE, "x")...), true},
		{told(999, syscall.IN_CREATE, "a"), false},
		{told(-1, syscall.IN_Q_OVERFLOW, ""), true},
		{told(any, syscall.IN_IGNORED, ""), false},
		{told(any, syscall.IN_CREATE, "x"), false}, // it is gone
	} {
		if got := d.concerns(c.events); got != c.is {
			t.Errorf("%q: %v", c.events, got)
		}
	}
}
