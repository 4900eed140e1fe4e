package uitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/ui/uitest"
)

// Memory documents and citing, on the screen.

const oauth = `"# OAuth security\n\nUse **PKCE**.\n\n- short tokens\n- no implicit flow"`

// written opens the helpers of the example flow and lets one write to the other.
func written(s *uitest.Session, remember, send string) {
	s.Enter("/agent new research-agent")
	s.See("[Agent: research-agent]")
	s.Enter("/agent new oauth-impl")
	s.See("[Agent: oauth-impl]")
	s.Enter("/agent research-agent")
	s.See("[Agent: research-agent]")
	s.Enter(remember)
	s.See("Wrote #mem-oauth/security: version 1, ")
	s.Enter(send)
	s.See("Message #1 is in the inbox of oauth-impl")
	s.Enter("/agent oauth-impl")
	s.See("[Agent: oauth-impl | 1 pending]")
}

// TestMemoryFlow_builtin plays the flow in which a research agent documents what it
// found, and an implementing one is told, reads, acts and replies, without a model.
//
// Spec: M-30, M-31, M-32, M-33, M-36, M-37.
func TestMemoryFlow_builtin(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Mode: "accept-edits"}, func(s *uitest.Session) {
		written(s, "remember oauth/security: "+oauth,
			"send oauth-impl: OAuth security patterns documented. See #mem-oauth/security for PKCE flow and token storage.")
		s.Enter("/messages next")
		s.See("✉ from research-agent · #1 · just now · mail", "▪ #mem-oauth/security · 66 B · by research-agent", "A message came:", "#1 from research-agent · mail: OAuth security")
		s.Golden("memory-flow-120")
		s.Enter("read message 1 then recall oauth/security then write oauth.md: PKCE, short tokens")
		s.See("✓ read message 1", "✓ recall oauth/security", "no implicit flow", "created oauth.md")
		s.Enter("reply 1: Thanks, PKCE is in.")
		s.See("Message #2 is in the inbox of research-agent, in reply to #1.")
		s.Press("alt+2")
		s.See("[Agent: research-agent", " 1 pending]")
		s.Enter("/messages next")
		s.See("✉ from oauth-impl · #2 · just now · mail", "Thanks, PKCE is in.")
		if b, err := os.ReadFile(filepath.Join(s.Home.Root, "oauth.md")); err != nil || !strings.Contains(string(b), "PKCE") {
			t.Errorf("oauth.md holds %q, %v", b, err)
		}
	})
}

