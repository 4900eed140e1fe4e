package cli_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// peer is another assistant that uses the tools.
type peer struct {
	t *testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, to mcp.Transport) peer {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	return peer{t, s}
}

// call uses a tool and returns its text; an error of the tool begins with "error: ".
func (p peer) call(tool string, args map[string]any) string {
	p.t.Helper()
	r, err := p.CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "refused: " + err.Error()
	}
	text := ""
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	if r.IsError {
		return "error: " + text
	}
	return text
}

// The built program serves over its pipes, beside a program on a terminal that
// shows what comes, and ends with its input or a signal.
func TestMCP_childProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, "[Agent: main]")
	cmd := s.command("mcp")
	var errs strings.Builder
	cmd.Stderr = &errs
	p := connect(t, &mcp.CommandTransport{Command: cmd})
	if got := p.call("send", map[string]any{"text": "from a peer", "priority": "urgent"}); got != "Message #1 is in the inbox of main." {
		t.Errorf("send: %q", got)
	}
	c.until(t, "🔴 urgent", "1 pending") // what marks its arrival may be gone by now
	if got := p.call("push", map[string]any{"name": "job", "prompt": "say hi"}); !strings.HasPrefix(got, "Queued 'job'") {
		t.Errorf("push: %q", got)
	}
	c.until(t, "1 queued")
	c.typed(t, "/run\r") // the host saw who asked: once is enough
	c.until(t, "From outside", "- job: say hi", "2 pending")
	c.typed(t, "/check\r")
	c.until(t, "outside-mcp", "external", "from a peer")
	if got := p.call("check", nil); got != "No messages ready." {
		t.Errorf("check: %q", got)
	}
	if err := p.Close(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if errs.Len() > 0 || !cmd.ProcessState.Success() {
		t.Errorf("%v, errors %q", cmd.ProcessState, errs.String())
	}

	cmd = s.command("mcp")
	p = connect(t, &mcp.CommandTransport{Command: cmd})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	_ = p.Close()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}
