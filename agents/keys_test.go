package agents_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// canaries are keys of sixty shapes, and the variables that hold them.
func canaries(t *testing.T) (values []string, keys *secret.Keys, env []string) {
	t.Helper()
	data, err := os.ReadFile("../tools/secret/testdata/canaries.jsonl")
	check(t, err)
	var names []string
	held := map[string]string{}
	for line := range bytes.Lines(data) {
		var v string
		check(t, json.Unmarshal(line, &v))
		name := fmt.Sprintf("CANARY_%d", len(values))
		values, names = append(values, strings.TrimSpace(v)), append(names, name)
		held[name] = v
		env = append(env, name+"="+v)
	}
	if len(values) < 60 {
		t.Fatalf("only %d canaries", len(values))
	}
	return values, secret.New(names, func(n string) string { return held[n] }), env
}

// leaks lists what of the canaries stands in b.
func leaks(values []string, b []byte) (found []string) {
	for _, v := range values {
		if v == "completed" || v == "12345678" {
			continue // a word of the program's own, and digits: they stand there by themselves
		}
		js, _ := json.Marshal(v)
		coded := base64.StdEncoding.EncodeToString([]byte(v))
		for way, s := range map[string]string{
			"plain": v, "JSON": strings.Trim(string(js), `"`), "base64": coded[:len(coded)-4], "hex": hex.EncodeToString([]byte(v)),
		} {
			if bytes.Contains(b, []byte(s)) {
				found = append(found, v+" as "+way)
			}
		}
	}
	return found
}

// spread is every canary in the forms it travels in.
func spread(values []string) string {
	var b strings.Builder
	for _, v := range values {
		js, _ := json.Marshal(v)
		fmt.Fprintf(&b, "plain %s\njson %s\nbase64 %s\nhex %x\n", v, js, base64.StdEncoding.EncodeToString([]byte(v)), v)
	}
	return b.String()
}

// Whatever way a key takes into the program, nothing it keeps, shows or sends holds
// it: not the database's files, byte for byte, not the outputs, the feed, a request.
func TestKeys_areNowhere(t *testing.T) {
	values, keys, env := canaries(t)
	all := spread(values)
	turn := 0
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		turn++
		args := func(kv ...string) json.RawMessage {
			o := map[string]string{}
			for i := 0; i < len(kv); i += 2 {
				o[kv[i]] = kv[i+1]
			}
			b, _ := json.Marshal(o)
			return b
		}
		switch turn {
		case 1: // in pieces, as thoughts, in arguments
			var parts []llm.Part
			for rest := all; rest != ""; {
				n := min(5, len(rest))
				parts = append(parts, llm.Text{Text: rest[:n]})
				rest = rest[n:]
			}
			for i, v := range values {
				parts = append(parts, llm.Thinking{Text: "hm " + v[:3], Index: i + 1}, llm.Thinking{Text: v[3:], Index: i + 1, Opaque: "sealed", Model: "test/one"})
			}
			return append(parts,
				llm.ToolCall{ID: "c1", Name: "bash", Args: args("command", "cat values.txt; cat values.txt >&2; env")},
				llm.ToolCall{ID: "c2", Name: "bash", Args: args("command", "printf '%s' '"+strings.ReplaceAll(all, "'", "")+"' >copied.txt; cat copied.txt; exit 3")},
				llm.ToolCall{ID: "c3", Name: "read_file", Args: args("path", "values.txt")},
				llm.ToolCall{ID: "c4", Name: "grep", Args: args("pattern", ".")},
				llm.ToolCall{ID: "c5", Name: "write_file", Args: args("path", "new.txt", "content", all)},
				llm.ToolCall{ID: "c6", Name: "memory", Args: args("action", "write", "name", "keys", "text", all)},
				llm.ToolCall{ID: "c7", Name: "push", Args: args("name", "child", "prompt", "do "+all)},
				llm.ToolCall{ID: "c8", Name: all[:20], Args: args("x", values[9])},
				llm.ToolCall{ID: "c11", Name: "send", Args: args("to", "main", "body", "zyxwvuts")}, // one word
				llm.ToolCall{ID: "c12", Name: "bash", Args: args("command", "correct-horse")},
				llm.ToolCall{ID: "c10", Name: "list_files", Args: args("path", ".")}, // a file's name is a key
				llm.ToolCall{ID: "c9", Name: "read_file", Args: args("path", values[12])},
			), nil
		case 2:
			return nil, &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "no good: " + all}
		}
		return text("an end"), nil
	}
	w := open(t, m, setting{Keys: keys, Env: append(env, "PATH="+os.Getenv("PATH"))})
	check(t, os.WriteFile(filepath.Join(w.Dir, "values.txt"), []byte(all), 0o600))
	const named = "ghp_AbCdEf0123456789GhIjKlMnOpQrStUvWxYz"
	check(t, os.WriteFile(filepath.Join(w.Dir, named), nil, 0o600))
	feed, _ := w.Pool.Subscribe()
	defer feed.Close()
	main := w.Main()
	check(t, w.Pool.Prompt(t.Context(), main, "use these: "+all))
	check(t, w.Pool.Settled(t.Context()))
	check(t, w.Pool.Shell(t.Context(), main, "cat values.txt # "+values[8]))
	_, err := w.Pool.Deposit(inbox.Message{Recipient: main, From: "outside", Kind: inbox.Mail, Deliver: inbox.Hold, Body: all, Tags: []string{values[10]}})
	check(t, err)
	_, err = w.Pool.Memory.Write(t.Context(), "mine", all, nil)
	check(t, err)
	_, err = w.Pool.Tasks.Push(t.Context(), main, tools.Task{Prompt: "!echo " + values[7]})
	check(t, err)
	_, _, err = w.Pool.Pickup.Check(t.Context(), main, inbox.Query{})
	check(t, err)
	check(t, w.Pool.Prompt(t.Context(), main, "go on"))
	check(t, w.Pool.Settled(t.Context()))

	for _, e := range feed.Take() {
		b, err := json.Marshal(e)
		check(t, err)
		if c, ok := e.(event.Changed); ok {
			b, _ = json.Marshal(c.Why) // a prompt that waits shows as it was typed: the screen withholds there
		}
		if found := leaks(values, b); len(found) > 0 {
			t.Errorf("an event %T holds %q", e, found)
		}
	}
	for i, req := range m.Seen() {
		b, err := json.Marshal(req)
		check(t, err)
		if found := leaks(values, b); len(found) > 0 {
			t.Errorf("request %d holds %q", i, found)
		}
		if i == 1 && (!strings.Contains(string(b), "[redacted: CANARY_7]") || strings.Contains(string(b), "sealed")) {
			t.Error("request 1 holds no mark, or thoughts whose seal is broken")
		}
	}
	seen := 0
	check(t, filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "values.txt" {
			return err
		}
		b, err := os.ReadFile(path)
		if d.Name() == named {
			return err
		}
		if strings.Contains(path, "fantail.db") || strings.Contains(path, "outputs") {
			seen++
		}
		if found := leaks(values, b); len(found) > 0 {
			t.Errorf("%s holds %q", path, found)
		}
		return err
	}))
	if seen < 5 {
		t.Errorf("only %d files of the program's were looked into", seen)
	}
}

