package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/sandbox"
)

// vendor has the site know a vendor's agent.
func (s *site) vendor(t *testing.T, more string) *site {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[agents.claude]\ncommand = [%q]\nenv = [%q]\n%s", self, childEnv, more)
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.with(childEnv + "=acp")
}

// The tools for mail and the queue reach the program of another vendor's agent, in a sandbox and outside; what it does with
// them it does as the agent that it is, which the host sees by its parents.
func TestVendor_mcp(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"boxed": "write = [\"~/.kept/deep/\"]\n", "landlock": "", "free": "sandbox = \"off\"\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t).vendor(t, more)
			if name == "landlock" { // where no program in a sandbox makes a socket
				if wall := sandbox.Find(t.Context(), sandbox.Landlock); wall.Level() == sandbox.None {
					t.Skip(wall.Why())
				}
				s = s.with("FANTAIL_SANDBOX=landlock")
			}
			c := open(t, s.command())
			c.until(t, "[Agent: main]")
			c.typed(t, "/agent new dora agent=claude\r")
			c.until(t, "[Agent: dora")
			if _, errs, code := s.run(t, "", "send", "dora", "the build is red"); code != ok {
				t.Fatal(errs)
			}
			c.until(t, "1 pending")
			c.typed(t, "\x1b[200~"+`send {"to":["main"],"message":"hello of dora"}`+"\n"+`check {}`+"\x1b[201~\r")
			c.until(t, "check: <message", "the build is red", "send: Message #2 is in the inbox of main")
			if found, _ := filepath.Glob(filepath.Join(s.data(t), "post", "*", "token")); len(found) > 0 != (name == "landlock" || name == "boxed" && !mounts(t)) {
				t.Errorf("that its parents tell whose program it is: %v", len(found) == 0)
			}
			if _, err := os.Stat(filepath.Join(s.getenv("HOME"), ".kept", "deep")); name == "boxed" && err != nil {
				t.Error("what it keeps can't be written: ", err)
			}
			out, errs, code := s.run(t, "", "check", "--peek")
			if code != ok || !strings.Contains(out, "dora") || !strings.Contains(out, "hello of dora") {
				t.Errorf("%s%s", out, errs)
			}
		})
	}
	if out, errs, code := newSite(t).run(t, "", "mcp", "--agent"); code == ok || out != "" || !strings.Contains(errs, "there is no agent here") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

// mounts reports whether a sandbox with mounts of its own works here.
func mounts(t *testing.T) bool {
	t.Helper()
	return sandbox.Find(t.Context(), sandbox.Bubblewrap).Level() != sandbox.None || sandbox.Find(t.Context(), sandbox.Namespaces).Level() != sandbox.None
}

// An adapter that lies in the temporary directory runs in its sandbox, which has another one in that place: it finds what it
// comes with, above it and where links lead.
func TestVendor_inTemporary(t *testing.T) {
	t.Parallel()
	if !mounts(t) {
		t.Skip("no sandbox with mounts works here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("/tmp", "fantail-adapter")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	at := func(name string) string { return filepath.Join(base, name) }
	put(t, at("pack/package.json"), "{}")
	put(t, at("pack/dist/run"), "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")\"/../node_modules/dep/adapter \"$@\"\n")
	put(t, at("pack/node_modules/dep/package.json"), "{}")
	put(t, at("bin/other"), "")
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(at("pack/node_modules/dep/adapter"), binary, 0o700), os.Chmod(at("pack/dist/run"), 0o700), os.Symlink("../pack/dist/run", at("bin/claude-agent")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t).vendor(t, "")
	config := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail/config.toml")
	put(t, config, fmt.Sprintf("[agents.claude]\ncommand = [%q]\nenv = [%q]\n", at("bin/claude-agent"), childEnv))
	out, errs, code := s.run(t, "", "-p", "--agent", "claude", "check {}")
	if code != ok || !strings.Contains(out, "check:") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
