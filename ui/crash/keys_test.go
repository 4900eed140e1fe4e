package crash

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/secret"
	"fantail/ui/cells"
)

const workKey = "w0rk+llm/0123456789&key"

// formsOf returns the forms of a key that must not appear anywhere.
func formsOf(key string) []string {
	js, _ := json.Marshal(key)
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	return []string{key, strings.Trim(string(js), `"`), strings.TrimRight(coded, "="), fmt.Sprintf("%x", key)}
}

// A crash file, also the runtime's own, contains no key: neither one that was set with Withhold, nor the value of a
// variable whose name says that it is one.
func TestNoKeyIsInCrashFiles(t *testing.T) {
	dir := t.TempDir()
	env := []string{"WORK_LLM=" + workKey, "OTHER_TOKEN=tok-0123456789", "PLAIN=plain-0123456789"}
	var out bytes.Buffer
	g := New(env, Options{Out: &out, Clean: cells.Clean})
	g.CrashIn(dir)
	g.Withhold(secret.New([]string{"WORK_LLM"}, func(string) string { return workKey }))
	text := "tok-0123456789 plain-0123456789 " + base64.StdEncoding.EncodeToString([]byte("tok-0123456789"+workKey)) + strings.Join(formsOf(workKey), "\n")
	g.Fault("the worker: "+workKey, text)
	if err := os.WriteFile(filepath.Join(dir, "fatal.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	why, err := g.keep(filepath.Join(dir, "fatal.txt"), filepath.Join(dir, "last.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g.say(why)
	g.Say()
	if got := g.Text("no " + workKey); got != "no [redacted: WORK_LLM]" {
		t.Errorf("an error would print %q", got)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range append(formsOf(workKey), "tok-0123456789", base64.RawStdEncoding.EncodeToString([]byte("tok-0123456789"))[:16]) {
			if strings.Contains(string(b)+out.String(), form) {
				t.Errorf("%s or what is said holds %q", filepath.Base(name), form)
			}
		}
		if !strings.Contains(string(b), "plain-0123456789") || !strings.Contains(string(b), "[redacted: OTHER_TOKEN]") || !strings.Contains(string(b), "[redacted: WORK_LLM]") {
			t.Errorf("%s: %s", filepath.Base(name), b)
		}
	}
}
