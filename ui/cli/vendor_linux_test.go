package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/agents/acp/acptest"
)

// speak is another vendor's agent in a process of its own, which calls the tools that its prompt names, a line each.
func speak(in io.Reader, out io.Writer) error {
	a := &acptest.Agent{}
	a.Turn = func(t *acptest.Turn) string {
		var servers []struct {
			Command string
			Args    []string
			Env     []struct{ Name, Value string }
		}
		if err := json.Unmarshal([]byte(a.Servers()), &servers); err != nil || len(servers) != 1 {
			t.Say(fmt.Sprint("servers: ", a.Servers(), err))
			return ""
		}
		cmd := exec.Command(servers[0].Command, servers[0].Args...)
		cmd.Env, cmd.Stderr = os.Environ(), os.Stderr
		for _, v := range servers[0].Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "fake"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Say("connect: " + err.Error())
			return ""
		}
		defer s.Close()
		for line := range strings.Lines(t.Prompt) {
			tool, args, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || !strings.HasPrefix(args, "{") {
				continue
			}
			r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
			if err != nil {
				t.Say(err.Error())
				continue
			}
			t.Say(tool + ": " + r.Content[0].(*mcp.TextContent).Text + "\n\n")
		}
		return ""
	}
	return a.Serve(in, out)
}

// agents has the site know a vendor's agent.
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
	for name, more := range map[string]string{"boxed": "", "free": "sandbox = \"off\"\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t).vendor(t, more)
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
			if found, _ := filepath.Glob(filepath.Join(s.data(t), "post", "*", "token")); len(found) > 0 {
				t.Error("it could not be told by its parents whose program it is")
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
