package audit_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/audit"
	"fantail/agents/history"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/secret"
)

// site is a workspace's data directory with an audit.
type site struct {
	*testing.T
	dir   string
	db    *store.DB
	log   *audit.Log
	agent int64
	warns []string
	kinds []string
	keys  *secret.Keys
	now   func() time.Time
}

func newSite(t *testing.T, kinds ...string) *site {
	s := &site{T: t, dir: t.TempDir(), kinds: kinds}
	s.open()
	s.write(func(tx *store.Tx) (err error) {
		s.agent, err = tx.AddAgent(store.Agent{Name: "lint", Kind: "sub", Model: "m", State: "idle"})
		return err
	})
	return s
}

func (s *site) path() string { return filepath.Join(s.dir, "fantail.db") }

// open opens the database and the audit, as a start of the program does.
func (s *site) open() {
	s.Helper()
	db, err := storetest.Open(s.Context(), s.path(), store.Options{Withhold: s.keys.Row, Now: s.now})
	if err != nil {
		s.Fatal(err)
	}
	s.db = db
	s.Cleanup(func() { _ = db.Close() })
	s.log, err = audit.Open(s.Context(), audit.Options{
		DB: db, Dir: s.dir, Kinds: s.kinds, Keys: s.keys, Warn: func(err error) { s.warns = append(s.warns, fmt.Sprint(err)) },
	})
	if err != nil {
		s.Fatal(err)
	}
}

// close ends the program.
func (s *site) close() {
	s.Helper()
	if err := s.db.Close(); err != nil {
		s.Fatal(err)
	}
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Write(context.Background(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// entry records an entry of the agent's transcript.
func (s *site) entry(e history.Entry) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		_, err := history.Writer{Agent: s.agent, Keys: s.keys, Audit: s.log.Entry}.Batch(tx).Add(0, e)
		return err
	})
}

// called records a call and its result.
func (s *site) called(id, tool, args string) {
	s.Helper()
	s.entry(history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: tool, Args: json.RawMessage(args)}})
	s.log.Judge(s.agent, id, audit.Judgement{Decision: audit.Allowed, By: "reads in the workspace"})
	s.entry(history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: id, Name: tool, Text: "four", Millis: 7}})
	s.log.Forget(s.agent, id)
}

func (s *site) book() audit.Reader { return audit.Reader{DB: s.db, Dir: s.dir} }

