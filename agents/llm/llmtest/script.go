package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fantail/agents/llm"
)

// Script is an Answer for [Server] that does what the prompt says; the package
// comment has the words.
func Script(req Request) Reply {
	text, done := script(req)
	if text == "" {
		return Say("No instruction found in: " + llm.Clip(strings.TrimSpace(req.LastText()), 200) + "\n\nTry `say`, `think`, `lorem`, `call`, `and`, `usage`, `delay`, `hold`, `status`, `error`, `cut`, `stall` or `stop`.")
	}
	steps, err := parseScript(text)
	if err != nil {
		return Say("The script is wrong: " + err.Error())
	}
	if done >= len(steps) {
		return Say("done.")
	}
	return steps[done].reply(req, done)
}

// script returns the newest text of the user that holds an instruction and the
// number of replies since.
func script(req Request) (string, int) {
	done := 0
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if m.Role == llm.Assistant {
			done++
			continue
		}
		for j := len(m.Parts) - 1; j >= 0; j-- {
			if t, ok := m.Parts[j].(llm.Text); ok && scripted(t.Text) {
				return t.Text, done
			}
		}
	}
	return "", 0
}

func scripted(text string) bool {
	for _, line := range lines(text) {
		if word, _, _ := strings.Cut(line, " "); known(word) {
			return true
		}
	}
	return false
}

func lines(text string) []string {
	var all []string
	for _, line := range strings.Split(strings.ReplaceAll(text, " ;; ", "\n"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func known(word string) bool {
	switch word {
	case "say", "think", "lorem", "call", "and", "usage", "delay", "hold", "status", "error", "cut", "stall", "stop":
		return true
	}
	return false
}

// step is one reply of a script and the tries that fail before it.
type step struct {
	r      Reply
	calls  bool
	fails  int // tries
	fail   Reply
	cutsAt int // of the first try
	stalls bool
}

// reply is the step's answer to req. Calls get ids that are the same in each try.
func (s step) reply(req Request, n int) Reply {
	if req.Attempt <= s.fails {
		return s.fail
	}
	r := s.r
	r.Parts = append([]llm.Part(nil), r.Parts...)
	for i, p := range r.Parts {
		if c, ok := p.(llm.ToolCall); ok {
			c.ID = fmt.Sprintf("call_%d_%d_%d", len(req.Messages), n, i)
			r.Parts[i] = c
		}
	}
	if s.cutsAt > 0 && req.Attempt == 1 {
		r.Cut = s.cutsAt
	}
	if s.stalls {
		r.Stop = llm.Other
		r.Error = stallWord
	}
	return r
}

// stallWord in Reply.Error stalls where the error event would stand.
const stallWord = "stall"

func parseScript(text string) ([]step, error) {
	var steps []step
	cur := step{}
	any := false
	flush := func() {
		if any {
			steps = append(steps, cur)
		}
		cur, any = step{}, false
	}
	for _, line := range lines(text) {
		word, rest, _ := strings.Cut(line, " ")
		if !known(word) {
			continue
		}
		rest = strings.TrimSpace(rest)
		if cur.calls && word != "and" {
			flush()
		}
		any = true
		if err := cur.line(word, rest); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	flush()
	return steps, nil
}

func (s *step) line(word, rest string) error {
	f := strings.Fields(rest)
	switch word {
	case "say":
		s.r.Parts = append(s.r.Parts, llm.Text{Text: rest + "\n\n"})
	case "think":
		s.r.Parts = append(s.r.Parts, llm.Thinking{Text: rest})
	case "lorem":
		n, err := number(f, 0, 100)
		if err != nil {
			return err
		}
		if len(f) > 1 {
			if s.r.Pace, err = strconv.ParseFloat(strings.TrimPrefix(f[1], "@"), 64); err != nil {
				return err
			}
		}
		s.r.Parts = append(s.r.Parts, llm.Text{Text: Lorem(n)})
	case "call", "and":
		return s.call(rest)
	case "usage":
		in, err := number(f, 0, 0)
		if err != nil {
			return err
		}
		out, err := number(f, 1, 0)
		s.r.Usage = llm.Usage{Input: in, Output: out}
		return err
	case "delay":
		d, err := time.ParseDuration(rest)
		s.r.Delay = d
		return err
	case "hold":
		s.r.Hold = rest
	case "stop":
		s.r.Stop = llm.Reason(rest)
	case "stall":
		s.stalls = true
	case "cut":
		n, err := number(f, 0, 1)
		s.cutsAt = n
		return err
	case "status", "error":
		return s.failing(word, f)
	}
	return nil
}

func (s *step) call(rest string) error {
	name, args, _ := strings.Cut(rest, " ")
	if args = strings.TrimSpace(args); args == "" {
		args = "{}"
	}
	if !json.Valid([]byte(args)) {
		return fmt.Errorf("the arguments are not JSON")
	}
	s.calls = true
	s.r.Parts = append(s.r.Parts, llm.ToolCall{Name: name, Args: json.RawMessage(args)})
	return nil
}

func (s *step) failing(word string, f []string) error {
	n, err := number(f, 1, 1)
	if err != nil {
		return err
	}
	s.fails = n
	if word == "error" {
		if len(f) == 0 {
			return fmt.Errorf("which error?")
		}
		s.fail = Reply{Parts: s.r.Parts, Error: f[0]}
		return nil
	}
	status, err := number(f, 0, 529)
	if err != nil {
		return err
	}
	s.fail = Fail(status, fmt.Sprintf(`{"type":"error","error":{"type":"scripted_error","message":"%d as the script wants it"}}`, status))
	if len(f) > 2 {
		s.fail.Header = http.Header{"Content-Type": {"application/json"}, "Retry-After": {f[2]}}
	}
	return nil
}

func number(f []string, i, otherwise int) (int, error) {
	if i >= len(f) {
		return otherwise, nil
	}
	return strconv.Atoi(f[i])
}