// TestMemoryFlow_model plays it with a model behind the real protocol, which cites
// the message; its number opens the original.
//
// Spec: M-30, M-31, M-32, M-33, M-36, M-37.
func TestMemoryFlow_model(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		server := &llmtest.Server{Answer: func(req llmtest.Request) llmtest.Reply {
			if !strings.Contains(said(req), "You have a message from research-agent. Message #1.") {
				return llmtest.Script(req)
			}
			steps := []llmtest.Reply{
				llmtest.Call("c1", "read_message", `{"message_id":1}`),
				llmtest.Call("c2", "memory", `{"name":"oauth/security"}`),
				llmtest.Call("c3", "write_file", `{"path":"oauth.md","content":"PKCE"}`),
				llmtest.Call("c4", "reply_to_message", `{"message_id":1,"content":"Thanks for the security patterns. PKCE is in."}`),
				llmtest.Say("Done. I followed the patterns of research-agent (#1), not #7, and told them."),
			}
			n := 0
			for _, m := range req.Messages {
				if m.Role == llm.Assistant {
					n++
				}
			}
			sent = append(sent, said(req))
			return steps[min(n, len(steps)-1)]
		}}
		client, stop := server.Pipe()
		defer stop()
		s := uitest.Start(t, uitest.Options{
			Provider: anthropic.New(anthropic.Options{Key: "k", BaseURL: "http://fake", HTTPClient: client}), Model: "anthropic/fake", Mode: "accept-edits", H: 48,
		})
		defer s.Stop()
		written(s, `call memory {"action":"write","name":"oauth/security","text":`+oauth+`}`,
			`call send {"to":"oauth-impl","message":"OAuth security patterns documented. See #mem-oauth/security for PKCE flow.","tags":["oauth","research-complete"]}`)
		s.Enter("/messages next")
		s.See("✉ from research-agent · #1 · just now · mail [oauth] [research-complete]", "▪ #mem-oauth/security · 66 B · by research-agent",
			"✓ read message 1", "✓ memory", "✓ reply to message 1", "Done. I followed the patterns of research-agent (#1), not #7, and told them.")
		first, second := sent[0], sent[1]
		for _, want := range []string{
			"You have a message from research-agent. Message #1.\n\n<message id=\"1\" from=\"research-agent\" kind=\"mail\" tags=\"oauth research-complete\"",
			"<memory name=\"oauth/security\" by=\"research-agent\" version=\"1\" age=\"0s\" mark=\"", "Use **PKCE**.",
		} {
			if !strings.Contains(first, want) {
				t.Errorf("the model is not given %q in\n%s", want, first)
			}
		}
		if !strings.Contains(second, ` tags="oauth research-complete" to="oauth-impl" sent_at="20`) {
			t.Errorf("read_message gives\n%s", second)
		}
		s.Press("ctrl+up", "o") // the answer
		s.See("─ #1 from research-agent ─", "to      oauth-impl", "tags    [oauth] [research-complete]", "See #mem-oauth/security for PKCE flow.")
		s.Press("esc")
		s.Gone("─ #1 from research-agent ─")
		s.Press("alt+2")
		s.See("[Agent: research-agent", " 1 pending]")
	})
}

// said is all that the user side of a request says.
func said(req llmtest.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				b.WriteString(p.Text + "\n")
			case llm.ToolResult:
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// TestMemoryOnTheScreen: the chips of documents, folded and unfolded, what is not
// there, and the commands; by a click too.
//
// Spec: M-10, M-30.
func TestMemoryOnTheScreen(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]uitest.Options{
		"120": {W: 120, H: 36}, "80": {W: 80, H: 30}, "40": {W: 40, H: 30}, "ascii-80": {W: 80, H: 30, Environ: []string{"LANG=C"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, o, func(s *uitest.Session) {
				s.Enter("/memory")
				s.See("No memory documents.")
				s.Enter("remember oauth/security: " + oauth)
				s.See("version 1, ")
				s.Enter(`remember oauth: "see the parts"`)
				s.See("#mem-oauth: version 1")
				s.Enter("/memory list")
				s.See("Memory documents:", "#mem-oauth/security  66 B")
				s.Type("/new")
				s.Press("enter")
				s.Enter("say #mem-oauth/security, #mem-oauth, #mem-gone; #mem-oauth/security.")
				s.See("#mem-oauth/security", "There is no memory document", "1 step")
				s.Golden("memory-chips-" + name)
				s.Press("ctrl+up", "up", "up", "up", "enter")
				s.See("short tokens")
				s.Press("enter")
				s.Gone("short tokens")
				s.Press("esc")
				s.Type("/memory show ")
				s.See("oauth/security")
				s.Type("oauth/security")
				s.Press("enter")
				s.See("short tokens", "OAuth security")
				s.Golden("memory-shown-" + name)
				s.Enter("/memory show oauht")
				s.See(" /memory show oauht")
			})
		})
	}
}

// TestMemoryCompletion: behind a # the documents there are, newly written ones too;
// a number is none of them.
func TestMemoryCompletion(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]uitest.Options{"120": {W: 120, H: 20}, "40": {W: 40, H: 20}} {
		t.Run(name, func(t *testing.T) {
			play(t, o, func(s *uitest.Session) {
				s.Enter("remember oauth/security: " + oauth)
				s.See("version 1, ")
				s.Enter("remember build-12: make")
				s.See("✓ remember build-12")
				s.Type("say see (#")
				s.See("#mem-build-12", "#mem-oauth/security")
				s.Golden("memory-complete-" + name)
				s.Type("mem-sec")
				s.Press("tab")
				s.See("› say see (#mem-oauth/security")
				s.Press("ctrl+u")
				s.Type("say #12")
				s.NotSee("#mem-build-12  ")
				s.Press("enter")
				s.See("▌ say #12")
			})
		})
	}
}

