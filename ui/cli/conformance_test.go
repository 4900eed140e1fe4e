package cli

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/ui/uitest/adapters"
)

// unlike are the suite's scenarios for servers that this server does not go through, and what the suite says then. Most
// call for what only the suite's own example has: its tools, its prompts, its resources. Completion and subscriptions are
// not offered: there is nothing here to complete, and no resource that changes.
var unlike = map[string]string{
	"tools-call-simple-text":        `unknown tool "test_simple_text"`,
	"tools-call-image":              `unknown tool "test_image_content"`,
	"tools-call-audio":              `unknown tool "test_audio_content"`,
	"tools-call-embedded-resource":  `unknown tool "test_embedded_resource"`,
	"tools-call-mixed-content":      `unknown tool "test_multiple_content_types"`,
	"tools-call-with-logging":       `unknown tool "test_tool_with_logging"`,
	"tools-call-error":              `unknown tool "test_error_handling"`,
	"tools-call-with-progress":      `unknown tool "test_tool_with_progress"`,
	"tools-call-sampling":           `unknown tool "test_sampling"`,
	"tools-call-elicitation":        `unknown tool "test_elicitation"`,
	"elicitation-sep1034-defaults":  `unknown tool "test_elicitation_sep1034_defaults"`,
	"elicitation-sep1330-enums":     `unknown tool "test_elicitation_sep1330_enums"`,
	"json-schema-2020-12":           `Tool 'json_schema_2020_12_tool' not found`,
	"prompts-get-simple":            `unknown prompt "test_simple_prompt"`,
	"prompts-get-with-args":         `unknown prompt "test_prompt_with_arguments"`,
	"prompts-get-embedded-resource": `unknown prompt "test_prompt_with_embedded_resource"`,
	"prompts-get-with-image":        `unknown prompt "test_prompt_with_image"`,
	"resources-read-text":           "Resource not found",
	"resources-read-binary":         "Resource not found",
	"resources-templates-read":      "Resource not found",
	"resources-subscribe":           `method not found: "resources/subscribe"`,
	"resources-unsubscribe":         `method not found: "resources/subscribe"`,
	"completion-complete":           `method not found: "completion/complete"`,
}

// The server goes through the protocol's own suite, but for what the table names, and fails there for that reason. The
// suite speaks HTTP, this server only over pipes: here the protocol's library carries the same server over HTTP.
func TestOfficial_conformance(t *testing.T) {
	bin, results := adapters.Path(t), t.TempDir()
	program := filepath.Join(bin, "..", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		t.Skip("SKIPPED: the protocol's conformance suite is not installed (" + adapters.Env + ")")
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c := &Server{
		Env:  func(string) string { return "" },
		Door: &mail.Client{DB: db, Origin: tasks.OriginMCP, Model: "builtin", Ring: func() {}},
	}
	c.Push, c.Mail = c.Door.Push, c.Door.Mail
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return c.server() }, nil))
	t.Cleanup(web.Close)
	run := exec.CommandContext(t.Context(), filepath.Join(bin, "node"), program, "server", "--url", web.URL, "--suite", "all", "--output-dir", results)
	run.WaitDelay = time.Second
	out, _ := run.CombinedOutput() // it fails where a scenario does: what became of each is read below
	found, err := filepath.Glob(filepath.Join(results, "server-*", "checks.json"))
	if err != nil || len(found) < 30 {
		t.Fatalf("%v: %d results\n%s", err, len(found), out)
	}
	left := maps.Clone(unlike)
	for _, path := range found {
		var checks []struct{ ID, Status, ErrorMessage string }
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &checks)
		}
		if err != nil {
			t.Fatal(path, err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "server-"), "-20")
		if strings.HasPrefix(name, "json-schema") { // a year is in its name
			name = "json-schema-2020-12"
		}
		why, is := unlike[name]
		delete(left, name)
		failed := false
		for _, c := range checks {
			if c.Status == "FAILURE" && (!is || !strings.Contains(c.ErrorMessage, why)) {
				t.Errorf("%s, %s: %s", name, c.ID, c.ErrorMessage)
			}
			failed = failed || c.Status == "FAILURE"
		}
		if is && !failed {
			t.Errorf("%s passes, and the table says that it does not", name)
		}
	}
	for name := range left {
		t.Errorf("the suite has no scenario %s any more", name)
	}
}