// What a question shows is what runs and what is kept, also where a key was replaced.
func TestKeys_aQuestionShowsWhatRuns(t *testing.T) {
	const key = "sk-work-0123456789"
	keys := secret.New([]string{"WORK_LLM"}, func(string) string { return key })
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"echo `+key+` >said"}`), nil
		}
		return text("done"), nil
	}}
	w := open(t, m, setting{Mode: permission.Ask, Keys: keys, Env: []string{"PATH=" + os.Getenv("PATH")}})
	main := w.Main()
	check(t, w.Pool.Prompt(t.Context(), main, "go"))
	w.Until("it asks", func() bool { return w.Info("main").Question != nil })
	q := w.Info("main").Question
	const runs = "echo [redacted: WORK_LLM] >said"
	if q.Action.Command != runs {
		t.Errorf("the question shows %q", q.Action.Command)
	}
	w.Answer(q.ID, permission.Once)
	check(t, w.Pool.Settled(t.Context()))
	if b, err := os.ReadFile(filepath.Join(w.Dir, "said")); err != nil || string(b) != "[redacted: WORK_LLM]\n" {
		t.Errorf("it wrote %q, %v", b, err)
	}
}

// An agent that nobody attends gets what is on the list, and one that somebody
// attends all but keys.
func TestKeys_environments(t *testing.T) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "MY_SETTING=1", "LC_ALL=C"}
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("c1", "bash", `{"command":"echo $HOME-$LC_ALL-$MY_SETTING-"}`), nil
		}
		return text(results(req)[0].Text), nil
	}}
	for _, c := range []struct {
		absent bool
		want   string
	}{{false, "/h-C-1-\n"}, {true, "/h-C--\n"}} {
		w := open(t, m, setting{Env: env})
		talk := w.Main()
		if c.absent {
			talk = w.Unattended(t.Context(), agents.Unattended{}).Info.ID
		}
		check(t, w.Pool.Prompt(t.Context(), talk, "go"))
		check(t, w.Pool.Settled(t.Context()))
		if got := results(m.Seen()[len(m.Seen())-1]); len(got) != 1 || got[0].Text != c.want {
			t.Errorf("absent %v: %v", c.absent, got)
		}
		w.Close()
	}
}
