package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"fantail/agents/audit"
)

// A shell reads the audit and looks whether it is whole, while a host lives and without one.
//
// Spec: R-6.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	want := func(code int, text, errs string, args ...string) string {
		t.Helper()
		out, said, got := s.run(t, "", append([]string{"audit"}, args...)...)
		if got != code || !strings.Contains(out, text) || !strings.Contains(said, errs) || text == "" && out != "" {
			t.Errorf("%q: exit code %d, %q, %q; want %d, %q, %q", args, got, out, said, code, text, errs)
		}
		return out
	}
	want(nothing, "", "nobody used fantail in")
	if out, errs, code := s.run(t, "", "send", "main", "the build broke"); code != ok {
		t.Fatal(out, errs)
	}
	want(nothing, "", "")
	want(ok, "The audit has no rows yet.", "", "--verify")
	if out, errs, code := s.run(t, "", "-p", "--yolo", "write made: the recipe\nrun exit 4"); code != failed {
		t.Fatal(code, out, errs)
	}
	all := want(ok, "audit started\n", "")
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if len(lines) != 5 || !strings.Contains(lines[1], " mode ask · the default") ||
		!strings.Contains(lines[2], " write_file content (10 bytes), path made · allowed: yolo mode · ok, ") ||
		!strings.Contains(lines[3], " bash command exit 4") || !strings.Contains(lines[3], " · exit code 4, ") || !strings.Contains(lines[4], "its turn ended: failed") ||
		strings.Contains(all, "recipe") {
		t.Errorf("%s", all)
	}
	name := strings.Fields(lines[2])[3]
	want(ok, "write_file content", "", name)
	want(nothing, "", "", "nobody")
	want(ok, "decided   allowed: yolo mode", "", "#3")
	want(failed, "", "the audit has no row 99; fantail audit lists them", "99")
	want(usage, "", "it is fantail audit [NAME | N]", "a", "b")
	want(usage, "", "--verify looks at the whole audit", "--verify", "main")
	rows := strings.Split(strings.TrimSpace(want(ok, `"what":"begun"`, "", "--json")), "\n")
	for n, row := range rows {
		var r audit.Record
		if err := json.Unmarshal([]byte(row), &r); err != nil || r.Row != int64(n)+1 || len(r.Hash) != 64 {
			t.Errorf("%s: %v", row, err)
		}
	}
	if one := want(ok, `"what":"call"`, "", "3", "--json"); strings.Count(one, "\n") != 2 {
		t.Errorf("a call and its end: %s", one)
	}
	want(ok, "The audit is whole: ", "", "--verify")
	want(ok, `{"whole":true,"rows":`, "", "--verify", "--json")

	head := audit.HeadFile(s.data(t))
	text, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(head, []byte(strings.Replace(string(text), "row 00", "row 10", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	want(failed, "The audit is damaged: row ", "", "--verify")
	want(failed, `{"whole":false,"rows":`, "", "--verify", "--json")
}
