package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const workKey = "w0rk+llm/0123456789&key"

// working is a site whose configuration names a variable of the user's own choice.
func working(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.env = append(s.env, "WORK_LLM="+workKey, "COPY=Bearer "+workKey, "MY_SETTING=1")
	var dir string
	for _, e := range s.env {
		if d, ok := strings.CutPrefix(e, "XDG_CONFIG_HOME="); ok {
			dir = filepath.Join(d, "fantail")
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[providers.work]\nprotocol = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_env = \"WORK_LLM\"\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// kept is every byte of what the program keeps.
func (s *site) kept(t *testing.T) (all []byte) {
	t.Helper()
	for _, e := range s.env {
		name, dir, _ := strings.Cut(e, "=")
		if name != "XDG_DATA_HOME" && name != "XDG_STATE_HOME" && name != "XDG_RUNTIME_DIR" && name != "TMPDIR" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var b []byte
				b, err = os.ReadFile(path)
				all = append(append(all, path...), b...)
			}
			if os.IsNotExist(err) {
				err = nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// formsOf lists what must not stand anywhere.
func formsOf(key string) []string {
	js, _ := json.Marshal(key)
	coded := base64.StdEncoding.EncodeToString([]byte(key))
	return []string{key, strings.Trim(string(js), `"`), strings.TrimRight(coded, "="), fmt.Sprintf("%x", key)}
}

func TestKeys_ofTheUsersOwnProvider(t *testing.T) {
	t.Parallel()
	s := working(t)
	if err := os.WriteFile(filepath.Join(s.dir, "notes.txt"), []byte("the key is "+workKey+".\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input string
		args  []string
		want  string // of what is printed
	}{
		{"", []string{"-p", "--yolo", "run env"}, "HOME="},
		{"", []string{"-p", "--yolo", "--output-format", "stream-json", "run env; cat notes.txt; cat notes.txt | base64 -w 20"}, "[redacted: WORK_LLM]"},
		{"", []string{"-p", "read notes.txt"}, "the key is [redacted: WORK_LLM]."},
		{"", []string{"-p", "say it is " + workKey}, "it is [redacted: WORK_LLM]"},
		{"fail with " + workKey, []string{"-p"}, "with [redacted: WORK_LLM]"},
		{"", []string{"-p", "x", "--model", workKey}, "[redacted: WORK_LLM]"},
		{"", []string{"-p", "say hi", "--model", "work/m-" + workKey}, "gave up after 2 tries"},
		{"", []string{"send", "main", "take " + workKey}, "inbox of main"},
		{workKey, []string{"send", "main"}, "inbox of main"},
		{"", []string{"push", "name=later", "use " + workKey}, "later"},
		{"", []string{"inbox", "--json"}, "take [redacted: WORK_LLM]"},
		{"", []string{"show", "1"}, "take [redacted: WORK_LLM]"},
		{"", []string{"send", workKey, "x"}, "[redacted: WORK_LLM]"},
		{"", []string{"queue", "--json"}, "use [redacted: WORK_LLM]"},
		{"", []string{"-p", "memory a: " + workKey}, ""},
	} {
		out, errs, _ := s.run(t, c.input, c.args...)
		for _, form := range formsOf(workKey) {
			if strings.Contains(out+errs, form) {
				t.Errorf("%q prints the key as %q", c.args, form)
			}
		}
		if !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: no %q in %q, %q", c.args, c.want, out, errs)
		}
		if strings.Contains(out, "WORK_LLM=") || strings.Contains(out, "COPY=") || strings.Contains(out, "MY_SETTING=") {
			t.Errorf("%q: a command nobody attends has %q", c.args, out)
		}
	}
	all := s.kept(t)
	if !bytes.Contains(all, []byte("[redacted: WORK_LLM]")) || !bytes.Contains(all, []byte("HOME=")) {
		t.Error("what the program keeps was not looked into")
	}
	for _, form := range formsOf(workKey) {
		if i := bytes.Index(all, []byte(form)); i >= 0 {
			t.Errorf("it keeps the key as %q: %q", form, all[max(0, i-200):i])
		}
	}
}

// What is typed on a screen is sent, shown and remembered without keys.
func TestKeys_typedOnTheScreen(t *testing.T) {
	t.Parallel()
	s := working(t)
	s.shows(t, []string{"--model", "builtin", "--yolo"}, nil,
		[2]string{"say it is " + workKey + "\r", "it is [redacted: WORK_LLM]"},
		[2]string{"!echo /" + workKey + "/; echo $MY_SETTING-$COPY-\r", "1--"},
		[2]string{"/push name=x say " + workKey + "\r", "Queued x"},
	)
	all := s.kept(t)
	if !bytes.Contains(all, []byte(`"!echo /[redacted: WORK_LLM]/; `)) {
		t.Error("the history was not looked into")
	}
	for _, form := range formsOf(workKey) {
		if i := bytes.Index(all, []byte(form)); i >= 0 {
			t.Errorf("it keeps the key as %q: %q", form, all[max(0, i-200):i])
		}
	}
}

// TestKeys_whereTheConfigurationIsWrong: what can't be read hides no key. A variable that
// says nonsense leaves the file's names; a file that can't be read at all keeps an errand
// from writing anything down.
func TestKeys_whereTheConfigurationIsWrong(t *testing.T) {
	t.Parallel()
	send := []string{"send", "main", "the key is " + workKey}
	t.Run("a variable", func(t *testing.T) {
		s := working(t)
		s.env = append(s.env, "FANTAIL_PERMISSION_MODE=nonsense")
		if _, errs, code := s.run(t, "", send...); code != ok {
			t.Errorf("exit code %d, errors %q", code, errs)
		}
		if bytes.Contains(s.kept(t), []byte(workKey)) {
			t.Error("the key is kept")
		}
	})
	t.Run("the file", func(t *testing.T) {
		s := working(t)
		for _, e := range s.env {
			if d, is := strings.CutPrefix(e, "XDG_CONFIG_HOME="); is {
				if err := os.WriteFile(filepath.Join(d, "fantail", "config.toml"), []byte("[providers.work\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		_, errs, code := s.run(t, "", send...)
		if code == ok || !strings.Contains(errs, "config.toml") {
			t.Errorf("exit code %d, errors %q", code, errs)
		}
		if bytes.Contains(s.kept(t), []byte(workKey)) {
			t.Error("the key is kept")
		}
	})
}
