package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrint_unreadRules: where what may deny can't be read, a prompt without a screen stops before it begins, names the
// file and says what to do, also in yolo; repaired, it goes on.
func TestPrint_unreadRules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, file := range map[string]string{
		".claude/settings.json":   filepath.Join(s.dir, ".claude/settings.json"),
		"~/.claude/settings.json": filepath.Join(s.getenv("HOME"), ".claude/settings.json"),
		".fantail/config.toml":    filepath.Join(s.dir, ".fantail/config.toml"),
	} {
		put(t, file, `{"permissions": {"deny": "Bash(mkdir:*)"`)
		out, errs, code := s.run(t, "", "-p", "run mkdir made", "--yolo")
		if code != failed || !strings.Contains(errs, name+":") || !strings.Contains(errs, "Repair it") {
			t.Errorf("%s: exit code %d, output %q, errors %q", name, code, out, errs)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
			t.Fatalf("%s: the command ran", name)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("none.json", filepath.Join(s.dir, ".claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := s.run(t, "", "-p", "run mkdir made", "--yolo"); code != failed || !strings.Contains(errs, "link that leads nowhere") {
		t.Errorf("a link: exit code %d, errors %q", code, errs)
	}
	put(t, filepath.Join(s.dir, ".claude/none.json"), "// made nothing\n{\"permissions\": {\"deny\": [\"Bash(rmdir:*)\"],},}")
	if _, errs, code := s.run(t, "", "-p", "run mkdir made", "--yolo"); code != ok {
		t.Errorf("repaired: exit code %d, errors %q", code, errs)
	}
	s.run(t, "", "-p", "run rmdir made", "--yolo")
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err != nil {
		t.Errorf("what is denied ran: %v", err)
	}
}

// TestScreen_unreadRules: a file that becomes unreadable under a host is told of, and has everything asked in yolo; once
// it can be read, also by what no change of it tells, nothing is asked.
func TestScreen_unreadRules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	settings := filepath.Join(s.dir, ".claude/settings.json")
	put(t, settings, "{}")
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../far/away.json", settings); err != nil {
		t.Fatal(err)
	}
	c.until(t, "Everything is asked now", "settings.json: it is a link that leads nowhere")
	c.typed(t, "run echo ho''ho\r")
	c.until(t, "1 asking", "!hoho")
	if _, errs, code := s.run(t, "", "-p", "run mkdir made", "--yolo"); code != failed || !strings.Contains(errs, "leads nowhere") {
		t.Errorf("a prompt in the same host: exit code %d, errors %q", code, errs)
	}
	put(t, filepath.Join(s.dir, "far/away.json"), "{}")
	c.until(t, "can be read again")
	c.until(t, "hoho")
}
