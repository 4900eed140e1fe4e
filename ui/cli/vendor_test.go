package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

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
