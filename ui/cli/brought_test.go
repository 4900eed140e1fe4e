package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/tools/proc"
	"fantail/tools/secret"
	"fantail/ui/cli"
)

func TestBrought(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"":      "",
		"A":     "A of this shell is used from now on",
		"A B C": "A, B and C of this shell are used from now on",
	} {
		if got := cli.Brought(strings.Fields(names)); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	keys := secret.New([]string{"WORK_LLM"}, func(string) string { return workKey })
	env := []string{"PATH=/bin", "WORK_LLM=" + workKey, "COPY=" + workKey, "MY_TOKEN=x", "SSH_AUTH_SOCK=/s"}
	for _, c := range []struct {
		umask, own int
		want       proc.Umask
	}{{0o22, 0o22, proc.Umask{}}, {0o77, 0o22, proc.UmaskOf(0o77)}, {-1, 0o22, proc.Umask{}}} {
		e := cli.Commands(env, c.umask, c.own, keys)
		if !slices.Equal(e.Vars, []string{"PATH=/bin", "SSH_AUTH_SOCK=/s"}) || e.Umask != c.want {
			t.Errorf("umask %o beside %o: %+v", c.umask, c.own, e)
		}
	}
}

// in is the program in a shell with that umask and those variables more.
func (s *site) in(umask string, env []string, args ...string) *exec.Cmd {
	c := s.command(args...)
	c.Args = append([]string{"sh", "-c", "umask " + umask + `; exec "$@"`, "sh", c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
	c.Env = append(slices.Clone(s.env), env...)
	return c
}

// Two screens of one host: each one's commands run in the environment of its shell. A key that the second brings is used
// from then on and said so, and nothing keeps or shows it, on the first screen either.
func TestTwoScreens_eachInItsEnvironment(t *testing.T) {
	t.Parallel()
	const fresh = "sk-ant-fresh-0123456789"
	s := working(t)
	s.env = slices.DeleteFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "WORK_LLM=") || strings.HasPrefix(e, "COPY=") })
	one := open(t, s.in("022", []string{"X=one", "COPY=Bearer " + fresh}, "--yolo"))
	one.until(t, home, ready)
	one.typed(t, "run echo first-$X-$(umask)\r")
	one.until(t, "first-one-0022")

	two := open(t, s.in("027", []string{"X=two", "ANTHROPIC_API_KEY=" + fresh, "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "COPY=Bearer " + fresh}))
	two.until(t, home, "ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL of this shell are used from now on", "claude-")
	two.typed(t, "/model builtin\r")
	two.until(t, "builtin")
	two.typed(t, "run echo second-$X-$(umask); echo it is "+fresh+" >made; cat made\r")
	two.until(t, "second-two-0027", "it is [redacted: ANTHROPIC_API_KEY]")
	two.typed(t, "!echo shell-$X-$COPY-\r")
	two.until(t, "shell-two--")
	one.typed(t, "!echo shell-$X-$COPY-; cat made\r")
	one.until(t, "shell-one--")
	if fi, err := os.Stat(filepath.Join(s.dir, "made")); err != nil || fi.Mode() != 0o640 {
		t.Errorf("a file of the second screen's: %v, %v", fi.Mode(), err)
	}
	one.typed(t, "/push name=kid run echo child-$X-$COPY-\r")
	one.until(t, "Queued kid")
	two.typed(t, "/run\r")
	two.until(t, "1 pending]")
	two.typed(t, "/check\r")
	two.until(t, "child-one--")
	one.typed(t, "/quit\r")
	one.until(t, "Another screen is attached and closes too.")
	one.typed(t, "k")
	one.exited(t)
	two.exited(t)
	if strings.Contains(one.written(), fresh) {
		t.Error("the first screen shows the key that the second brought")
	}
	all := s.kept(t)
	if !bytes.Contains(all, []byte("[redacted: ANTHROPIC_API_KEY]")) {
		t.Error("what the program keeps was not looked into")
	}
	for _, form := range append(formsOf(fresh), "X=one", "COPY=") {
		if i := bytes.Index(all, []byte(form)); i >= 0 {
			t.Errorf("it keeps %q: %q", form, all[max(0, i-200):i])
		}
	}
}
