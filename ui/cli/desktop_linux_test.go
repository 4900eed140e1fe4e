package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// desktop gives the site's programs a desktop that notes what it is told, and returns that.
func (s *site) desktop(t *testing.T) (told func() []string) {
	t.Helper()
	bin, config := t.TempDir(), filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail")
	out := filepath.Join(bin, "told")
	script := "#!/bin/sh\necho \"$DISPLAY $3 $4\" >> " + out + "\n"
	if err := os.WriteFile(filepath.Join(bin, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte("notify = \"desktop\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "PATH=") })
	s.env[i] = "PATH=" + bin + ":" + s.getenv("PATH")
	return func() []string {
		text, _ := os.ReadFile(out) // there is none until it is told something
		return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	}
}

// closes ends screens, the site's last ones, as closing their windows does, and waits until the host knows.
func (s *site) closes(t *testing.T, all ...*console) {
	t.Helper()
	for _, c := range all {
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		c.exited(t)
	}
	if !comes(func() bool { out, _, _ := s.run(t, "", "host", "status"); return strings.Contains(out, "0 screens") }, wait) {
		t.Fatal("the host still has screens")
	}
}

// Who has closed all windows is called through the desktop of the last one to what happens then, and to nothing else.
func TestDesktopTellsWhoHasNoScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	told := s.desktop(t)
	feed := s.feed(t, "feed")
	at := func(display string) *site {
		other := *s
		other.env = append(slices.Clone(s.env), "DISPLAY="+display)
		return &other
	}
	a := open(t, at(":7").command("--yolo"))
	a.until(t, home, ready)
	b := open(t, at(":8").command())
	b.until(t, home, ready)
	a.typed(t, "run read -r line < feed; echo came: $line then run touch asked then run touch again\r")
	b.until(t, "running bash")
	s.closes(t, a, b) // and with the last screen yolo ends
	feed("now")
	if !comes(func() bool { return len(told()) > 0 }, wait) {
		t.Fatal("nobody is called")
	}
	if all := told(); len(all) != 1 || !strings.HasPrefix(all[0], ":8 fantail · "+filepath.Base(s.dir)+" main asks: ") {
		t.Errorf("the desktop was told %q", all)
	}
	c := open(t, at(":9").command())
	c.until(t, "touch asked")
	c.typed(t, "y")
	c.until(t, "touch again") // it asks once more, with a screen
	if all := told(); len(all) != 1 {
		t.Errorf("with a screen the desktop was told %q", all)
	}
	s.closes(t, c)
	if out, errs, code := s.run(t, "", "send", "main", "--priority=urgent", "the build is red"); code != ok {
		t.Fatal(out, errs)
	}
	if !comes(func() bool { return len(told()) > 1 }, wait) {
		t.Fatal("nobody is called to urgent mail")
	}
	if all := told(); len(all) != 2 || !strings.HasPrefix(all[1], ":9 ") || !strings.HasSuffix(all[1], " urgent mail from outside") {
		t.Errorf("the desktop was told %q", all)
	}
}
