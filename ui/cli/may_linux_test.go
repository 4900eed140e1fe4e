package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Outside of a sandbox an agent's command does on the command line what its agent may with tools, whatever its
// environment and its session are, and whichever workspace it names; the human's shell does all.
func TestErrands_ofAgents(t *testing.T) {
	t.Parallel()
	needs(t, "grep", "setsid")
	s := newSite(t).raced()
	other := *s
	other.dir = t.TempDir()
	for _, x := range []*site{s, &other} {
		if out, errs, code := x.run(t, "", "schedule", "name=mine", "every 30m", "look"); code != ok {
			t.Fatal(out, errs)
		}
	}
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	f := s.typed() + " "
	clean := "env -i HOME=$HOME PATH=$PATH $(env | grep ^XDG_ | tr '\\n' ' ') "
	said := func(file string) string {
		t.Helper()
		comes(func() bool {
			_, err := os.Stat(filepath.Join(s.dir, file))
			return err == nil
		}, wait)
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			t.Fatalf("%v: %s", err, tail(c.written()))
		}
		return string(text)
	}
	for n, how := range []string{
		f + "schedule every 10m look",
		f + "schedule rm mine",
		clean + f + "schedule every 10m look",
		"setsid sh -c '(" + f + "schedule every 10m look; true)'",
		f + "schedule --cwd " + other.dir + " rm mine",
		f + "check --take",
		f + "host stop --now",
		f + "mcp < /dev/null",
	} {
		file := string(rune('a'+n)) + ".said"
		c.typed(t, "run { "+how+"; } > "+file+".part 2>&1; mv "+file+".part "+file+"; true\r")
		if text := said(file); !strings.Contains(text, "this is the human's to do") {
			t.Errorf("%s: %q", how, text)
		}
		c.until(t, ready)
	}
	c.typed(t, "run "+f+"schedule list > list.part 2>&1 && "+f+"send main 'this is fine' && mv list.part list.said\r")
	if text := said("list.said"); !strings.Contains(text, "mine") {
		t.Errorf("the list: %q", text)
	}
	for _, x := range []*site{s, &other} {
		if out, errs, code := x.run(t, "", "schedule", "--json", "list"); code != ok || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"state":"active"`) {
			t.Errorf("scheduled in the end: %s%s", out, errs)
		}
	}
	if out, errs, code := s.run(t, "", "schedule", "rm", "mine"); code != ok {
		t.Errorf("the human's shell: %s%s", out, errs)
	}
}
