package tools

import (
	"encoding/json"
	"testing"
)

// TestAbout: rules of files see which agent gets work, and which skill is used.
func TestAbout(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"push", `{"prompt":"x","agent":"reviewer"}`, "reviewer"},
		{"push", `{"prompt":"x","model":"acp/reviewer"}`, "reviewer"},
		{"push", `{"prompt":"x","model":"openai/reviewer"}`, ""},
		{"push", `{"prompt":"reviewer"}`, ""},
		{"delegate", `{"prompt":"x","agent":"reviewer","mode":"sync"}`, "reviewer"},
		{"skill", `{"name":"deploy"}`, "deploy"},
	} {
		env := &Runtime{Root: t.TempDir()}
		call, err := New().Parse(env, "", c.tool, json.RawMessage(c.args))
		if err != nil {
			t.Fatal(err)
		}
		if call.Action.About != c.want || call.Action.Tool != c.tool {
			t.Errorf("%s %s is about %q for the rules, want %q", c.tool, c.args, call.Action.About, c.want)
		}
	}
}
