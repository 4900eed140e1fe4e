package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBarred: searches skip files that a rule forbids, with ripgrep and without, and a command that would read
// everything says so.
func TestBarred(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"vault/x": "needle", "a/vault.txt": "needle", "a/closed": "needle"} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"PATH=" + os.Getenv("PATH"), "PATH=/nowhere"} {
		e := &Runtime{Root: root, Environ: []string{path}, Barred: func(p string) string {
			if p == filepath.Join(root, "vault") || strings.HasPrefix(p, filepath.Join(root, "vault")+"/") || p == filepath.Join(root, "a/closed") {
				return "a rule"
			}
			return ""
		}}
		call := func(tool, args string) *Call {
			t.Helper()
			c, err := New().Parse(e, "1", tool, json.RawMessage(args))
			if err != nil {
				t.Fatalf("%s %s: %v", tool, args, err)
			}
			return c
		}
		for tool, args := range map[string]string{"grep": `{"pattern":"needle"}`, "glob": `{"pattern":"**/*"}`, "list_files": `{"path":".","depth":3}`} {
			got := call(tool, args).Run(t.Context()).Text
			if !strings.Contains(got, "vault.txt") || strings.Contains(got, "vault/x") || strings.Contains(got, "closed") || !strings.Contains(got, "a rule keeps from being read") {
				t.Errorf("%s with %s:\n%s", tool, path, got)
			}
		}
		if got := call("grep", `{"pattern":"needle","path":"vault"}`).Run(t.Context()).Text; !strings.Contains(got, "needle") {
			t.Errorf("a directory that was named, which the gate judges, is passed over:\n%s", got)
		}
	}
}
