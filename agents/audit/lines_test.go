package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// rows returns the numbers of the rows in the file of lines.
func (s *site) rows() (ids []int64) {
	s.Helper()
	text, err := os.ReadFile(audit.LinesFile(s.dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.Fatalf("%q: %v", line, err)
		}
		ids = append(ids, r.Row)
	}
	return ids
}

func (s *site) want(what string, ids ...int64) {
	s.Helper()
	if got := s.rows(); fmt.Sprint(got) != fmt.Sprint(ids) {
		s.Errorf("%s: rows %v; want %v", what, got, ids)
	}
}

// TestLog_lines: the rows of the configured kinds are also in the file of lines, each once, whatever happened to the
// file.
//
// Spec: O-68.
func TestLog_lines(t *testing.T) {
	s := newSite(t, "sub")
	var main int64
	s.write(func(tx *store.Tx) (err error) {
		main, err = tx.AddAgent(store.Agent{Name: "main", Kind: string(event.Main), Model: "m", State: "idle"})
		return err
	})
	sub := s.agent
	admit := func(kind event.Kind) {
		t.Helper()
		if err := s.log.Admit(t.Context(), string(kind)); err != nil {
			t.Fatal(err)
		}
	}
	call := func(id string) {
		s.entry(history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: "bash", Args: json.RawMessage(`{"command":"a\u2028<b>"}`)}})
	}
	call("one") // row 2, after the first
	s.want("nothing was admitted")
	admit(event.Sub)
	s.want("its call is written before it runs", 2)
	s.agent = main
	call("two")
	s.agent = sub
	call("three")
	admit(event.Main)
	s.want("of a kind without lines", 2)
	admit(event.Sub)
	admit(event.Sub)
	s.want("only of its kind, and once", 2, 4)

	// Half a line, as a full disk or a kill leaves it, is written again; so is a missing file.
	text, err := os.ReadFile(audit.LinesFile(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range []string{"", string(text[:7]), string(text[:len(text)-1]), string(text) + `{"row":`} {
		put(t, half, audit.LinesFile(s.dir))
		admit(event.Sub)
		s.want("mended", 2, 4)
		if now, _ := os.ReadFile(audit.LinesFile(s.dir)); string(now) != string(text) {
			t.Errorf("%s\nwas\n%s", now, text)
		}
	}
	os.Remove(audit.LinesFile(s.dir))
	s.close()
	s.open()
	admit(event.Sub)
	s.want("gone, at the next start", 2, 4)
	if info, err := os.Stat(audit.LinesFile(s.dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	var r audit.Record
	if err := json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &r); err != nil || r.Row != 2 ||
		r.Agent != "lint" || r.What != audit.Call || r.Tool != "bash" || string(r.Args) == "" || len(r.Hash) != 64 {
		t.Errorf("%s", text)
	}
	for range 1200 { // more than are read at once
		call("many")
	}
	admit(event.Sub)
	if got := s.rows(); len(got) != 1202 || got[1201] != 1204 {
		t.Errorf("%d rows", len(got))
	}

	for _, alien := range []string{"hello\n", strings.Repeat("x", 200<<10)} {
		put(t, alien, audit.LinesFile(s.dir))
		if err := s.log.Admit(t.Context(), "sub"); err == nil || !strings.Contains(err.Error(), "move the file away") {
			t.Errorf("a file of somebody else's: %v", err)
		}
		if now, _ := os.ReadFile(audit.LinesFile(s.dir)); string(now) != alien {
			t.Error("it was changed")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.log.Settle(ctx, "sub"); err == nil {
		t.Error("nobody waits for it any more")
	}
}

// If a file beside the database can't be written, an agent with lines is refused its call, and for another the human
// is warned: once, and once more when it can be written again.
func TestLog_full(t *testing.T) {
	for name, break_ := range map[string]func(s *site) (mend func()){
		"the file of the end": func(s *site) func() {
			path := audit.HeadFile(s.dir)
			was := s.head()
			os.Remove(path)
			if err := os.Mkdir(path, 0o700); err != nil {
				s.Fatal(err)
			}
			return func() {
				os.Remove(path)
				put(s.T, was, path)
			}
		},
		"the file of lines": func(s *site) func() {
			path := audit.LinesFile(s.dir)
			os.Remove(path)
			if err := os.Symlink("/dev/full", path); err != nil {
				s.Fatal(err)
			}
			return func() { os.Remove(path) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ends := newSite(t, "sub"), name == "the file of the end"
			s.called("one", "bash", `{}`)
			mend := break_(s)
			s.called("two", "bash", `{}`)
			for range 2 {
				err := s.log.Admit(t.Context(), "sub")
				if err == nil || !strings.Contains(err.Error(), "its calls must stand in the audit, and that can't be written") {
					t.Errorf("with lines: %v", err)
				}
				if err := s.log.Admit(t.Context(), "main"); err != nil {
					t.Errorf("without: %v", err)
				}
			}
			what := "write the audit's lines"
			if ends {
				what = "write where the audit ends"
			}
			if len(s.warns) != 1 || !strings.Contains(s.warns[0], what) {
				t.Errorf("warned %q", s.warns)
			}
			s.warns = nil
			mend()
			s.called("three", "bash", `{}`)
			for range 2 {
				if err := errors.Join(s.log.Admit(t.Context(), "sub"), s.log.Admit(t.Context(), "main")); err != nil {
					t.Error(err)
				}
			}
			if len(s.warns) != 1 || s.warns[0] != "<nil>" {
				t.Errorf("warned %q", s.warns)
			}
			if r := s.verify(); r.Flaw != "" {
				t.Error(r.Flaw)
			}
			s.want("all of it", 2, 3, 4, 5, 6, 7)
			s.called("four", "bash", `{}`)
			check(t, s.log.Settle(t.Context(), "main"))
			s.want("no turn of its kind ended", 2, 3, 4, 5, 6, 7)
			check(t, s.log.Settle(t.Context(), "sub"))
			s.want("its turn ended", 2, 3, 4, 5, 6, 7, 8, 9)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
