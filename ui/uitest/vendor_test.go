package uitest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/vendortest"
	"fantail/ui/uitest"
)

// obeyed is a vendor whose agents obey plain instructions, as the engine does that needs no model: with tools of their own,
// before which they ask, and with ours.
type obeyed struct {
	*vendortest.Vendor
	mu    sync.Mutex
	first map[string]string // what each session was told first
}

// theirs has the agents of a test be such a vendor's.
func theirs(t *testing.T, o uitest.Options) uitest.Options {
	v := &obeyed{first: map[string]string{}}
	v.Vendor = vendortest.New(t, func() *acptest.Agent { return &acptest.Agent{Loads: true, Resumes: true, Turn: v.turn} })
	o.Provider, o.Model = v.Engine(), "acp/fake"
	return o
}

// signed is what stands behind what an agent is told.
var signed = regexp.MustCompile(`\n\n\[fantail-\d+-\d+\]$`)

// turn tells what came, and obeys what the human wrote behind it.
func (v *obeyed) turn(t *acptest.Turn) string {
	text := signed.ReplaceAllString(t.Prompt, "")
	var news []string
	for _, m := range what.FindAllStringSubmatch(text, -1) {
		news = append(news, m[1]+": "+m[2])
	}
	if end := strings.LastIndex(text, "\n</message "); end >= 0 {
		_, text, _ = strings.Cut(text[end:], ">")
	}
	text = strings.TrimSpace(text)
	v.mu.Lock()
	if v.first[t.Session] == "" {
		v.first[t.Session] = text
	}
	first := v.first[t.Session]
	v.mu.Unlock()
	if len(news) > 0 {
		t.Say(strings.Join(news, "\n\n") + "\n\n")
	}
	for n, line := range instructions(text) {
		if why := v.obeys(t, fmt.Sprint("c", n), line, first); why != "" || t.Context.Err() != nil {
			return why
		}
	}
	return ""
}

// instructions are those of a text, one after the other. What is handed on to others is theirs to take apart.
func instructions(text string) (all []string) {
	for line := range strings.Lines(text) {
		if verb, _, _ := strings.Cut(line, " "); verb == "delegate" || verb == "push" {
			all = append(all, strings.TrimSpace(line))
			continue
		}
		for one := range strings.SplitSeq(line, " then ") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	return all
}

// obeys carries out an instruction; why, if not empty, is why the turn ends with it.
func (v *obeyed) obeys(t *acptest.Turn, id, line, first string) (why string) {
	verb, rest, _ := strings.Cut(line, " ")
	name, body, _ := strings.Cut(rest, ": ")
	args := func(of map[string]any) string {
		b, _ := json.Marshal(of)
		return string(b)
	}
	ours := func(tool string, of map[string]any) {
		t.Call(id, "other", strings.TrimSpace(tool+" "+name))
		t.Done(id, v.CallIn(t, tool, args(of)).Text)
	}
	switch verb {
	case "say":
		t.Say(rest + "\n\n")
	case "now": // also say
		t.Say(strings.TrimPrefix(rest, "also say ") + ", beside " + first)
	case "wait":
		d, _ := time.ParseDuration(rest)
		uitest.Pause(t.Context, d)
	case "fail":
		t.Say(rest)
		return "refusal"
	case "run":
		v.runs(t, id, rest)
	case "grep":
		v.reads(t, id, rest)
	case "send":
		ours("send", map[string]any{"to": name, "message": body})
	case "check":
		ours("check", map[string]any{})
	case "receive":
		of := map[string]any{}
		if from, is := strings.CutPrefix(rest, "from "); is {
			of["from"] = from
		}
		ours("receive", of)
	case "push":
		ours("push", map[string]any{"name": name, "prompt": body})
	case "delegate":
		ours("delegate", map[string]any{"name": name, "prompt": body, "mode": "async"})
	default:
		t.Say("I don't know how to " + line)
	}
	return ""
}

// runs runs a command, if it may.
func (v *obeyed) runs(t *acptest.Turn, id, command string) {
	t.Update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"kind":"execute","title":%q,"rawInput":{"command":%q},"status":"pending"}`, id, command, command))
	if t.Ask(id, command, "allow_once", "reject_once") != "allow_once" {
		t.Update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"failed","content":[{"type":"content","content":{"type":"text","text":"It was not allowed."}}]}`, id))
		return
	}
	cmd := exec.CommandContext(t.Context, "sh", "-c", command)
	cmd.Dir = t.Where()
	out, _ := cmd.CombinedOutput() // what it says is what it did
	t.Done(id, string(out))
}

// reads looks for a text in files, unasked.
func (v *obeyed) reads(t *acptest.Turn, id, pattern string) {
	t.Call(id, "search", "grep "+pattern)
	cmd := exec.CommandContext(t.Context, "grep", "-rn", pattern, ".")
	cmd.Dir = t.Where()
	out, _ := cmd.CombinedOutput()
	t.Done(id, string(out))
	t.Say("I found: " + string(out))
}

