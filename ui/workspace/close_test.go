package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestClose holds that a watch ends without a report, whatever happened to the directories that it watched.
func TestClose(t *testing.T) {
	type watches interface {
		Serve(start func(name string, f func()), tell func())
		Close() error
	}
	for name, open := range map[string]func(root string) (watches, error){
		"a directory": func(root string) (watches, error) { return NewWatch(root, ".agents") },
		"directories": func(root string) (watches, error) {
			return NewDirs(root, func(string) bool { return true })
		},
	} {
		for what, becomes := range map[string]func(root string) error{
			"nothing happened": func(string) error { return nil },
			"it was deleted":   os.RemoveAll,
			"it was moved":     func(root string) error { return os.Rename(root, root+"-elsewhere") },
			"it was replaced": func(root string) error {
				if err := os.RemoveAll(root); err != nil {
					return err
				}
				return os.Mkdir(root, 0o700)
			},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "root")
				if err := os.MkdirAll(filepath.Join(root, ".agents"), 0o700); err != nil {
					t.Fatal(err)
				}
				w, err := open(root)
				if err != nil {
					t.Fatal(err)
				}
				w.Serve(func(_ string, f func()) { go f() }, func() {})
				if err := becomes(root); err != nil {
					t.Fatal(err)
				}
				closed := make(chan error, 1)
				go func() { closed <- w.Close() }()
				late := time.NewTimer(time.Minute)
				defer late.Stop()
				select {
				case err := <-closed:
					if err != nil {
						t.Error(err)
					}
				case <-late.C:
					t.Error("it does not end")
				}
			})
		}
	}
}
