package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/files"
	"fantail/tools/secret"
)

// No part of a key in a file reaches a model: not the whole, not its beginning where a line is cut, and not by whether
// a search finds it.
func TestFiles_showNoKey(t *testing.T) {
	const key = "sk-work-0123456789-abcdefghijklmnop"
	for _, path := range []string{os.Getenv("PATH"), ""} {
		e := place(t)
		e.Environ[0] = "PATH=" + path // without it there is no ripgrep
		e.Keys = secret.New([]string{"WORK_LLM"}, func(string) string { return key })
		put(t, e.Root+"/notes.txt", "one\nkey = "+key+" # mine\nthree\n")
		put(t, e.Root+"/long.txt", strings.Repeat("x", files.PageLineWidth-20)+key+"\n")
		put(t, e.Root+"/wide.txt", strings.Repeat("needle", (files.SearchLineWidth-20)/6)+key+"\n")
		for name, r := range map[string]Result{
			"read": ok(t, e, "read_file", "path", "notes.txt"), "a cut line": ok(t, e, "read_file", "path", "long.txt"),
			"grep": ok(t, e, "grep", "pattern", "mine"), "grep in one": ok(t, e, "grep", "pattern", "mine", "path", "notes.txt", "context", 2),
			"a cut match": ok(t, e, "grep", "pattern", "needle"), "around": ok(t, e, "grep", "pattern", "three", "context", 1),
			"bash": ok(t, e, "bash", "command", "while read -r l; do echo \"$l\"; done <notes.txt"),
		} {
			if strings.Contains(r.Text, key[:10]) {
				t.Errorf("%s: %.400q", name, r.Text)
			}
		}
		if got := ok(t, e, "read_file", "path", "notes.txt").Text; !strings.Contains(got, "key = [redacted: WORK_LLM] # mine") || !strings.Contains(got, "3\tthree") {
			t.Errorf("%q", got)
		}
		for _, p := range []string{"sk-work-0", "key = sk", "abcdefghijklmnop"} {
			for _, how := range [][]any{{}, {"files_only", true}, {"context", 1}} {
				if got := ok(t, e, "grep", append(how, "pattern", p)...).Text; !strings.HasPrefix(got, "[no match") {
					t.Errorf("%s, %v: a search tells what is in the key: %q", p, how, got)
				}
			}
		}
	}
}

// A mark that a model read must not replace the key in the file.
func TestWrite_refusesMarks(t *testing.T) {
	e := place(t)
	e.Keys = secret.New([]string{"WORK_LLM", "UNSET"}, func(n string) string {
		return map[string]string{"WORK_LLM": "sk-work-0123456789"}[n]
	})
	put(t, e.Root+"/.envish", "A=1\nKEY=sk-work-0123456789\n")
	ok(t, e, "read_file", "path", ".envish")
	for _, c := range [][]any{
		{"write_file", "path", ".envish", "content", "A=2\nKEY=[redacted: WORK_LLM]\n"},
		{"edit_file", "path", ".envish", "old", "A=1", "new", "A=2 [redacted: WORK_LLM]"},
	} {
		if got := refuses(t, e, c[0].(string), c[1:]...); !strings.Contains(got, "kept from you") {
			t.Errorf("%v: %s", c, got)
		}
	}
	if got := text(t, filepath.Join(e.Root, ".envish")); got != "A=1\nKEY=sk-work-0123456789\n" {
		t.Errorf("the file holds %q", got)
	}
	ok(t, e, "write_file", "path", "doc.md", "content", "a mark is [redacted: NAME], such as [redacted: UNSET]\n")
}
