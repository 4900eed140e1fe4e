package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fantail/inbox"
	"fantail/store"
)

// hooks has the user's own hook run at an event, in the site's home.
func (s *site) hooks(t *testing.T, event, command string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 300}}}}}})
	if err == nil {
		err = os.MkdirAll(filepath.Join(s.getenv("HOME"), ".claude"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.getenv("HOME"), ".claude", "settings.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A host that is killed while a hook hears of a task's end leaves no hook behind, tells of each task once, and loses none
// that it had not told of yet.
func TestKilledInTaskFinished(t *testing.T) {
	t.Parallel()
	needs(t, "grep")
	s := newSite(t)
	first := s.fifo(t, "begun")
	s.hooks(t, "TaskFinished", `x=$(cat); echo "$x" | grep -o '"name":"[a-z]*"' >> told; [ -e met ] || { touch met; echo $$ > begun; exec sleep 600; }`)
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	c.typed(t, "/push name=one run true\r")
	c.until(t, "1 queued")
	c.typed(t, "/push name=two run true\r")
	c.until(t, "2 queued")
	c.typed(t, "/run\r")
	pid := first(c)
	c.until(t, "2 pending")
	s.killsHost(t)
	c.exited(t)
	if outlives(pid) {
		t.Errorf("the hook (process %s) still runs", pid)
	}
	told := func() string {
		text, _ := os.ReadFile(filepath.Join(s.dir, "told"))
		return strings.Join(strings.Fields(string(text)), " ")
	}
	begun := told()
	again := open(t, s.command("--yolo"))
	again.until(t, home, "2 pending")
	all := `"name":"one" "name":"two"`
	if begun == `"name":"two"` {
		all = `"name":"two" "name":"one"`
	}
	holds(t, "both are told", func() bool { return len(told()) >= len(all) })
	again.typed(t, "/push name=three run true\r")
	again.until(t, "1 queued")
	again.typed(t, "/run\r")
	holds(t, "what ends later is told", func() bool { return strings.Contains(told(), "three") })
	if got := told(); got != all+` "name":"three"` {
		t.Errorf("told %s, want %s and three", got, all)
	}
}

// rests waits until hooks of the running host have been told of all mail, or all questions.
func (s *site) rests(t *testing.T, of string) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(s.dataFor(t, s.dir), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	word := ""
	defer func() {
		if t.Failed() {
			t.Logf("hooks were told of %s up to %s", of, word)
		}
	}()
	holds(t, "hooks were told of all", func() bool {
		err := db.Read(t.Context(), func(rx *store.Rx) (err error) {
			word, _, err = rx.Setting("hooks told of " + of)
			if of == "mail" && err == nil {
				var newest int64
				newest, err = inbox.Newest(&rx.View)
				if word != strconv.FormatInt(newest, 10) {
					word += "+"
				}
			}
			return err
		})
		return err == nil && word != "" && !strings.HasSuffix(word, "+")
	})
}

// A host that is killed while a hook hears of mail tells of that once more, marked, of what came behind it once, and of
// nothing else; what comes while no host runs is told as the next one begins.
func TestKilledInMailDeposited(t *testing.T) {
	t.Parallel()
	needs(t, "grep")
	s := newSite(t)
	first := s.fifo(t, "begun")
	s.hooks(t, "MailDeposited", `x=$(cat); echo "$x" | grep -oE '"(body|repeated)":[^,}]*' | sort | tr '\n' ' ' >> told; [ -e met ] || { touch met; echo $$ > begun; exec sleep 600; }`)
	send := func(text string) {
		t.Helper()
		if _, errs, code := s.run(t, "", "send", "main", text); code != ok {
			t.Fatal(errs)
		}
	}
	c := open(t, s.command())
	c.until(t, home, ready)
	send("one")
	pid := first(c)
	send("two")
	c.until(t, "2 pending")
	s.killsHost(t)
	c.exited(t)
	if outlives(pid) {
		t.Errorf("the hook (process %s) still runs", pid)
	}
	send("three")
	told := func() string {
		text, _ := os.ReadFile(filepath.Join(s.dir, "told"))
		return strings.TrimSpace(string(text))
	}
	all := `"body":"one" "body":"one" "repeated":true "body":"two" "body":"three"`
	for range 2 { // the second start finds nothing more
		again := open(t, s.command())
		again.until(t, home, ready)
		s.rests(t, "mail")
		if got := told(); got != all {
			t.Fatalf("told %s, want %s", got, all)
		}
		send("four")
		all += ` "body":"four"`
		holds(t, "what comes later is told", func() bool { return told() == all })
		s.rests(t, "mail")
		s.killsHost(t)
		again.exited(t)
	}
}

// A host that is killed while a hook hears of a question tells of it once more, marked, as it is open still; one that was
// told is not told again.
func TestKilledInQuestionAsked(t *testing.T) {
	t.Parallel()
	needs(t, "grep")
	s := newSite(t)
	first := s.fifo(t, "begun")
	s.hooks(t, "QuestionAsked", `x=$(cat); echo "$x" | grep -oE '"(title|repeated)":[^,}]*' | sort | tr '\n' ' ' >> told; [ -e met ] || { touch met; echo $$ > begun; exec sleep 600; }`)
	c := open(t, s.command())
	c.until(t, home, ready)
	c.typed(t, "run touch made\r")
	first(c)
	s.killsHost(t)
	c.exited(t)
	told := func() string {
		text, _ := os.ReadFile(filepath.Join(s.dir, "told"))
		return strings.TrimSpace(string(text))
	}
	once := told()
	for range 2 { // the second start finds nothing more
		again := open(t, s.command())
		again.until(t, home, "touch made")
		s.rests(t, "questions")
		if want := once + ` "repeated":true ` + once; told() != want {
			t.Fatalf("told %s, want %s", told(), want)
		}
		s.killsHost(t)
		again.exited(t)
	}
}

// A host that is killed while a hook is asked about a call leaves no hook behind; the call has not run, and its task is
// reported once.
func TestKilledInPreToolUse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.fifo(t, "begun")
	s.hooks(t, "PreToolUse", "echo $$ > begun; exec sleep 600")
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	c.typed(t, "/push name=one run touch ran\r")
	c.until(t, "1 queued")
	c.typed(t, "/run\r")
	pid := first(c)
	s.killsHost(t)
	c.exited(t)
	if outlives(pid) {
		t.Errorf("the hook (process %s) still runs", pid)
	}
	s.hooks(t, "PreToolUse", "true")
	for range 2 { // the second start finds nothing more
		again := open(t, s.command("--yolo"))
		again.until(t, home, "1 pending]", ready)
		s.killsHost(t)
		again.exited(t)
	}
	once := open(t, s.command("--yolo"))
	once.until(t, home, "1 pending]", ready)
	once.typed(t, "/check\r")
	once.until(t, "one", "crashed")
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		t.Error("the call ran")
	}
}
