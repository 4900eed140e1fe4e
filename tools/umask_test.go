package tools

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"fantail/tools/proc"
)

// Files of commands and tools get the permissions that they would have in the shell where the work was given, whatever
// this program's umask is.
func TestUmask_ofCommandsAndFiles(t *testing.T) {
	for _, bits := range []int{0, 0o002, 0o027, 0o077} {
		for _, recorded := range []bool{false, true} {
			e := place(t)
			e.Umask = proc.UmaskOf(bits)
			if recorded {
				e.Started = func(context.Context, string, string, proc.Group) error { return nil }
			}
			r := ok(t, e, "bash", "command", "umask; echo $SHLVL $#; mkdir made; : > made/file; mkdir -m 2775 shared")
			if want := fmt.Sprintf("%04o\n1 0\n", bits); r.Text != want {
				t.Errorf("umask %04o: the command says %q, want %q", bits, r.Text, want)
			}
			ok(t, e, "write_file", "path", "a/b/new.txt", "content", "x")
			ok(t, e, "write_file", "path", "shared/below/new.txt", "content", "x")
			file, dir := 0o666&^fs.FileMode(bits), 0o777&^fs.FileMode(bits)|fs.ModeDir
			passed := fs.ModeSetgid
			if runtime.GOOS == "darwin" { // there every directory passes its group on, and none the bit
				passed = 0
			}
			for name, want := range map[string]fs.FileMode{
				"made": dir, "made/file": file, "a": dir, "a/b": dir, "a/b/new.txt": file,
				"shared/below": dir | passed, "shared/below/new.txt": file,
			} {
				fi, err := os.Stat(filepath.Join(e.Root, name))
				if err != nil {
					t.Fatal(err)
				}
				if fi.Mode() != want {
					t.Errorf("umask %04o: %s has %v, want %v", bits, name, fi.Mode(), want)
				}
			}
			// An existing file keeps its permissions.
			name := filepath.Join(e.Root, "a/b/new.txt")
			if err := os.Chmod(name, 0o640); err != nil {
				t.Fatal(err)
			}
			ok(t, e, "write_file", "path", "a/b/new.txt", "content", "y")
			if fi, err := os.Stat(name); err != nil || fi.Mode() != 0o640 {
				t.Errorf("umask %04o: a file of mode 0640 was written: %v, %v", bits, fi.Mode(), err)
			}
		}
	}
}

// Without a recorded umask the program's own applies, and no shell is added.
func TestUmask_unknown(t *testing.T) {
	own := proc.OwnUmask()
	e := place(t)
	for _, bits := range []int{-1, 0o1000} {
		e.Umask = proc.UmaskOf(bits)
		if r := ok(t, e, "bash", "command", "umask"); r.Text != fmt.Sprintf("%04o\n", own) {
			t.Errorf("%o: the command says %q, want %04o", bits, r.Text, own)
		}
	}
}