// TestMainJob_vendors does what the program is for with another vendor's agents: three of them are pushed, two run at a time,
// what they ask is answered, a question outlives a restart, and each result is taken once.
func TestMainJob_vendors(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("grep"); err != nil {
		t.Skip("grep is not installed")
	}
	synctest.Test(t, func(t *testing.T) {
		o := theirs(t, uitest.Options{Files: map[string]string{"a.go": "package a // TODO: more\n"}})
		s := uitest.Start(t, o)
		s.Enter("/push name=tests run echo all tests pass | tee log")
		s.See("Queued tests")
		s.Enter("/push name=vet run touch happy")
		s.See("Queued vet")
		s.Enter("/push name=todo grep TODO")
		s.See("Queued todo", "3 queued")
		s.Enter("/run 2")
		s.See("tests ● asks", "vet ● asks", "2 asking", "todo ✓")

		s.Press("alt+2")
		s.See("tests has a question", "fake asks: echo all tests pass | tee log", "·  Choice allow_once", "·  Choice reject_once")
		s.Wait(firstSecond)
		s.Press("down", "enter")
		s.Gone("has a question")
		s.See("✓ echo all tests pass", "│ all tests pass", "tests ✓")

		s.Press("alt+3")
		s.See("vet has a question")
		s.Press("alt+1")
		s.See("[Agent: main | 2 pending]")
		home := s.Home
		s.Enter("/quit") // with vet at its question
		s.Left()
		s.Stop()

		o.Home = home
		s = uitest.Start(t, o)
		s.See("tests ✓", "todo ✓", "vet ● asks", "1 asking")
		s.Press("alt+3")
		s.See("vet has a question", "fake asks: touch happy")
		s.Wait(firstSecond)
		s.Press("down", "down", "enter")
		s.Gone("has a question")
		s.See("vet ✓")
		if _, err := os.Stat(filepath.Join(home.Root, "happy")); err == nil {
			t.Error("what was refused was done")
		}
		s.Press("alt+1")
		s.Enter("/receive")
		s.See("✉ from ", " · completed")
		s.Enter("/check")
		s.See("2 messages collected")
		s.Press("ctrl+o")
		s.See("✉ from tests", "✉ from todo", "✉ from vet", "TODO: more", "[Agent: main]")
		s.NotSee("pending")
		s.Enter("/check")
		s.See("No messages ready.")
		s.Enter("say Four.")
		s.See("Four.", "fake carries out the turns here")
		s.Enter("/doctor")
		s.See("started 3 = delivered 3 + pending 0 + running 0")
		s.Stop()

		o.Home = home
		s = uitest.Start(t, o)
		s.See("✓ vet ", "Four.", "[Agent: main]")
		s.Enter("say Five.")
		s.See("Five.")
		if n := strings.Count(s.Screen(), "Four."); n > 2 { // what was asked, and the answer
			t.Errorf("it says %d times what it said before", n)
		}
	})
}

// TestHostileVendorNeverReachesTheTerminal: nor does what another vendor's agent says, asks or fails with.
func TestHostileVendorNeverReachesTheTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		evil, _ := json.Marshal(wild)
		v := vendortest.New(t, func() *acptest.Agent {
			return &acptest.Agent{Turn: func(t *acptest.Turn) string {
				for _, text := range []string{
					`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":` + string(evil) + `}}`,
					`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(evil) + `}}`,
					`{"sessionUpdate":"tool_call","toolCallId":` + string(evil) + `,"name":` + string(evil) + `,"kind":` + string(evil) + `,"title":` + string(evil) + `,"rawInput":{"x":` + string(evil) + `}}`,
					`{"sessionUpdate":"tool_call_update","toolCallId":` + string(evil) + `,"content":[{"type":"content","content":{"type":"text","text":` + string(evil) + `}}]}`,
					`{"sessionUpdate":"tool_call","toolCallId":"d","kind":"edit","status":"completed","content":[{"type":"diff","path":` + string(evil) + `,"oldText":` + string(evil) + `,"newText":"x"}]}`,
					`{"sessionUpdate":"plan","entries":[{"content":` + string(evil) + `}]}`,
					`{"sessionUpdate":"notice","title":` + string(evil) + `,"description":` + string(evil) + `}`,
					`{"sessionUpdate":` + string(evil) + `}`,
					`{"sessionUpdate":"session_info_update","title":` + string(evil) + `}`,
				} {
					t.Update(text)
				}
				_, _ = t.Request("session/request_permission", json.RawMessage(`{"toolCall":{"toolCallId":"q","title":`+string(evil)+`,"rawInput":{`+string(evil)+`:`+string(evil)+`}},
					"options":[{"optionId":"a","name":`+string(evil)+`,"kind":"allow_once"},{"optionId":"b","name":"No","kind":"reject_once"}]}`))
				return wild
			}}
		})
		v.Words = wild
		s := uitest.Start(t, uitest.Options{Provider: v.Engine(), Model: "acp/fake"})
		s.Enter("go")
		s.See("alt+a")
		s.Press("alt+a")
		s.See("main has a question")
		s.Wait(firstSecond)
		s.Type("2")
		s.Gone("has a question")
		s.Until("its turn ends", func() bool { return !strings.Contains(s.Status(), "running") })
		s.Press("ctrl+o")
		s.Wait(time.Second)
		s.Enter("/push name=kid go")
		s.Enter("/run")
		s.See("kid ● asks")
		v.Kill() // what it asks outlives it
		s.Press("alt+2")
		s.See("What it asked stays open")
		s.Press("alt+1")
		s.Enter("/kill kid")
		s.See("Ended kid") // its question was pending before, too
		s.See("1 pending]")
		s.Enter("/check")
		s.See("✉ from kid")
		s.Press("alt+2")
		for range 4 {
			s.Wait(time.Second)
			s.Press("tab")
		}
		if bad := unknown(s.Raw()); len(bad) > 0 {
			t.Errorf("the program wrote %q", bad)
		}
	})
}
