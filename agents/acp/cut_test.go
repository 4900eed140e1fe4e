package acp_test

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"fantail/.ci/long"
	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
)

// cut is a pipe that breaks after so many bytes.
type cut struct {
	io.WriteCloser
	left int
	sent *int
}

func (c *cut) Write(b []byte) (int, error) {
	n := min(len(b), c.left)
	*c.sent += n
	c.left -= n
	if _, err := c.WriteCloser.Write(b[:n]); err != nil || n < len(b) {
		_ = c.Close()
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// kinds are updates of every kind, and of none.
func kinds() []string {
	return []string{
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"größer"}}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"go"}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c0","title":"Read","kind":"read","status":"pending","rawInput":{"path":"/a"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c0","status":"completed","content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"}]}`,
		`{"sessionUpdate":"plan","entries":[{"content":"one","priority":"high","status":"in_progress"}]}`,
		`{"sessionUpdate":"usage_update","used":1200,"size":200000,"cost":{"amount":0.5,"currency":"USD"}}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"a","options":[{"value":"a"}]}]}`,
		`{"sessionUpdate":"session_info_update","title":"A title"}`,
		`{"sessionUpdate":"notice","severity":"warning","title":"low disk"}`,
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"init"}]}`,
		`{"sessionUpdate":"subagent_update","x":1}`,
	}
}

// Wherever what an agent says is cut, what came before it was heard, and the failure says so.
func TestCut(t *testing.T) {
	heard, sent := "", 0
	session := func(at int) (failed error) {
		sent = 0
		with(t, func(t *testing.T, c *client) {
			a := &acptest.Agent{Turn: func(t *acptest.Turn) string {
				for _, k := range kinds() {
					t.Update(k)
				}
				t.Call("c1", "edit", "Edit a file")
				t.Ask("c1", "Edit a file", "allow_once")
				_, _ = t.Request("elicitation/create", map[string]any{"message": "n?", "mode": "form"})
				t.Done("c1", "done")
				t.Say("bye")
				return ""
			}}
			p := acptest.Run(c.start, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, &cut{out, at, &sent}) })
			s, err := acp.NewSession(t.Context(), p, c.options(acp.Options{}))
			if err == nil {
				_, err = s.Prompt(t.Context(), "go")
				s.End()
			}
			failed, heard = err, c.took()
		})
		return failed
	}
	if err := session(1 << 20); err != nil {
		t.Fatal(err)
	}
	whole, all := heard, sent
	step := 20
	if long.Wanted() {
		step = 1
	}
	for at := rand.IntN(step); at < all-1; at += step { // the last byte is the end of a line that is whole
		err := session(at)
		if fail := (*acp.Failure)(nil); !errors.As(err, &fail) || !strings.Contains(err.Error(), "it ended") {
			t.Fatalf("cut after %d of %d bytes: %v", at, all, err)
		}
		if !strings.HasPrefix(whole, heard) {
			t.Fatalf("cut after %d bytes: %s is no beginning of %s", at, heard, whole)
		}
	}
}

// However an agent fails in the middle of a turn, what it had said was heard, and the error is one line that a terminal shows as
// it is: why, how its program ended, and the last that this wrote.
func TestPrompt_fails(t *testing.T) {
	const sick = "\x1b[31mwarning\x1b[0m\r\n\nfatal: \x1b]0;title\x07no \xffmemory\u202e\n"
	for _, k := range []struct {
		name, says, want string
	}{
		{"ends", "", "fake: session/prompt: it ended (exit code 0): \uFFFD[31mwarning\uFFFD[0m · fatal: \uFFFD]0;title\uFFFDno \uFFFDmemory\uFFFD"},
		{"half a line", `{"method":"session/upd`, `it ended in the middle of a message ("{\"method\":\"session/upd") (exit code 0): `},
		{"rubbish", strings.Repeat("\x1b[2Jnpm warn\n", 8000), `it does not speak the protocol; it wrote "\x1b[2Jnpm warn"`},
		{"a line without end", strings.Repeat("x", 17<<20), "it wrote a message of more than 16 MiB"},
		{"answers to nothing", `{"id":"x","result":{}}` + "\n" + `{"id":77,"error":{"code":1,"message":"no"}}` + "\n", "session/prompt: it ended (exit code 0)"},
		{"an error", `{"id":3,"error":{"code":-32603,"message":"\u001b[31mrate\nlimit ` + strings.Repeat("very ", 100) + `"}}` + "\n", "fake: \uFFFD[31mrate limit very very"},
		{"two answers", `{"id":3,"error":{"code":1,"message":"first"}}` + "\n" + `{"id":3,"result":{"stopReason":"end_turn"}}` + "\n", "fake: first"},
		{"an answer that is none", `{"id":3,"result":[]}` + "\n", "session/prompt: what came back can't be read"},
	} {
		t.Run(k.name, func(t *testing.T) {
			with(t, func(t *testing.T, c *client) {
				p := acptest.Run(c.start, func(in io.Reader, out io.WriteCloser) {
					asked := bufio.NewReader(in)
					for _, answer := range []string{
						`{"id":1,"result":{"protocolVersion":1}}`, `{"id":2,"result":{"sessionId":"s"}}`,
						`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so far"}}}}`,
					} {
						_, _ = asked.ReadString('\n')
						_, _ = io.WriteString(out, answer+"\n")
					}
					_, _ = io.WriteString(out, k.says)
				})
				p.Words = sick
				s, err := acp.NewSession(t.Context(), p, c.options(acp.Options{}))
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Prompt(t.Context(), "go")
				if err == nil || !strings.Contains(err.Error(), k.want) || strings.ContainsAny(err.Error(), "\x1b\x07\n\u202e") || !utf8.ValidString(err.Error()) || len(err.Error()) > 1200 {
					t.Errorf("%q, want %s", err, k.want)
				}
				if got := c.took(); got != "0:so far" {
					t.Errorf("heard %s", got)
				}
				s.End()
			})
		})
	}
}
