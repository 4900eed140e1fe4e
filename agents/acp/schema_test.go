package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// updates are one of each kind, with all that is read of it.
var updates = map[string]string{
	"agent_message_chunk":       `{"messageId":"m1","content":{"type":"text","text":"hi","annotations":null}}`,
	"agent_thought_chunk":       `{"content":{"type":"image","data":"AA==","mimeType":"image/png"}}`,
	"user_message_chunk":        `{"content":{"type":"resource_link","name":"a.go","uri":"file:///a.go"}}`,
	"tool_call":                 `{"toolCallId":"c1","title":"Read","name":"Read","kind":"read","status":"pending","content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"},{"type":"content","content":{"type":"text","text":"y"}}],"locations":[{"path":"/a","line":3}],"rawInput":{"path":"/a"},"rawOutput":null}`,
	"tool_call_update":          `{"toolCallId":"c1","status":"completed","title":null}`,
	"plan":                      `{"entries":[{"content":"one","priority":"high","status":"in_progress"}]}`,
	"usage_update":              `{"used":1200,"size":200000,"cost":{"amount":0.5,"currency":"USD"}}`,
	"current_mode_update":       `{"currentModeId":"plan"}`,
	"config_option_update":      `{"configOptions":[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"a","options":[{"value":"a","name":"A"},{"group":"g","name":"G","options":[{"value":"b","name":"B"}]}]}]}`,
	"session_info_update":       `{"title":"A title","updatedAt":null}`,
	"notice":                    `{"severity":"warning","title":"low disk","description":null}`,
	"compaction_update":         `{"compactionId":"k","status":"completed"}`,
	"available_commands_update": `{"availableCommands":[{"name":"init","description":"d","input":null}]}`,
}

func sessionUpdate(kind, fields string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"sessionId":"s","update":{"sessionUpdate":%q,%s}`, kind, strings.TrimPrefix(fields, "{")))
}

func TestReadUpdate(t *testing.T) {
	if len(updates) != len(updateReaders) {
		t.Errorf("%d kinds are tested of %d", len(updates), len(updateReaders))
	}
	for kind, fields := range updates {
		session, u := ParseUpdate(sessionUpdate(kind, fields))
		if bad, is := u.(UnknownUpdate); is || session != "s" {
			t.Errorf("%s: %s %+v", kind, session, bad)
		}
	}
	_, u := ParseUpdate(sessionUpdate("tool_call", updates["tool_call"]))
	c := u.(ToolCallUpdate)
	if c.ToolCallID != "c1" || c.Title.V != "Read" || c.Content.All[0].NewText != "x" || c.Content.All[0].OldText.OK || c.Content.All[1].Content.String() != "y" ||
		c.Locations.All[0].Line.V != 3 || string(c.RawInput) != `{"path":"/a"}` || c.RawOutput != nil {
		t.Errorf("%+v", c)
	}
	_, u = ParseUpdate(sessionUpdate("tool_call_update", updates["tool_call_update"]))
	if c := u.(ToolCallUpdate); c.Title.OK || c.Content.OK || c.Status.V != "completed" {
		t.Errorf("%+v", c)
	}
	for kind, want := range map[string]string{"agent_message_chunk": "hi", "agent_thought_chunk": "[image image/png]", "user_message_chunk": "a.go file:///a.go"} {
		if _, u := ParseUpdate(sessionUpdate(kind, updates[kind])); u.(ContentChunk).Content.String() != want {
			t.Errorf("%s: %q", kind, u.(ContentChunk).Content.String())
		}
	}
}

// A field of another type than it should have is left out, and nothing else; what can't do without it is unknown, never
// an update of another kind or an empty one.
func TestReadUpdate_spoilt(t *testing.T) {
	needed := map[string]bool{
		"agent_message_chunk.content": true, "agent_thought_chunk.content": true, "user_message_chunk.content": true,
		"tool_call.toolCallId": true, "tool_call_update.toolCallId": true, "current_mode_update.currentModeId": true,
		"notice.title": true, "compaction_update.compactionId": true, "compaction_update.status": true,
	}
	for kind, fields := range updates {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(fields), &all); err != nil {
			t.Fatal(err)
		}
		for name := range all {
			for _, bad := range []string{`{"a":[1]}`, `[[{}]]`, `-1.5e300`, `true`, `"\u0000text"`} {
				was := all[name]
				all[name] = json.RawMessage(bad)
				text, _ := json.Marshal(all)
				all[name] = was
				_, u := ParseUpdate(sessionUpdate(kind, string(text)))
				unknown, is := u.(UnknownUpdate)
				switch {
				case is && !needed[kind+"."+name]:
					t.Errorf("%s with %s %s is unknown: %s", kind, name, bad, unknown.Err)
				case is && (unknown.Kind != kind || unknown.Err == ""):
					t.Errorf("%s with %s %s: %+v", kind, name, bad, unknown)
				case !is:
					_, good := ParseUpdate(sessionUpdate(kind, fields))
					if reflect.TypeOf(u) != reflect.TypeOf(good) {
						t.Errorf("%s with %s %s is a %T", kind, name, bad, u)
					}
				}
			}
		}
	}
}

func TestReadUpdate_unknown(t *testing.T) {
	for text, want := range map[string]UnknownUpdate{
		`{"sessionId":"s","update":{"sessionUpdate":"subagent_update","x":1}}`: {Kind: "subagent_update"},
		`{"sessionId":"s","update":{"content":{"type":"text","text":"x"}}}`:    {Kind: "?", Err: "it does not say what it is"},
		`{"sessionId":"s","update":[]}`:                                        {Kind: "?", Err: "it does not say what it is"},
		`{"sessionId":"s"}`:                                                    {Kind: "?", Err: "it does not say what it is"},
	} {
		if _, u := ParseUpdate(json.RawMessage(text)); u != want {
			t.Errorf("%s is %+v", text, u)
		}
	}
	if _, u := ParseUpdate(json.RawMessage(`nothing`)); u.(UnknownUpdate).Err == "" {
		t.Errorf("%+v", u)
	}
}

// FuzzReadUpdate: whatever comes is an update or unknown, and is told without a panic.
func FuzzReadUpdate(f *testing.F) {
	for kind, fields := range updates {
		f.Add([]byte(sessionUpdate(kind, fields)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, u := ParseUpdate(text); u == nil {
			t.Error("it is nothing")
		}
	})
}
