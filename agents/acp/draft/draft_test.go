package draft

import (
	"fmt"
	"strings"
	"testing"

	"fantail/agents/acp/schema"
)

// TestRead: a message is told once, in pieces or whole; a call has what its terminal shows; what is unknown says so.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, want string
		updates    []string
	}{
		{"pieces, then whole", "ab|c", []string{
			`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"ab"}}`,
			`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"bc"}]}`,
			`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"abc"}]}`,
			`{"sessionUpdate":"agent_message","messageId":"m","content":null}`,
		}},
		{"another whole", "ab|xyz", []string{
			`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"ab"}}`,
			`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"xyz"}]}`,
		}},
		{"voices have names of their own", "ab|ab", []string{
			`{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"ab"}}`,
			`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"ab"}]}`,
		}},
		{"terminal", "call c in_progress|call c  wrote hi|call c  {\"exit_code\":3}", []string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"paused","content":[{"type":"terminal","terminalId":"t"}]}`,
			`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"aGk="}`,
			`{"sessionUpdate":"terminal_update","terminalId":"t","output":{"data":"aGk="},"exitStatus":{"exitCode":3}}`,
			`{"sessionUpdate":"terminal_output_chunk","terminalId":"nobody's","data":"aGk="}`,
		}},
		{"null", "call c pending", []string{`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":null,"title":null}`}},
		{"strange", "?brand_new|?agent_message_chunk|?tool_call_update|?plan_update", []string{
			`{"sessionUpdate":"brand_new"}`, `{"sessionUpdate":"agent_message_chunk","messageId":"m"}`, `{"sessionUpdate":"tool_call_update"}`,
			`{"sessionUpdate":"plan_update","plan":{"type":"file","planId":"p"}}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Reader
			var got []string
			for _, u := range c.updates {
				for _, u := range r.Read([]byte(`{"sessionId":"s","update":` + u + `}`)).Updates {
					switch u := u.(type) {
					case schema.Chunk:
						got = append(got, u.Block.Words())
					case schema.ToolCall:
						text := "call " + u.ID + " " + u.Status.V
						if w := u.Written(); w != "" {
							text += " wrote " + w
						}
						if len(u.Output) > 0 {
							text += " " + string(u.Output)
						}
						got = append(got, text)
					case schema.Unknown:
						got = append(got, "?"+u.Kind)
					default:
						got = append(got, fmt.Sprintf("%T", u))
					}
				}
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}

// TestWork: a turn is over when nothing goes on any more after all of its prompts came into the conversation.
func TestWork(t *testing.T) {
	const accepted, refused, came, runs, idle, steers = "accepted", "refused", "came", "runs", "idle", "steers"
	for _, c := range []struct {
		name string
		does []string
		over bool
	}{
		{"in order", []string{accepted, came, runs, idle}, true},
		{"accepted late", []string{came, runs, idle, accepted}, true},
		{"running before it is in", []string{runs, came, accepted, idle}, true},
		{"only said again that nothing goes on", []string{accepted, idle}, false},
		{"the end of something else", []string{runs, idle, accepted}, false},
		{"something else, then it", []string{runs, idle, accepted, runs, idle}, true},
		{"one held back", []string{accepted, runs, steers, idle}, false},
		{"one held back, then done", []string{accepted, runs, steers, idle, accepted, runs, idle}, true},
		{"one refused", []string{accepted, runs, steers, idle, refused}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w Work
			turn := w.Begin()
			for _, d := range c.does {
				switch d {
				case accepted:
					turn.Accepted("m")
				case refused:
					turn.Refused()
				case came:
					w.Came("m")
				case runs:
					w.Now(State{Busy: true})
				case idle:
					w.Now(State{Stop: "end_turn"})
				case steers:
					w.Goes()
				}
			}
			over := false
			select {
			case <-turn.Over():
				over = true
			default:
			}
			if over != c.over {
				t.Errorf("over: %v", over)
			}
		})
	}
}