func (s *site) verify() audit.Report {
	s.Helper()
	r, err := s.book().Verify(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func (s *site) head() string {
	s.Helper()
	text, err := os.ReadFile(audit.HeadFile(s.dir))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// tamper changes the database's rows while no program has it open, bypassing what guards them.
func (s *site) tamper(statements string) {
	s.Helper()
	s.close()
	defer s.reopen()
	db, err := store.Open(s.Context(), s.path(), store.Options{})
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Write(s.Context(), "tamper", func(tx *store.Tx) error {
		for q := range strings.Lines(unguarded + statements) {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
}

// reopen opens the database alone, as a reader does.
func (s *site) reopen() {
	s.Helper()
	db, err := store.Open(s.Context(), s.path(), store.Options{})
	if err != nil {
		s.Fatal(err)
	}
	s.db = db
	s.Cleanup(func() { _ = db.Close() })
}

// tampering are ways to change rows: their names, the expected reports, and the statements.
//
//go:embed testdata/tampering.sql
var tampering string

// slips are changes that triggers prevent, and unguarded removes the triggers.
var (
	//go:embed testdata/slips.sql
	slips string
	//go:embed testdata/unguarded.sql
	unguarded string
	//go:embed testdata/clock.sql
	clockBack string
	//go:embed testdata/cut.sql
	cutTail string
)

// TestVerify_finds: each way to change rows is found, and the sentence names the first wrong row.
//
// Spec: R-6.
func TestVerify_finds(t *testing.T) {
	for _, c := range strings.Split(strings.TrimPrefix(tampering, "-- "), "\n-- ") {
		head, statements, _ := strings.Cut(c, "\n")
		name, want, _ := strings.Cut(head, ": ")
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			for n := range 3 {
				s.called(fmt.Sprint("call", n), "read_file", `{"path":"a.go"}`)
			}
			if r := s.verify(); r.Flaw != "" || r.Rows != 7 || !strings.HasPrefix(r.Says(), "The audit is whole: 7 rows") {
				t.Fatalf("before: %+v", r)
			}
			s.tamper(statements)
			r := s.verify()
			if !strings.Contains(r.Flaw, want) || !strings.HasPrefix(r.Says(), "The audit is damaged: row ") || !strings.Contains(r.Says(), "as you can") {
				t.Errorf("%q; want %q", r.Flaw, want)
			}
		})
	}
}

// TestVerify_findsRowsWrittenAnew: a swapped database, or rows rewritten from some row on with their right hashes, are
// found by the file of the end.
func TestVerify_findsRowsWrittenAnew(t *testing.T) {
	forged := newSite(t)
	forged.called("one", "bash", `{"command":"rm -r x"}`)
	s := newSite(t)
	s.called("one", "bash", `{"command":"rm -r x"}`)
	was := s.head()

	put(t, forged.head(), audit.HeadFile(s.dir))
	if r := s.verify(); !strings.Contains(r.Flaw, "row 1 begins another audit") {
		t.Errorf("the file of another audit's end: %q", r.Flaw)
	}
	put(t, was, audit.HeadFile(s.dir))
	if r := s.verify(); r.Flaw != "" {
		t.Errorf("put back: %q", r.Flaw)
	}
	s.called("two", "bash", `{"command":"ls"}`)
	put(t, was, audit.HeadFile(s.dir))
	if r := s.verify(); !strings.Contains(r.Flaw, "row 4 stands behind the end") {
		t.Errorf("right rows behind the end: %q", r.Flaw)
	}

	// The same database grows elsewhere by another row than here.
	s.close()
	data, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	s.open()
	s.called("true", "bash", `{"command":"curl evil"}`)
	now := s.head()
	s.close()
	put(t, string(data), s.path())
	for _, left := range []string{"-wal", "-shm"} {
		if err := os.Remove(s.path() + left); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	s.reopen()
	if r := s.verify(); !strings.Contains(r.Flaw, "is missing: the audit ends with row") {
		t.Errorf("an older file in its place: %q", r.Flaw)
	}
	s.db.Close()
	s.open() // says so in a row, and goes on
	s.close()
	put(t, was, audit.HeadFile(s.dir))
	s.open()
	s.called("false", "bash", `{"command":"ls"}`)
	put(t, now, audit.HeadFile(s.dir))
	if r := s.verify(); !strings.Contains(r.Flaw, "is not the one that the file audit.head names") {
		t.Errorf("rows written anew: %q", r.Flaw)
	}
}

// A clock that was set back is noted from one second on: smaller steps are a clock that is adjusted all the time.
func TestVerify_clockBackABit(t *testing.T) {
	begin := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		by    time.Duration
		notes int
	}{{0, 0}, {time.Second, 0}, {1500 * time.Millisecond, 1}, {2 * time.Minute, 1}, {59 * time.Minute, 1}} {
		s := &site{T: t, dir: t.TempDir()}
		now := begin
		s.now = func() time.Time { return now }
		s.open()
		s.write(func(tx *store.Tx) (err error) {
			s.agent, err = tx.AddAgent(store.Agent{Name: "lint", Kind: "sub", Model: "m", State: "idle"})
			return err
		})
		s.called("one", "bash", `{"command":"ls"}`)
		now = begin.Add(-c.by)
		s.called("two", "bash", `{"command":"ls"}`)
		if r := s.verify(); r.Flaw != "" || len(r.Notes) != c.notes {
			t.Errorf("back by %v: %+v", c.by, r)
		}
	}
}

// A clock that was put back is no damage, and is reported with the row; rows keep their order. A row with a changed
// time is damage.
func TestVerify_clockBack(t *testing.T) {
	s := newSite(t)
	s.called("one", "read_file", `{"path":"a.go"}`)
	s.close()
	s.now = func() time.Time { return time.Now().Add(-49 * time.Hour) }
	s.open()
	s.called("two", "bash", `{"command":"ls"}`)
	s.close()
	s.now = nil
	s.open()
	s.called("three", "bash", `{"command":"ls"}`)
	r := s.verify()
	if r.Flaw != "" || r.Rows != 7 || len(r.Notes) != 1 || !strings.Contains(r.Says(), "Note: the clock went back by 49h0m") || !strings.Contains(r.Notes[0], "at row 4") {
		t.Errorf("%+v", r)
	}
	s.tamper(clockBack)
	if r := s.verify(); !strings.Contains(r.Flaw, "row 4 is not what was written") {
		t.Errorf("dated forward, so that nothing went back: %+v", r)
	}
}

func put(t *testing.T, text, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The file of the end can be missing or overwritten; both are found, and a start says so in a row that stays.
func TestOpen_recordsWhatItFinds(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *site)
		want string
	}{
		"gone":    {func(s *site) { os.Remove(audit.HeadFile(s.dir)) }, "the file audit.head is gone"},
		"garbage": {func(s *site) { put(s.T, "hello", audit.HeadFile(s.dir)) }, "the file audit.head says nothing any more"},
		"no number": {func(s *site) {
			put(s.T, strings.Replace(s.head(), "row 0", "row x", 1), audit.HeadFile(s.dir))
		}, "the file audit.head says nothing any more"},
		"cut": {func(s *site) { s.tamper(cutTail) }, "row 3 is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.called("one", "bash", `{"command":"ls"}`)
			c.do(s)
			if r := s.verify(); !strings.Contains(r.Flaw, c.want) {
				t.Errorf("before the start: %q; want %q", r.Flaw, c.want)
			}
			s.close()
			s.open()
			s.called("two", "bash", `{"command":"ls"}`)
			r := s.verify()
			if !strings.Contains(r.Flaw, "says what a start of the program found") || !strings.Contains(r.Flaw, c.want) || !strings.HasPrefix(r.Flaw, "row ") {
				t.Errorf("behind the start: %q", r.Flaw)
			}
			s.close()
			s.open()
			if again := s.verify(); again.Flaw != r.Flaw || again.Rows != r.Rows {
				t.Errorf("the next start: %+v; before it %+v", again, r)
			}
		})
	}
}

// A program that is killed between a commit and the write of the file of the end leaves no damage: the next start
// notes it.
func TestOpen_afterAKill(t *testing.T) {
	s := newSite(t)
	s.close()
	s.open() // with a file, and without a row
	if r := s.verify(); r.Flaw != "" || r.Rows != 0 || !strings.HasPrefix(r.Says(), "The audit has no rows yet.") {
		t.Fatalf("%+v", r)
	}
	empty := s.head()
	s.called("one", "bash", `{"command":"ls"}`)
	for _, behind := range []string{empty, s.head()} {
		s.called("two", "bash", `{"command":"ls"}`)
		s.close()
		put(t, behind, audit.HeadFile(s.dir))
		s.open()
		r := s.verify()
		if r.Flaw != "" || len(r.Notes) == 0 || !strings.Contains(r.Says(), "Note: row ") || !strings.Contains(r.Says(), "stands behind the end") {
			t.Errorf("%+v", r)
		}
	}
	if info, err := os.Stat(audit.HeadFile(s.dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// The program can't change rows by mistake, and a transaction that fails leaves none.
func TestLog_onlyAppends(t *testing.T) {
	s := newSite(t)
	s.called("one", "bash", `{"command":"ls"}`)
	for q := range strings.Lines(slips) {
		err := s.db.Write(t.Context(), "slip", func(tx *store.Tx) error {
			_, err := tx.Exec(q)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", q, err)
		}
	}
	no := errors.New("no")
	head := s.head()
	err := s.db.Write(t.Context(), "fails", func(tx *store.Tx) error { return errors.Join(s.log.Revoked(tx, "r", ""), no) })
	if r := s.verify(); !errors.Is(err, no) || r.Flaw != "" || r.Rows != 3 || s.head() != head {
		t.Errorf("%v, %+v", err, r)
	}
}

// A line is a call with the decision, its end and its duration.
func TestList(t *testing.T) {
	s := newSite(t)
	s.called("one", "read_file", `{"path":"a.go"}`)
	s.entry(history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: "two", Name: "bash", Args: json.RawMessage(`{"command":"sleep 9"}`)}})
	s.log.Judge(s.agent, "two", audit.Judgement{Decision: audit.Allowed, By: "allowed by bash(sleep *)"})
	s.entry(history.Entry{Kind: history.EntryStarted, Call: &history.Call{ID: "two"}})
	code := 2
	s.called("three", "bash", `{}`)
	s.entry(history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: "four", Name: "bash", Exit: &code, Text: "xx"}})
	s.entry(history.Entry{Kind: history.EntryShell, Shell: &history.Shell{Command: "make", Output: "done", Exit: 1}})
	s.entry(history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: history.Completed}})
	s.entry(history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: history.TimedOut, Error: "timed out after 5m"}})
	s.entry(history.Entry{Kind: history.EntryText, Text: "an answer"})
	s.write(func(tx *store.Tx) error { return s.log.Switched(tx, "ask", "yolo", "") })
	s.write(func(tx *store.Tx) error {
		return s.log.Answered(tx, audit.Answered{Agent: s.agent, Turn: 3, Call: "three", Asked: "bash", Rule: "bash(x)", Decision: audit.Allowed, By: "you"})
	})
	lines, err := s.book().List(t.Context(), audit.Wanted{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d %s %s %s|%s|%s|%s|%d|%d|%v", l.ID, l.What, l.Name, l.Tool, l.Args, l.Decision+" "+l.By, l.Outcome, l.Bytes, l.Millis, l.Open))
	}
	got[0] = "" // its name is another each time
	want := []string{
		"", `2 call lint read_file|{"path":"a.go"}|allowed reads in the workspace|ok|4|7|false`,
		`4 call lint bash|{"command":"sleep 9"}|allowed allowed by bash(sleep *)||0|0|true`,
		`6 call lint bash|{}|allowed reads in the workspace|ok|4|7|false`,
		`9 shell lint bash|{"command":"make"}|allowed the user, on a screen|exit code 1|4|0|false`,
		`10 stop lint ||  timed out after 5m|timed_out|0|0|false`,
		`12 answer lint |{"asked":"bash","rule":"bash(x)"}|allowed you||0|0|false`,
		`11 mode  |{"mode":"yolo","was":"ask"}| the user, on a screen||0|0|false`,
	}
	want[6], want[7] = want[7], want[6]
	want[5] = strings.Replace(want[5], "||  ", "|| ", 1)
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if ls, err := s.book().List(t.Context(), audit.Wanted{Name: "lint", Before: 9, Limit: 2}); err != nil || len(ls) != 2 || ls[0].ID != 4 || ls[1].ID != 6 {
		t.Errorf("%+v, %v", ls, err)
	}
	if ls, err := s.book().List(t.Context(), audit.Wanted{After: 9, Limit: 1}); err != nil || len(ls) != 1 || ls[0].ID != 10 {
		t.Errorf("%+v, %v", ls, err)
	}
	if l, ok, err := s.book().Find(t.Context(), 5); err != nil || !ok || l.ID != 4 || len(l.Rows) != 2 || l.Tool != "bash" {
		t.Errorf("the row of what runs: %+v, %v, %v", l, ok, err)
	}
	if _, ok, err := s.book().Find(t.Context(), 99); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestAbridged: a row contains no text of a file or message, and no key.
//
// Spec: R-6.
func TestAbridged(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for args, want := range map[string]string{
		`{"path":"a","content":"secret words"}`:                               `{"content":"(12 bytes)","path":"a"}`,
		`{"edits":[{"old":"a","new":"bc","replace_all":true}],"path":"<a>&"}`: `{"edits":[{"new":"(2 bytes)","old":"(1 bytes)","replace_all":true}],"path":"<a>&"}`,
		`{"command":"` + long + `"}`:                                          `{"command":"` + long[:2048] + `… (5000 bytes)"}`,
		`{"id":12345678901234567890}`:                                         `{"id":12345678901234567890}`,
		`{"cut`:                                                               `"(5 bytes)"`,
		`{} {}`:                                                               `"(5 bytes)"`,
		`{"a":["` + strings.Repeat(long[:1500]+`","`, 8) + `"]}`:                   `"(12034 bytes)"`,
		`{"text":["one","two"],"Message":"hi","question":"q","prompt":"do","n":1}`: `{"Message":"(2 bytes)","n":1,"prompt":"(2 bytes)","question":"(1 bytes)","text":["(3 bytes)","(3 bytes)"]}`,
	} {
		if got := audit.Abridged(json.RawMessage(args)); got != want {
			t.Errorf("%.80s\n got %.200s\nwant %.200s", args, got, want)
		}
	}

	// Every text argument of a tool is known to be a body or not: a new one has to be classified.
	kept := map[string]bool{
		"path": true, "pattern": true, "glob": true, "command": true, "name": true, "model": true, "mode": true, "deliver": true, "after": true, "agent": true,
		"to": true, "from": true, "priority": true, "tags": true, "action": true, "remove": true,
		"task_id": true, "run_at": true, "budget": true, "cron": true, "kind": true, "args": true,
	}
	for _, spec := range tools.New().Specs() {
		var schema any
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, name := range texts("", schema) {
			args := fmt.Sprintf(`{%q:"some text"}`, name)
			if body := audit.Abridged(json.RawMessage(args)) != args; body == kept[name] {
				t.Errorf("%s of %s: kept %v", name, spec.Name, !body)
			}
		}
	}
}

// texts returns the names of the properties of a schema that are texts.
func texts(name string, schema any) (all []string) {
	m, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if m["type"] == "string" || fmt.Sprint(m["type"]) == "[string array]" || fmt.Sprint(m["type"]) == "[array string]" {
		all = append(all, name)
	}
	if props, ok := m["properties"].(map[string]any); ok {
		for n, p := range props {
			all = append(all, texts(n, p)...)
		}
	}
	return append(all, texts(name, m["items"])...)
}

func TestLog_withoutKeys(t *testing.T) {
	const key = "sk-ant-THISISTHEKEY0123456789"
	s := newSite(t, "sub")
	s.close()
	s.keys = secret.New([]string{"KEY"}, func(name string) string { return map[string]string{"KEY": key}[name] })
	s.open()
	s.called("a"+key, "bash"+key, fmt.Sprintf(`{"command":"curl -H %s","path":%q}`, key, key))
	s.entry(history.Entry{Kind: history.EntryShell, Shell: &history.Shell{Command: "echo " + key, Output: key}})
	s.entry(history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: history.OutFailed, Error: "it said " + key}})
	s.write(func(tx *store.Tx) error {
		return errors.Join(s.log.Revoked(tx, "bash("+key+")", key),
			s.log.Answered(tx, audit.Answered{Agent: s.agent, Asked: key, Rule: key, By: key}))
	})
	check(t, s.log.Settle(t.Context(), "sub"))
	if r := s.verify(); r.Flaw != "" || r.Rows != 7 {
		t.Errorf("%+v", r)
	}
	lines, err := os.ReadFile(audit.LinesFile(s.dir))
	if err != nil || !strings.Contains(string(lines), "KEY") {
		t.Fatalf("%s, %v", lines, err)
	}
	rows, err := s.book().List(t.Context(), audit.Wanted{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v%s", rows, lines); strings.Contains(text, key) || !strings.Contains(text, "curl -H") {
		t.Errorf("%s", text)
	}
}
