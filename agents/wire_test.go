package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/builtin"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
	"fantail/inbox"
	"fantail/tools/permission"
)

// TestWire_modelDoesTheMainJob: over real HTTP, with both protocols, the model
// itself pushes, runs, receives, edits a file and checks.
// Spec: N-8.
func TestWire_modelDoesTheMainJob(t *testing.T) {
	for name, provider := range map[string]func(base string) llm.Provider{
		"anthropic": func(base string) llm.Provider {
			return llm.Retry(anthropic.New(anthropic.Options{Key: "k", BaseURL: base}), llm.RetryOptions{})
		},
		"openai": func(base string) llm.Provider {
			return llm.Retry(openai.New(openai.Options{Key: "k", BaseURL: base + "/v1"}), llm.RetryOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Server{Answer: llmtest.Script}
			base, stop, err := s.Start()
			check(t, err)
			defer stop()
			w := open(t, provider(base), setting{})
			file := filepath.Join(w.Dir, "greeting.txt")
			check(t, os.WriteFile(file, []byte("hello old world\n"), 0o644))
			w.Prompt(strings.Join([]string{
				`think I shall fan out`,
				`call push {"name":"kid","prompt":"say kid was here"}`,
				`call push {"name":"sib","prompt":"say sib was here","deliver":"hold"}`,
				`call run {"count":1}`,
				`call receive {"from":"kid"}`,
				`call read_file {"path":"greeting.txt"}`,
				`and grep {"pattern":"hello"}`,
				`call edit_file {"path":"greeting.txt","edits":[{"old":"old world","new":"new world"}]}`,
				`call receive {"from":"sib"}`,
				`call check {}`,
				`say all done`,
			}, "\n"))
			w.Settle()
			es := w.Entries("main")
			var results []string
			for _, e := range es {
				if e.Result != nil {
					results = append(results, e.Result.Text)
				}
			}
			if len(results) != 9 || !strings.Contains(results[3], "kid was here") || !strings.Contains(results[7], "sib was here") || results[8] != "No messages ready." {
				t.Fatalf("results %q\n%s", results, kinds(es))
			}
			if got, _ := os.ReadFile(file); string(got) != "hello new world\n" {
				t.Errorf("the file holds %q", got)
			}
			if last := es[len(es)-2]; !strings.Contains(last.Text, "all done") {
				t.Errorf("last text %q", last.Text)
			}
		})
	}
}

// A picture that a tool puts out goes over the wire of each protocol to a model that takes pictures, with each request that
// has the result in it, also after the host was killed; no other model gets it. The transcript does not hold its bytes.
func TestWire_pictures(t *testing.T) {
	for name, provider := range map[string]func(base string) llm.Provider{
		"anthropic": func(base string) llm.Provider { return anthropic.New(anthropic.Options{Key: "k", BaseURL: base}) },
		"openai":    func(base string) llm.Provider { return openai.New(openai.Options{Key: "k", BaseURL: base + "/v1"}) },
	} {
		for _, sees := range []bool{true, false} {
			t.Run(fmt.Sprint(name, sees), func(t *testing.T) {
				s := &llmtest.Server{Answer: llmtest.Script}
				base, stop, err := s.Start()
				check(t, err)
				defer stop()
				shown := func() (n int) {
					all := s.Requests()
					for _, m := range all[len(all)-1].Messages {
						for _, p := range m.Parts {
							if r, is := p.(llm.ToolResult); is {
								n += len(r.Images)
							}
						}
					}
					return n
				}
				want := map[bool]int{true: 1}[sees]
				l := &lender{}
				l.lends("mcp__db__shows")
				set := setting{Mode: permission.Yolo, Lends: l, Sees: sees}
				w := open(t, provider(base), set)
				w.Prompt("call mcp__db__shows {}\nsay done")
				w.Settle()
				if shown() != want {
					t.Errorf("%d pictures are sent", shown())
				}
				for _, e := range w.Entries("main") {
					if row, err := json.Marshal(e); err != nil || strings.Contains(string(row), onePoint[:40]) {
						t.Errorf("%s, %v", row, err)
					}
				}
				w.Close()
				set.Dir = w.Dir
				w = open(t, provider(base), set)
				w.Main()
				w.Prompt("say again")
				w.Settle()
				if shown() != want {
					t.Errorf("%d pictures are sent after a restart", shown())
				}
			})
		}
	}
}

// TestBuiltin_doesTheMainJob is the same with no model at all.
func TestBuiltin_doesTheMainJob(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	check(t, os.WriteFile(filepath.Join(w.Dir, "notes.txt"), []byte("TODO: sing\n"), 0o644))
	w.Push("ok", "run echo fine")
	w.Push("bad", "run echo oh no; exit 3")
	w.Push("todo", "grep TODO")
	w.Run(2)
	w.Settle()
	bodies := map[string]string{}
	for range 3 {
		m, err := w.Pool.Pickup.Receive(t.Context(), w.Main(), inbox.Query{})
		check(t, err)
		bodies[m.From] = m.Body + m.Error
	}
	for name, want := range map[string]string{"ok": "fine", "bad": "oh no", "todo": "notes.txt"} {
		if !strings.Contains(bodies[name], want) {
			t.Errorf("%s says %q, want %q in it", name, bodies[name], want)
		}
	}
	w.Prompt("delegate kid: run echo from below")
	w.Settle()
	w.Prompt("say hello")
	w.Settle()
	es := w.Entries("main")
	if got := kinds(es); !strings.HasSuffix(got, "message prompt text ended") {
		t.Errorf("entries %s", got)
	}
}
