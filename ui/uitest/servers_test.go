package uitest_test

import (
	"fmt"
	"testing"

	"fantail/ui/uitest"
)

// TestServersFrames: /mcp lists what .mcp.json configures; what is not trusted says how it comes to be, and is once it was
// agreed to; what is wrong shows with its place.
func TestServersFrames(t *testing.T) {
	t.Parallel()
	files := map[string]string{".mcp.json": `{"mcpServers": {
  "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "docs"], "env": {"LEVEL": "${LEVEL:-info}"}},
  "search": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"X-Team": "blue"}},
  "old": {"type": "sse", "url": "https://mcp.example.com/sse"}
}, "enableAllProjectMcpServers": true}`}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			play(t, uitest.Options{W: size[0], H: size[1], Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
				s.Enter("think") // else the path of the workspace stands behind it
				s.See("Done thinking.")
				s.Enter("/mcp")
				s.See("MCP servers")
				s.See("not trusted yet")
				s.Golden(fmt.Sprintf("mcp-%d", size[0]))
				s.Press("t")
				s.See("Trust this repository?")
				s.Golden(fmt.Sprintf("mcp-trust-%d", size[0]))
				for range 9 { // a yes counts once all of it was there to be read
					s.Press("pgdown")
				}
				s.Press("y")
				s.See("not started yet")
				s.Press("esc")
				s.Enter("/mcp list")
				s.See("unasked") // the last line; on a narrow screen the first is above
			})
		})
	}
}
