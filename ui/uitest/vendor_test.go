package uitest_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/acp/vendortest"
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
