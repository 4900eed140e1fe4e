package cli

import (
	"os"
	"path/filepath"
	"testing"

	"fantail/tools/sandbox"
)

// TestKeyNames_closed: in the sandbox of an agent's command the configuration can't be read, and mail leaves all the same;
// elsewhere that is an error.
func TestKeyNames_closed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "fantail", "config.toml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("sandbox = \"landlock\"\n"), 0); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir}
	look := func(name string) string { return env[name] }
	if _, err := keyNames(look); err == nil {
		t.Error("a configuration that can't be read is none")
	}
	env[sandbox.MailEnv] = dir
	if names, err := keyNames(look); err != nil || len(names) == 0 {
		t.Errorf("%q, %v", names, err)
	}
}
