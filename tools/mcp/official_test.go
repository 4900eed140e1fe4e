package mcp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/tools"
)

// official is a server of the protocol's own authors, from npm, where the tests have them.
func official(t *testing.T, name string, args ...string) Server {
	t.Helper()
	dir := os.Getenv("FANTAIL_TEST_ADAPTERS")
	bin := filepath.Join(dir, "node_modules", ".bin", "mcp-server-"+name)
	if _, err := os.Stat(bin); dir == "" || err != nil {
		t.Skipf("SKIPPED: the official server %s is not installed (FANTAIL_TEST_ADAPTERS)", name)
	}
	return Server{Name: name, Own: true, Command: bin, Args: args, Timeout: time.Minute}
}

func TestOfficial_everything(t *testing.T) {
	b := open(t, Options{}, official(t, "everything"))
	b.env.Ask = func(_ context.Context, _, _ string, q tools.Question) (string, error) {
		if slices.ContainsFunc(q.Options, func(o tools.Option) bool { return o.Label == "leave it out" }) {
			return "leave it out", nil
		}
		return "Ada", nil
	}
	if err := b.Reconnect(t.Context(), "everything"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, args, says string }{
		{"echo", `{"message":"hello"}`, "hello"},
		{"get-sum", `{"a":2,"b":40}`, "42"},
		{"get-tiny-image", `{}`, "[an image (image/png, "},
		{"get-structured-content", `{"location":"New York"}`, "temperature"},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "[the resource demo://resource/"},
		{"trigger-long-running-operation", `{"duration":1,"steps":3}`, "completed"},
		{"read_resource", `{}`, "demo://"},
	} {
		name := "mcp__everything__" + c.tool
		if _, is := b.Borrow(name); !is {
			t.Errorf("it has no %s", c.tool)
			continue
		}
		if r, _ := b.call(t.Context(), name, c.args); r.Error || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: %+v", c.tool, r)
		}
	}
	if _, is := b.Borrow("mcp__everything__trigger-elicitation-request"); is {
		if r, _ := b.call(t.Context(), "mcp__everything__trigger-elicitation-request", `{}`); r.Error || !strings.Contains(r.Text, "Ada") {
			t.Errorf("%+v", r)
		}
	}
}

// The everything server asks a model where it may, and has no tool for that where it may not.
func TestOfficial_sampling(t *testing.T) {
	s := official(t, "everything")
	const name = "mcp__everything__trigger-sampling-request"
	for _, may := range []bool{false, true} {
		s.Sampling = may
		b := open(t, Options{}, s)
		if err := b.Reconnect(t.Context(), "everything"); err != nil {
			t.Fatal(err)
		}
		b.env.Sample = func(_ context.Context, _ string, q tools.SampleRequest) (tools.SampleReply, error) {
			if q.From != "everything" || q.Most != 64 || !strings.Contains(q.Said[0].Text, "what is six by seven?") {
				t.Errorf("%+v", q)
			}
			return tools.SampleReply{Text: "forty-two", Model: "test/model"}, nil
		}
		if _, is := b.Borrow(name); is != may {
			t.Fatalf("it has the tool: %v", is)
		}
		if !may {
			continue
		}
		if r, _ := b.call(t.Context(), name, `{"prompt":"what is six by seven?","maxTokens":64}`); r.Error || !strings.Contains(r.Text, "forty-two") || !strings.Contains(r.Text, "test/model") {
			t.Errorf("%+v", r)
		}
	}
}

func TestOfficial_filesystem(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("in the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Root: root}, official(t, "filesystem", root))
	if err := b.Reconnect(t.Context(), "filesystem"); err != nil {
		t.Fatal(err)
	}
	if r, _ := b.call(t.Context(), "mcp__filesystem__read_text_file", `{"path":"`+root+`/a"}`); r.Error || !strings.Contains(r.Text, "in the file") {
		t.Errorf("%+v", r)
	}
	if r, _ := b.call(t.Context(), "mcp__filesystem__read_text_file", `{"path":"/etc/passwd"}`); !r.Error {
		t.Errorf("%+v", r)
	}
}

func TestOfficial_memory(t *testing.T) {
	s := official(t, "memory")
	s.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
	b := open(t, Options{}, s)
	if err := b.Reconnect(t.Context(), "memory"); err != nil {
		t.Fatal(err)
	}
	b.call(t.Context(), "mcp__memory__create_entities", `{"entities":[{"name":"Fantail","entityType":"bird","observations":["it fans its tail"]}]}`)
	if r, _ := b.call(t.Context(), "mcp__memory__read_graph", `{}`); r.Error || !strings.Contains(r.Text, "it fans its tail") {
		t.Errorf("%+v", r)
	}
}