// TestProvenanceAges: the age of a message goes on while it shows, a minute at a time,
// and a click on its head opens it.
//
// Spec: M-30.
func TestProvenanceAges(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/send main look at #12")
		s.See("Message #1 is in the inbox of main")
		s.Enter("/check")
		s.See("✉ from main · #1 · just now · mail")
		s.Wait(time.Minute)
		s.See("✉ from main · #1 · 1m ago · mail")
		s.Wait(2 * time.Minute)
		s.See("✉ from main · #1 · 3m ago · mail")
		s.Wait(2 * time.Hour)
		s.See("✉ from main · #1 · 2h ago · mail")
		for y, l := range strings.Split(s.Screen(), "\n") {
			if strings.Contains(l, "✉ from main") {
				s.Send(fmt.Sprintf("\x1b[<0;6;%dM\x1b[<0;6;%dm", y+1, y+1))
			}
		}
		s.See("─ #1 from main ─", "2h ago")
		s.Golden("letter-120")
		s.Press("y")
		s.See("copied")
		s.Press("enter")
		s.Gone("─ #1 from main ─")
		s.Enter("/messages show 1")
		s.See("─ #1 from main ─")
		s.Press("esc")
		s.Enter("/messages show 9")
		s.See("There is no message #9", "› /messages show 9")
	})
}

// TestMemoryEdit: the human's editor makes the next version of a document; what it
// saved is lost neither if another wrote meanwhile nor if it fails; an empty text
// removes the document. An older version says which one it is.
//
// Spec: M-10.
func TestMemoryEdit(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "editor")
	editor := func(lines string) {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", dir)
	play(t, uitest.Options{W: 200, H: 40, Environ: []string{"EDITOR=" + script}}, func(s *uitest.Session) {
		kept := func(want ...string) {
			t.Helper()
			var texts []string
			paths, _ := filepath.Glob(filepath.Join(dir, "fantail-*", "*.md"))
			for _, path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(b))
			}
			if !slices.Equal(texts, want) {
				t.Errorf("kept are %q, not %q", texts, want)
			}
		}
		// The screen's reader of keys and the editor's each take one that nobody gets, for
		// who reads the virtual terminal can't be called back.
		edit := func(want string) {
			t.Helper()
			s.Enter("/memory edit build/fast")
			for n := 0; n < 10 && !(strings.Contains(s.Screen(), want) && s.Readers() == 1); n++ {
				s.Wait(time.Second)
				s.Press("right")
				s.Wait(time.Second)
			}
			s.See(want)
		}
		editor(`echo "run make" >> "$1"`)
		edit("✓ #mem-build/fast is at version 1, 9 B")
		edit("✓ #mem-build/fast is at version 2, 18 B")
		editor(`true`)
		edit("#mem-build/fast was not changed")
		editor(`exit 3`)
		edit("✗ Run the editor " + script + ": exit status 3")
		kept()
		editor(`echo "half a page" > "$1"; exit 1`)
		edit("exit status 1; what it saved is")
		kept("half a page\n")
		editor(`: > "$1"`)
		edit("✓ #mem-build/fast was removed. /memory log build/fast to see its versions")
		s.Enter("/memory log build/fast")
		s.See("3  removed · 0 B · ", "2  18 B · ", "1  9 B · ", " ago · by you")
		editor(`echo "run make -j" > "$1"`)
		edit("✓ #mem-build/fast is at version 4, 12 B")
		s.Enter("/memory rm #mem-build/fast")
		s.See("#mem-build/fast was removed. /memory log build/fast to see its versions")
		s.Enter("/memory rm build/fast")
		s.See("/memory edit build/fast to write it")
		s.Press("ctrl+u")
		s.Enter("/memory show build/fast 1")
		s.See("▪ #mem-build/fast · 9 B · by you · version 1", "run make")
		kept("half a page\n")
	})
}
