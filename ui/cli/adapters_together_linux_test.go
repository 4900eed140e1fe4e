package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/ui/attach"
)

// TestAdapters_together: two vendors' agents and one of ours work in the background; a permission is answered from the
// inbox, after this program was killed in the middle of it all; each result is counted, and taken once. Then one vendor's
// agent hands work to the other's, which is asked about once, and reads its mail.
func TestAdapters_together(t *testing.T) {
	t.Parallel()
	y := newTrial(t, "builtin", claude(), codex())
	y.opens(t)
	made := filepath.Join(y.dir, "made")
	asks := claude().Call("ask", "install -m 600 /dev/null "+made)
	y.write("one", asks, "say it goes on")
	y.write(hadAsked, asks, "say the result of one")
	y.write("two", "say two is at work, and goes on", "stall")
	y.types(t, "/push agent=claude name=one play one", "Queued one")
	y.types(t, "/push agent=codex name=two play two", "Queued two")
	y.types(t, "/push name=three say the result of three", "Queued three")
	y.types(t, "/run 2", "one ● asks", "three ✓", "two ●")
	two := y.watch(t, "two")
	two.until(t, "word of two", func([]attach.Entry) bool { return strings.Contains(two.text(), "at work") })

	host := y.host(t)
	if err := syscall.Kill(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	y.c.exited(t)
	y.opens(t)
	y.c.until(t, "one ● asks", "two ✗", "three ✓")
	y.types(t, "/inbox", "Inbox · main", "? #")
	pressed(t, "\r", []string{"one has a question", "install"}, y.c)
	pressed(t, keyYes+"\r", []string{"!one has a question"}, y.c)
	y.c.until(t, "one ✓")
	pressed(t, "\x1b", []string{"!Inbox · main"}, y.c)
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
	y.c.until(t, "3 pending")
	y.types(t, "/check", "the result of one", "the result of three", "!pending")
	y.all.until(t, "three messages", func(es []attach.Entry) bool { return len(messages(es)) >= 3 })
	y.balanced(t)

	y.write("lead", claude().CallOurs("push", `{"name":"sub","prompt":"play sub","agent":"codex"}`), claude().CallOurs("run", `{}`),
		claude().CallOurs("receive", `{"from":"sub"}`), "say the result of lead")
	y.write("sub", "say the result of sub")
	y.types(t, "/push agent=claude name=lead play lead", "Queued lead")
	y.types(t, "/run 1", "lead ● asks")
	lead := y.watch(t, "lead")
	pressed(t, "\x1ba", []string{"lead has a question", "codex, another vendor's agent"}, y.c)
	pressed(t, keyYes+"\r", []string{"!lead has a question"}, y.c)
	es, outcome := lead.ends(t, 1)
	if said(t, es, "result", "the result of sub"); outcome != "completed" || len(messages(es)) != 1 {
		t.Errorf("%s: %s", outcome, lead.text())
	}
	y.c.until(t, "1 pending")
	y.types(t, "/check", "the result of lead", "!pending")
	y.balanced(t)
}
