package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args) // as the first process of a sandbox
	goleak.VerifyTestMain(m)
}

// place makes a Runtime with a workspace, and next to it a home and a private directory.
func place(t testing.TB) *Runtime {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &Runtime{
		Root: top + "/work", Outputs: top + "/data/outputs/1", Private: []string{top + "/data", top + "/config"}, Seen: files.NewSeen(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top + "/home"},
	}
	for _, d := range []string{e.Root, e.Outputs, top + "/config", top + "/home/.ssh", top + "/else"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for p, s := range map[string]string{
		"data/fantail.db": "SECRET-DB", "data/fantail.db-wal": "SECRET-WAL", "data/fantail.db-shm": "SECRET-SHM", "config/config.toml": "SECRET-CONFIG",
		"home/.ssh/id_rsa": "SECRET-KEY", "home/.netrc": "SECRET-NETRC", "else/other.txt": "other\n", "data/outputs/1/call.out": "output\n", "data/outputs/2.out": "SECRET-OTHER",
	} {
		put(t, filepath.Join(top, p), s)
	}
	return e
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func text(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// args makes a call's arguments of name, value, name, value, …
func args(t testing.TB, kv ...any) json.RawMessage {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parse is a call that parses.
func parse(t testing.TB, e *Runtime, name string, kv ...any) *Call {
	t.Helper()
	c, err := New().Parse(e, "call", name, args(t, kv...))
	if err != nil {
		t.Fatalf("%s %v: %v", name, kv, err)
	}
	return c
}

// do parses a call and runs it as if the gate had allowed it.
func do(t testing.TB, e *Runtime, name string, kv ...any) Result {
	t.Helper()
	return parse(t, e, name, kv...).Run(t.Context())
}

// ok is do for a call that must work.
func ok(t testing.TB, e *Runtime, name string, kv ...any) Result {
	t.Helper()
	r := do(t, e, name, kv...)
	if r.Error {
		t.Fatalf("%s %v: %s", name, kv, r.Text)
	}
	return r
}

// refuses runs a call that must fail, at any stage, and returns the model's text.
func refuses(t testing.TB, e *Runtime, name string, kv ...any) string {
	t.Helper()
	c, err := New().Parse(e, "call", name, args(t, kv...))
	if err != nil {
		return err.Error()
	}
	r := c.Run(t.Context())
	if !r.Error {
		t.Errorf("%s %v worked: %s", name, kv, r.Text)
	}
	return r.Text
}

func TestSpecs(t *testing.T) {
	want := []string{"read_file", "write_file", "edit_file", "list_files", "glob", "grep", "bash", "push", "run", "queue", "delegate", "send", "receive", "check", "list_messages", "read_message", "reply_to_message", "memory", "schedule", "ask_user", "skill"}
	readOnly := []string{"read_file", "list_files", "glob", "grep", "list_messages"}
	var got []string
	for _, s := range New().Specs() {
		got = append(got, s.Name)
		if len(s.Description) < 40 || len(s.Description) > 1200 {
			t.Errorf("%s is described in %d bytes", s.Name, len(s.Description))
		}
		if s.ReadOnly != slices.Contains(readOnly, s.Name) {
			t.Errorf("%s: ReadOnly is %v", s.Name, s.ReadOnly)
		}
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
			Additional *bool                      `json:"additionalProperties"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Errorf("%s: the schema is not JSON: %v", s.Name, err)
		}
		if schema.Type != "object" || schema.Properties == nil || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: the schema is no closed object: %s", s.Name, s.Schema)
		}
		if regexp.MustCompile(`"type":\s*\[|anyOf|oneOf|allOf|\$ref`).Match(s.Schema) {
			t.Errorf("%s: the schema is not plain: %s", s.Name, s.Schema)
		}
		for _, r := range schema.Required {
			if _, ok := schema.Properties[r]; !ok {
				t.Errorf("%s requires %q, which it does not have", s.Name, r)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tools are %v, want %v", got, want)
	}
}

func TestParse_badArguments(t *testing.T) {
	e := place(t)
	for _, c := range []struct{ tool, args, says string }{
		{"raed_file", `{}`, "the tools are read_file, write_file"},
		{"read_file", ``, `"path" is missing`},
		{"read_file", `null`, `"path" is missing`},
		{"read_file", `[]`, "must be an object, not array"},
		{"read_file", `"main.go"`, "must be an object"},
		{"read_file", `{"path":`, "not valid JSON"},
		{"read_file", `{"path":"a"} {}`, "text behind"},
		{"read_file", `{"path":3}`, `"path" must be a string, not number`},
		{"read_file", `{"path":"a","limit":"three"}`, `"limit" must be a whole number, not string`},
		{"delegate", `{"prompt":"p","timeout":"soon"}`, `"timeout" must be a whole number, not string`},
		{"read_file", `{"path":"a","limit":1.5}`, `"limit" must be a whole number`},
		{"read_file", `{"path":"a","limit":0}`, `"limit" must be between 1`},
		{"read_file", `{"path":"a","offset":-1}`, `"offset" must be between`},
		{"read_file", `{"file":"a"}`, `no argument "file"; the arguments are path, limit, offset`},
		{"read_file", `{"path":"a\u0000b"}`, "NUL"},
		{"write_file", `{"path":"a"}`, `"content" is missing`},
		{"edit_file", `{"path":"a"}`, `"edits" is empty`},
		{"edit_file", `{"path":"a","edits":{}}`, `"edits" must be an array`},
		{"edit_file", `{"path":"a","edits":[{"old":"","new":"x"}]}`, "old is empty"},
		{"edit_file", `{"path":"a","edits":[{"old":"x","new":"x"}]}`, "the same"},
		{"edit_file", `{"path":"a","old_string":"x"}`, `the arguments are path, edits`},
		{"list_files", `{"depth":0}`, "between 1 and 10"},
		{"glob", `{"pattern":"[a"}`, "malformed"},
		{"glob", `{}`, `"pattern" is missing`},
		{"grep", `{"pattern":"("}`, "RE2"},
		{"grep", `{"pattern":"x","glob":"[a"}`, "malformed"},
		{"grep", `{"pattern":"x","context":99}`, "between 0 and 10"},
		{"bash", `{"command":"  "}`, `"command" is missing`},
		{"bash", `{"command":"x","timeout":601}`, "between 1 and 600"},
		{"bash", `{"command":"a\u0000b"}`, "NUL"},
		{"push", `{}`, `"prompt" is missing`},
		{"push", `{"prompt":"x","deliver":"now"}`, "hold, next, wake"},
		{"push", `{"prompt":"x","timeout":0}`, "between 1"},
		{"run", `{"count":0}`, "between 1"},
		{"queue", `{"x":1}`, "the arguments are remove"},
		{"send", `{"to":"x"}`, `"message" is missing`},
		{"send", `{"to":"x","message":"y","priority":"huge"}`, "low, normal, high, urgent"},
		{"receive", `{"lifo":"yes"}`, "true or false"},
	} {
		_, err := New().Parse(e, "call", c.tool, json.RawMessage(c.args))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want it to say %q", c.tool, c.args, err, c.says)
		}
	}
}

// TestParse_mistyped: a value of another type counts if its meaning is clear, and an error mentions nothing else.
func TestParse_mistyped(t *testing.T) {
	set := New()
	for _, args := range []string{
		`{"prompt":"p","name":"n","timeout":30.0,"start":"true","after":"a"}`,
		`{"prompt":"p","name":"n","timeout":"30","start":"True","after":"[\"a\"]"}`,
		`{"prompt":"p","name":"n","timeout":3e1,"start":true,"after":["a"]}`,
	} {
		d := &toolAgents{}
		c, err := set.Parse(&Runtime{Agents: d}, "c", "push", json.RawMessage(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		c.Run(t.Context())
		want, _ := json.Marshal(Task{Name: "n", Prompt: "p", Timeout: 30 * time.Second, Start: true, After: []string{"a"}})
		if d.asked != string(want) {
			t.Errorf("%s: %s", args, d.asked)
		}
	}
	if _, err := set.Parse(&Runtime{}, "c", "delegate", json.RawMessage(`{"prompt":"p","async":"true"}`)); err != nil {
		t.Error(err)
	}
	_, err := set.Parse(&Runtime{}, "c", "delegate", json.RawMessage(`{"prompt":"p","timeout":3.5}`))
	if err == nil || strings.Contains(err.Error(), "between") {
		t.Errorf("half a second more: %v", err)
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"bash", `{"command":"go test ./..."}`, "bash go test ./..."},
		{"bash", "{\"command\":\"a\\n  b\\u001b[31m\\tc\"}", "bash a b\uFFFD[31m c"},
		{"bash", `{"command":`, "bash"},
		{"bash", `{"command":7}`, "bash"},
		{"read_file", `{"path":"main.go","offset":10,"limit":31}`, "read main.go:10-40"},
		{"read_file", `{"path":"main.go","offset":10}`, "read main.go:10-"},
		{"read_file", `{"path":"main.go"}`, "read main.go"},
		{"edit_file", `{"path":"main.go","edits":7}`, "edit main.go"},
		{"write_file", `{"path":"a"}`, "write a"},
		{"list_files", `{}`, "list ."},
		{"glob", `{"pattern":"*.go","path":"x"}`, "glob *.go in x"},
		{"grep", `{"pattern":"TODO","path":"x","glob":"*.go"}`, "grep TODO in x (*.go)"},
		{"read_message", `{"id":"1"}`, "read message 1"},
		{"read_message", `{"id":12}`, "read message 12"},
		{"read_message", `{"message_id":" 7 "}`, "read message 7"},
		{"read_file", `{"path":"main.go","offset":"10","limit":"31"}`, "read main.go:10-40"},
		{"run", `{"count":"2"}`, "run 2"},
		{"push", `{"name":"tests","prompt":"p"}`, "push tests"},
		{"push", `{"prompt":"p q"}`, "push p q"},
		{"run", `{"count":2}`, "run 2"},
		{"run", `{}`, "run"},
		{"queue", ``, "queue"},
		{"send", `{"to":"auth"}`, "send auth"},
		{"receive", `{"from":"auth"}`, "receive from auth"},
		{"check", `{}`, "check"},
		{"evil\x1b[2J\n", `{}`, "evil\uFFFD[2J"},
	} {
		if got := New().Title(c.tool, json.RawMessage(c.args)); got != c.want {
			t.Errorf("Title(%s, %s) = %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	long := New().Title("bash", args(t, "command", strings.Repeat("ä", 500)))
	if n := len([]rune(long)); n != maxTitle+1 {
		t.Errorf("a long title has %d characters", n)
	}
}

// desk answers with what it was asked.
type toolAgents struct{ asked string }

func (d *toolAgents) Push(_ context.Context, t Task) (string, error) {
	b, _ := json.Marshal(t)
	d.asked = string(b)
	return "pushed", nil
}

func (d *toolAgents) Run(_ context.Context, s Start) (string, error) {
	return strings.Repeat("r", s.Count), nil
}

func (d *toolAgents) Queue(context.Context, string) (string, error) {
	return "", errors.New("the queue is gone")
}

func (d *toolAgents) Delegate(_ context.Context, id string, t Task, mode string) (string, Wait, error) {
	d.asked = strings.Join([]string{d.asked, id, mode, t.Name, t.Prompt, t.Deliver, t.Timeout.String(), strconv.FormatBool(t.Start), strconv.FormatBool(t.Resume)}, "|")
	if mode != "sync" {
		return "dispatched", nil, nil
	}
	return "", func(context.Context) (string, int64, error) { return "its answer", 7, nil }, nil
}

func (d *toolAgents) Send(_ context.Context, m Mail) (string, error) {
	d.asked = strings.Join(m.To, ",") + "|" + m.Body + "|" + m.Priority + "|" + strings.Join(m.Tags, ",")
	return "sent", nil
}

func (d *toolAgents) Reply(_ context.Context, id int64, body string) (string, error) {
	d.asked = fmt.Sprint(id, "|", body)
	return "replied", nil
}

func (d *toolAgents) Messages(_ context.Context, f Filter) (string, error) {
	d.asked = fmt.Sprint(f.From, "|", f.Priority, "|", f.Taken)
	return "listed", nil
}

func (d *toolAgents) Read(_ context.Context, id string, n int64, offset int) (string, int64, error) {
	d.asked = fmt.Sprint(id, "|", n, "|", offset)
	return "read", 9, nil
}

func (d *toolAgents) Memory(_ context.Context, m Memory) (string, error) {
	b, _ := json.Marshal(m)
	d.asked = string(b)
	return "remembered", nil
}

func (d *toolAgents) Schedule(_ context.Context, t Timer) (string, error) {
	b, _ := json.Marshal(t)
	d.asked = string(b)
	return "scheduled", nil
}

func (d *toolAgents) Receive(_ context.Context, id, from string, lifo bool, wait time.Duration) (string, int64, error) {
	if lifo {
		return "", 0, errors.New("nothing can arrive")
	}
	d.asked = id + "|" + from + "|" + wait.String()
	return "mail", 7, nil
}

func (d *toolAgents) Check(_ context.Context, id, from string, lifo bool) (string, int64, error) {
	d.asked = id + "|" + from
	return "all", 8, nil
}

// TestInteractive: what push and delegate request for an agent that waits for input, and what they refuse.
//
// Spec: C-4, C-22.
func TestInteractive(t *testing.T) {
	for _, c := range []struct {
		args string
		want Task
		err  string
	}{
		{`{"prompt":"p"}`, Task{}, ""},
		{`{"prompt":"p","interactive":true}`, Task{Interactive: true}, ""},
		{`{"prompt":"p","interactive":"true","idle":"90"}`, Task{Interactive: true, Idle: 90 * time.Second}, ""},
		{`{"prompt":"p","interactive":true,"idle":0}`, Task{Interactive: true, Idle: Forever}, ""},
		{`{"prompt":"p","interactive":false}`, Task{}, ""},
		{`{"prompt":"p","idle":90}`, Task{}, `"idle" needs "interactive": true`},
		{`{"prompt":"p","interactive":false,"idle":0}`, Task{}, `"idle" needs "interactive": true`},
		{`{"prompt":"p","interactive":true,"idle":-1}`, Task{}, `"idle" must be between 0 and 604800`},
		{`{"prompt":"p","interactive":true,"idle":604801}`, Task{}, `"idle" must be between 0 and 604800`},
		{`{"prompt":"p","interactive":3}`, Task{}, `"interactive" must be true or false`},
	} {
		for _, tool := range []string{"push", "delegate"} {
			d := &parent{}
			call, err := New().Parse(&Runtime{Agents: d}, "c", tool, json.RawMessage(c.args))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s %s: %v, want it to say %q", tool, c.args, err, c.err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", tool, c.args, err)
				continue
			}
			if call.Start != nil {
				call.Start(t.Context())
			}
			call.Run(t.Context())
			if d.task.Interactive != c.want.Interactive || d.task.Idle != c.want.Idle {
				t.Errorf("%s %s asks for %+v", tool, c.args, d.task)
			}
		}
	}
}

// parent keeps the task that it was asked to dispatch.
type parent struct {
	Agents
	task Task
}

func (p *parent) Push(_ context.Context, t Task) (string, error) {
	p.task = t
	return "", nil
}

func (p *parent) Delegate(_ context.Context, _ string, t Task, mode string) (string, Wait, error) {
	p.task = t
	return "", nil, nil
}

// Spec: N-31, O-16, O-77, R-1, Q-32, Q-33, Q-34, Q-35, Q-36.
func TestDesk(t *testing.T) {
	e, d := place(t), &toolAgents{}
	e.Agents = d
	c := parse(t, e, "push", "prompt", "do it", "name", "n", "model", "m", "timeout", 90, "budget", "50k", "deliver", "wake", "start", true, "after", []string{"a", "b"})
	if c.Action.Kind != permission.Internal || c.Beside != "" {
		t.Errorf("push is %+v", c.Action)
	}
	if r := c.Run(t.Context()); r.Text != "pushed" || r.Error {
		t.Errorf("push gave %+v", r)
	}
	if want := `{"Name":"n","Suggested":"","Prompt":"do it","Model":"m","Agent":"","Timeout":90000000000,"Budget":{"N":50000,"Money":false},"Deliver":"wake","Interactive":false,"Idle":0,"Start":true,"After":["a","b"],"Resume":false}`; d.asked != want {
		t.Errorf("the desk was asked %s", d.asked)
	}
	if r := ok(t, e, "run", "count", 3); r.Text != "rrr" {
		t.Errorf("run gave %+v", r)
	}
	if r := do(t, e, "queue"); !r.Error || r.Text != "the queue is gone" {
		t.Errorf("queue gave %+v", r)
	}
	ok(t, e, "send", "to", "a", "message", "b", "priority", "high")
	if d.asked != "a|b|high|" {
		t.Errorf("send asked %s", d.asked)
	}
	ok(t, e, "send", "to", []string{"a", "c"}, "message", "b", "tags", []string{"ci", "red"})
	if d.asked != "a,c|b||ci,red" {
		t.Errorf("send asked %s", d.asked)
	}
	if _, err := New().Parse(e, "call", "send", json.RawMessage(`{"to":7,"message":"b"}`)); err == nil || !strings.Contains(err.Error(), "array of strings") {
		t.Errorf("send to a number: %v", err)
	}
	ok(t, e, "list_messages", "from", "a", "priority", "high", "unread", false)
	if d.asked != "a|high|true" {
		t.Errorf("list_messages asked %s", d.asked)
	}
	if r := ok(t, e, "read_message", "id", 4, "offset", 10); r.Entry != 9 || d.asked != "call|4|10" {
		t.Errorf("read_message gave %+v and asked %s", r, d.asked)
	}
	ok(t, e, "reply_to_message", "id", 4, "message", "yes")
	if d.asked != "4|yes" {
		t.Errorf("reply_to_message asked %s", d.asked)
	}
	ok(t, e, "memory", "name", "#mem-a/b", "offset", 7)
	if d.asked != `{"Action":"read","Name":"#mem-a/b","Text":"","Offset":7,"Expect":null}` {
		t.Errorf("memory asked %s", d.asked)
	}
	ok(t, e, "memory", "action", "write", "name", "a", "content", "x", "version", 0)
	if d.asked != `{"Action":"write","Name":"a","Text":"x","Offset":0,"Expect":0}` {
		t.Errorf("memory asked %s", d.asked)
	}
	if r := ok(t, e, "memory"); r.Text != "remembered" || !strings.Contains(d.asked, `"list"`) {
		t.Errorf("memory asked %s", d.asked)
	}
	for _, args := range []string{`{"action":"read"}`, `{"action":"write","name":"a"}`, `{"name":"a","text":"x"}`, `{"action":"delete","name":"a"}`} {
		if _, err := New().Parse(e, "call", "memory", json.RawMessage(args)); err == nil {
			t.Errorf("memory took %s", args)
		}
	}
	ok(t, e, "schedule", "action", "register", "kind", "reminder", "prompt", " tea ", "delay_seconds", 1800)
	if d.asked != `{"Action":"register","ID":"","Kind":"reminder","Prompt":"tea","CancelWhen":"","Delay":1800000000000,"Interval":0,"At":"0001-01-01T00:00:00Z","Cron":"","Deliver":"","Priority":""}` {
		t.Errorf("schedule asked %s", d.asked)
	}
	ok(t, e, "schedule", "action", "register", "task_id", "ci", "prompt", "look", "interval_minutes", 10, "cancel_when", "green", "deliver", "wake")
	if !strings.Contains(d.asked, `"ID":"ci"`) || !strings.Contains(d.asked, `"Interval":600000000000`) || !strings.Contains(d.asked, `"CancelWhen":"green"`) {
		t.Errorf("schedule asked %s", d.asked)
	}
	ok(t, e, "schedule", "action", "register", "prompt", "look", "run_at", "2026-12-24T18:00:00+01:00")
	if !strings.Contains(d.asked, `"At":"2026-12-24T18:00:00+01:00"`) {
		t.Errorf("schedule asked %s", d.asked)
	}
	for _, args := range []string{
		`{}`, `{"action":"fire"}`, `{"action":"register"}`, `{"action":"unregister"}`, `{"action":"register","prompt":"x","run_at":"soon"}`,
		`{"action":"register","prompt":"x","delay_seconds":1,"interval_seconds":300}`, `{"action":"register","prompt":"x","delay_seconds":-1}`,
		`{"action":"register","prompt":"x","interval_seconds":0}`, `{"action":"register","prompt":"x","interval_minutes":99999999999}`,
		`{"action":"register","prompt":"x","kind":"alarm"}`, `{"action":"register","prompt":"x","priority":"now"}`,
	} {
		if _, err := New().Parse(e, "call", "schedule", json.RawMessage(args)); err == nil {
			t.Errorf("schedule took %s", args)
		}
	}
	for kind, want := range map[string]permission.Kind{"reminder": permission.Internal, "task": permission.Note} {
		c, err := New().Parse(e, "call", "schedule", args(t, "action", "register", "prompt", "x", "kind", kind))
		if err != nil || c.Action.Kind != want {
			t.Errorf("a %s is %v, %v", kind, c, err)
		}
	}
	if r := ok(t, e, "receive", "from", "a", "timeout", 60); r.Entry != 7 || r.Text != "mail" || d.asked != "call|a|1m0s" {
		t.Errorf("receive gave %+v and asked %s", r, d.asked)
	}
	if r := do(t, e, "receive", "lifo", true); !r.Error || r.Entry != 0 {
		t.Errorf("receive gave %+v", r)
	}
	if r := ok(t, e, "check"); r.Entry != 8 || d.asked != "call|" {
		t.Errorf("check gave %+v", r)
	}
	for _, s := range []struct {
		name string
		args []any
		want string
	}{
		{"delegate", []any{"prompt", "p"}, "||p|next|0s|true|false"},
		{"delegate", []any{"prompt", "p", "name", "n", "active_notify", true, "timeout", 5, "resume", true}, "|n|p|wake|5s|true|true"},
		{"delegate", []any{"prompt", "p", "async", true}, "async||p|next|0s|true|false"},
		{"delegate", []any{"prompt", "p", "run_async", false}, "sync||p|next|0s|true|false"},
		{"sub_agent", []any{"task", "p", "agent", "n", "mode", "async"}, "async|n|p|next|0s|true|false"},
		{"async_delegate", []any{"message", "p", "subagent_name", "n"}, "async|n|p|next|0s|true|false"},
		{"spawn_delegate", []any{"prompt", "p"}, "async||p|next|0s|true|false"},
	} {
		d.asked = ""
		c := parse(t, e, s.name, s.args...)
		c.Start(t.Context())
		r := c.Run(t.Context())
		sync := strings.HasPrefix(s.want, "sync")
		if d.asked != "|call|"+s.want || c.Beside != "delegate" || r.Error || (r.Text == "its answer" && r.Entry == 7) != sync {
			t.Errorf("%s %v asked %s and gave %+v", s.name, s.args, d.asked, r)
		}
	}
	for _, bad := range [][]any{{}, {"prompt", " "}, {"prompt", "p", "mode", "later"}, {"prompt", "p", "resume", true}} {
		if _, err := New().Parse(e, "call", "delegate", args(t, bad...)); err == nil {
			t.Errorf("delegate took %v", bad)
		}
	}
	e.Agents = nil
	if r := do(t, e, "check"); !r.Error {
		t.Errorf("without a desk check gave %+v", r)
	}
}

// Other spellings of names and arguments are understood but not advertised.
//
// Spec: M-33, M-34, M-35, M-36, R-54.
func TestSpellings_ofMail(t *testing.T) {
	e, d := place(t), &toolAgents{}
	e.Agents = d
	for _, c := range []struct{ name, args, asked string }{
		{"SendMessage", `{"to_agent":"a","content":"b","metadata":{"priority":"high","tags":["x"]}}`, "a|b|high|x"},
		{"SendMessage", `{"to":"a","message":"b"}`, "a|b||"},
		{"ListMessages", `{"filter":{"sender":"a","unread":false}}`, "a||true"},
		{"ListMessages", `{}`, "||false"},
		{"ReadMessage", `{"message_id":7}`, "call|7|0"},
		{"ReplyToMessage", `{"message_id":7,"content":"yes"}`, "7|yes"},
	} {
		call, err := New().Parse(e, "call", c.name, json.RawMessage(c.args))
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.args, err)
			continue
		}
		if r := call.Run(t.Context()); r.Error || d.asked != c.asked {
			t.Errorf("%s %s asked %q: %+v", c.name, c.args, d.asked, r)
		}
	}
	if _, err := New().Parse(e, "call", "ReadMessage", json.RawMessage(`{"message_id":"x"}`)); err == nil {
		t.Error("a message without a number")
	}
	if got := New().Title("ReadMessage", json.RawMessage(`{"message_id":7}`)); got != "read message 7" {
		t.Errorf("its title is %q", got)
	}
	for _, s := range New().Specs() {
		if _, other := spellings()[s.Name]; other {
			t.Errorf("%s is advertised", s.Name)
		}
	}
}

func BenchmarkParse_bash(b *testing.B) {
	e, s := place(b), New()
	a := args(b, "command", "cd sub && go test -run 'TestX' ./... 2>&1 | tail -20", "timeout", 60)
	for b.Loop() {
		if _, err := s.Parse(e, "call", "bash", a); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWithout: a disabled tool is neither offered nor run, under any of its spellings.
//
// Spec: N-27.
func TestWithout(t *testing.T) {
	s, err := New().Without([]string{"delegate", "push"})
	if err != nil {
		t.Fatal(err)
	}
	if got, all := len(s.Specs()), len(New().Specs()); got != all-2 {
		t.Errorf("%d of %d tools are left", got, all)
	}
	e := place(t)
	for _, name := range []string{"delegate", "sub_agent", "async_delegate", "push"} {
		if _, err := s.Parse(e, "call", name, json.RawMessage(`{"prompt":"x","task":"x","name":"n"}`)); err == nil || !strings.Contains(err.Error(), "there is no tool") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New().Without([]string{"delgate"}); err == nil || !strings.Contains(err.Error(), `no tool "delgate"; the tools are read_file, `) {
		t.Errorf("%v", err)
	}
}

// TestSchedule_text has the words of the description that models know.
//
// Spec: O-41.
func TestSchedule_text(t *testing.T) {
	for _, s := range New().Only("schedule").Specs() {
		if !strings.HasPrefix(s.Description, "Register, list, or cancel timed tasks. Tasks fire after a delay and deposit results in your mailbox. "+
			"Tasks survive restarts; late ones are marked.") {
			t.Errorf("%q", s.Description)
		}
	}
}
