package hooks

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// TestOddMember: one odd member of a hook's answer loses no word that makes a call stricter, and allows nothing.
func TestOddMember(t *testing.T) {
	for out, want := range map[string]string{
		`{"decision":"block","reason":"no","systemMessage":[]}`:                                                       "deny",
		`{"suppressOutput":"x","hookSpecificOutput":{"permissionDecision":"deny"}}`:                                   "deny",
		`{"reason":7,"hookSpecificOutput":{"permissionDecision":"ask","additionalContext":0}}`:                        "ask",
		`{"systemMessage":0,"hookSpecificOutput":{"permissionDecision":"allow"}}`:                                     "",
		`{"systemMessage":0,"decision":"approve"}`:                                                                    "",
		`{"systemMessage":0,"hookSpecificOutput":{"permissionDecision":"deny","updatedInput":{"command":"rm -r /"}}}`: "deny",
		`{"hookSpecificOutput":[]}`: "",
		`{"decision":"block"`:       "",
	} {
		a := &Answer{}
		a.take(Hook{Event: PreToolUse, Command: "./x", Source: mine}, Ran{Out: out})
		got := ""
		switch {
		case a.Deny != "":
			got = "deny"
		case a.Ask != "":
			got = "ask"
		case a.Allow != "":
			got = "allow"
		}
		if got != want || len(a.Tell) == 0 || a.Input != nil {
			t.Errorf("%s: %q, told %v", out, got, a.Tell)
		}
	}
}

// TestOurArgs: the arguments that a hook changed are valid for any later reader.
func TestOurArgs(t *testing.T) {
	got, err := ourArgs("bash", []byte("{\"command\":\"\\ud83d \\u0000 \xff\",\"n\":1e999,\"a\":1,\"a\":2}"))
	if want := `{"a":2,"command":"` + "\uFFFD \uFFFD \uFFFD" + `","n":1.7976931348623157e+308}`; err != nil || string(got) != want || !utf8.Valid(got) {
		t.Errorf("%q %v", got, err)
	}
	in, _ := json.Marshal(toolInput("/w", "read_file", json.RawMessage(`{"path":"a","n":1e999}`)))
	if string(in) != `{"file_path":"/w/a","n":1.7976931348623157e+308}` {
		t.Errorf("%s", in)
	}
}
