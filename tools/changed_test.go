package tools

import (
	"os"
	"strings"
	"testing"
	"time"

	"fantail/tools/permission"
)

// given returns a gate with the rule that was offered for a command, and a function that decides about the command now.
func given(t *testing.T, e *Runtime, command string) (*permission.Gate, func() permission.Verdict) {
	t.Helper()
	g, err := permission.NewGate(permission.Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Changes = g.Changes()
	decide := func() permission.Verdict { return g.Decide(parse(t, e, "bash", "command", command).Action) }
	if err := g.Allow(decide().Rule); err != nil {
		t.Fatalf("%s: %v: %+v", command, err, decide())
	}
	if v := decide(); v.Decision != permission.Allow {
		t.Fatalf("%s is not covered by what was offered: %+v", command, v)
	}
	return g, decide
}

// TestBash_rulesEndWithWhatTheyWereGivenFor: on a real disk, by the tools themselves, by a command's writes, renames
// and swaps of directories.
func TestBash_rulesEndWithWhatTheyWereGivenFor(t *testing.T) {
	const why = " since you allowed this"
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name, rule string
		do         func(t *testing.T, e *Runtime)
		want       string // why it asks again; "" if it does not
	}{
		{"a test written", "go test ./...", func(t *testing.T, e *Runtime) { ok(t, e, "write_file", "path", "x_test.go", "content", "package x\n") }, "x_test.go was changed by an agent" + why},
		{"a test edited", "go test ./...", func(t *testing.T, e *Runtime) {
			ok(t, e, "read_file", "path", "a_test.go")
			ok(t, e, "edit_file", "path", "a_test.go", "edits", []map[string]any{{"old": "one", "new": "two"}})
		}, "a_test.go was changed by an agent" + why},
		{"a source written", "go test ./...", func(t *testing.T, e *Runtime) { ok(t, e, "write_file", "path", "x.go", "content", "package x\n") }, ""},
		{"a source changed by a command", "go test ./...", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "echo >>a.go; touch new.go") }, ""},
		{"a makefile appended to", "make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "echo x >>Makefile") }, "Makefile was changed by an agent" + why},
		{"a makefile with its time set back", "make", func(t *testing.T, e *Runtime) {
			ok(t, e, "bash", "command", "echo x >>Makefile; touch -d 2001-01-01 Makefile")
		}, "Makefile was changed by an agent" + why},
		{"a prepared makefile renamed over it", "make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "mv prepared Makefile") }, "Makefile was changed by an agent" + why},
		{"a link to a prepared makefile", "make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "ln -sf prepared Makefile") }, "Makefile was changed by an agent" + why},
		{"what it links to changed", "cd linked && make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "echo x >>prepared") }, "linked/Makefile was changed by an agent" + why},
		{"the directory swapped", "cd sub && make", func(t *testing.T, e *Runtime) {
			ok(t, e, "bash", "command", "mv sub away && mv evil sub && touch sub/x && rm -r away")
		}, "sub/Makefile was changed by an agent" + why},
		{"another makefile taken first", "make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "cp prepared GNUmakefile") }, "GNUmakefile was changed by an agent" + why},
		{"a command that changes nothing", "make", func(t *testing.T, e *Runtime) { ok(t, e, "bash", "command", "ls -l; cat Makefile") }, ""},
		{"the human's own command", "make", func(t *testing.T, e *Runtime) {
			ok(t, e, "bash", "command", "true")
			// Far enough from the agent's command that the file's time distinguishes them.
			if r := e.Command(t.Context(), "mine", "sleep 0.1; echo x >>Makefile", nil); r.Error {
				t.Fatal(r.Text)
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := place(t)
			for p, s := range map[string]string{"Makefile": "all:\n", "prepared": "all:\n", "a_test.go": "one\n", "a.go": "one\n", "sub/Makefile": "all:\n", "evil/Makefile": "all:\n"} {
				put(t, e.Root+"/"+p, s)
				if err := os.Chtimes(e.Root+"/"+p, old, old); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(e.Root+"/linked", 0o755); err != nil {
				t.Fatal(err)
			}
			link(t, "../prepared", e.Root+"/linked/Makefile")
			_, decide := given(t, e, c.rule)
			c.do(t, e)
			v := decide()
			if c.want == "" && v.Decision != permission.Allow || c.want != "" && (v.Decision != permission.AskHuman || v.Changed != c.want || v.Rule == "" || !strings.Contains(v.Reason, c.want)) {
				t.Errorf("%+v, want %q", v, c.want)
			}
		})
	}
}
