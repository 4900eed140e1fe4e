package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A prompt that can't be recorded ends, and says why: a script waits for it.
func TestPrintEndsWhenTheDiskRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		command    func(t *testing.T, s *site) *exec.Cmd
	}{
		{"full", "the disk is full", func(t *testing.T, s *site) *exec.Cmd {
			data := s.dir + ".data"
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=2m"); err != nil {
				t.Skipf("SKIPPED, no small disk to fill: mount: %v", err)
			}
			t.Cleanup(func() {
				var err error // its host is to end, though the disk takes nothing
				if !comes(func() bool { err = syscall.Unmount(data, 0); return err == nil }, wait) {
					t.Errorf("unmount: %v", err)
				}
			})
			s.env = append(s.env, "XDG_DATA_HOME="+data)
			return s.command("-p", "run head -c 9000000 /dev/zero > "+filepath.Join(data, "ballast")+"; true then say done", "--yolo")
		}},
		{"limit", "the disk refused", func(_ *testing.T, s *site) *exec.Cmd {
			c := s.command()
			limited := exec.Command("/bin/sh", "-c", `ulimit -f $1; shift; exec "$@"`, "sh", "960", // of 512 bytes
				c.Path, "-p", "run seq 9000 then run seq 9000 then run seq 9000 then run seq 9000 then run seq 9000 then say done", "--yolo")
			limited.Dir, limited.Env = c.Dir, c.Env
			return limited
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			cmd := c.command(t, s)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != failed {
				t.Errorf("exit code %d", code)
			}
			if strings.Contains(out.String(), "done") || !strings.Contains(errs.String(), c.says) || strings.Contains(errs.String(), "goroutine ") {
				t.Errorf("output %q, errors %q", out.String(), errs.String())
			}
		})
	}
}
