package builtin

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// conversation is what the history says since the last answer.
type conversation struct {
	prompts      []string
	mail         []string // texts from an inbox
	calls        []pastCall
	callCount    int           // number of calls in the whole history
	interrupted  *conversation // what the last stopped turn had done; nil: none was stopped
	wrapUp       bool          // begin nothing more
	answer       string        // the last one
	lastAnswered *conversation // what preceded the answer, until something new is asked
	answered     []string      // prompts that were answered
}

// pastCall is a call of the engine with its result.
type pastCall struct {
	tool    string
	reply   int // index of the reply that made it
	text    string
	isError bool
}

// stoppedNote begins the host's note that a turn was stopped. The note ends what was asked before
// it.
const stoppedNote = "That turn ended before it was done"

// isResume reports whether a prompt asks to go on with a stopped turn.
func isResume(prompt string) bool {
	prompt = strings.ToLower(strings.TrimSpace(prompt))
	return prompt == "go on" || strings.HasPrefix(prompt, "go on with your task")
}

// resumable returns the conversation to go on with, without calls that were cut or failed. Those
// are made again, together with the other calls of the same reply.
func (p conversation) resumable() *conversation {
	for len(p.calls) > 0 {
		last := p.calls[len(p.calls)-1].reply
		from := slices.IndexFunc(p.calls, func(c pastCall) bool { return c.reply == last })
		if !slices.ContainsFunc(p.calls[from:], func(c pastCall) bool { return c.isError }) {
			break
		}
		p.calls = p.calls[:from]
	}
	return &conversation{prompts: p.prompts, calls: p.calls}
}

// wrapUpPrompt begins a prompt that asks to finish.
const wrapUpPrompt = "Wrap up now"

// readConversation reads a history. A reply without calls is an answer, which ends what was asked
// before it.
func readConversation(messages []llm.Message) conversation {
	var p conversation
	where := map[string]int{} // call id to index in p.calls
	restart := func() {
		p.prompts, p.mail, p.calls, p.wrapUp = nil, nil, nil, false
		clear(where)
	}
	for i, m := range messages {
		if m.Role == llm.Assistant && !slices.ContainsFunc(m.Parts, isCall) {
			over := p.resumable()
			p.answered = append(p.answered, p.prompts...)
			restart()
			p.answer, p.lastAnswered = textOf(m), over
			continue
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llm.ToolCall:
				p.callCount++
				if strings.HasPrefix(part.ID, "bi-") {
					where[part.ID] = len(p.calls)
					p.calls = append(p.calls, pastCall{tool: part.Name, reply: i, isError: true, text: "no result"})
				}
			case llm.ToolResult:
				if at, ok := where[part.ID]; ok {
					p.calls[at].text, p.calls[at].isError = part.Text, part.Error
				}
			case llm.Text:
				switch {
				case m.Role != llm.User:
				case part.From == llm.FromPrompt && isResume(part.Text) && p.interrupted != nil && len(p.prompts) == 0:
					p.prompts, p.calls, p.interrupted = p.interrupted.prompts, p.interrupted.calls, nil
				case part.From == llm.FromPrompt && strings.HasPrefix(part.Text, wrapUpPrompt):
					p.wrapUp = true
				case part.From == llm.FromPrompt:
					p.prompts, p.lastAnswered = append(p.prompts, part.Text), nil
				case part.From == llm.FromMessage:
					p.mail = append(p.mail, part.Text)
				case part.From == llm.FromHost && strings.HasPrefix(part.Text, stoppedNote):
					if len(p.prompts) > 0 {
						p.interrupted = p.resumable()
					} else if p.lastAnswered != nil && len(p.lastAnswered.prompts) > 0 { // the answer said what failed
						p.interrupted = p.lastAnswered
					}
					restart()
				}
			}
		}
	}
	return p
}

// textOf returns the text of a reply.
func textOf(m llm.Message) string {
	var b strings.Builder
	for _, part := range m.Parts {
		if t, ok := part.(llm.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func isCall(p llm.Part) bool {
	_, ok := p.(llm.ToolCall)
	return ok
}

// newCall is a call to make.
type newCall struct {
	tool string
	args map[string]any
}

// status is the progress of an instruction.
type status int

const (
	notDone status = iota
	done
	failed
)

// result is one instruction and its outcome.
type result struct {
	in          instruction
	calls       []pastCall
	status      status
	firstFailed bool // the first one that failed: the error at the end of the reply describes it
}

// promptResult is one prompt and its outcome.
type promptResult struct {
	parseErr error // it is not a list of instructions
	results  []result
}

// state is the state of a conversation: calls to make now, or a report to give.
type state struct {
	jobs       []promptResult
	mail       []string
	waits      []instruction // to wait for now, before the calls or the report
	calls      []newCall
	callCount  int
	wrapUp     bool     // begin nothing more
	lastAnswer string   // the last answer, if nothing was left to do
	answered   []string // prompts that were answered earlier
	brief      bool     // no human reads along

	program func(word string) bool
}

// progress determines what was done and what comes next.
func (p conversation) progress(program func(word string) bool) *state {
	s := &state{mail: p.mail, callCount: p.callCount, wrapUp: p.wrapUp, answered: p.answered, program: program}
	if p.wrapUp && len(p.prompts) == 0 {
		s.lastAnswer = p.answer
	}
	left := p.calls
	for _, prompt := range p.prompts {
		list, err := parse(prompt)
		j := promptResult{parseErr: err}
		for _, in := range list {
			j.results = append(j.results, result{in: in})
		}
		more := s.advance(&j, &left)
		s.jobs = append(s.jobs, j)
		if more {
			break
		}
	}
	return s
}

// advance replays the calls that were made for a prompt's instructions. It returns true at the
// first instruction that must be called now, at a `fail`, or if nothing more may be begun.
func (s *state) advance(j *promptResult, left *[]pastCall) bool {
	for i := range j.results {
		o := &j.results[i]
		if s.wrapUp && len(*left) == 0 && o.in.verb != "say" {
			return true
		}
		switch o.in.verb {
		case "wait":
			if len(*left) == 0 { // nothing was called after it yet
				s.waits = append(s.waits, o.in)
			}
			o.status = done
			continue
		case "fail":
			o.status = failed
			return true
		}
		if o.in.missingProgram = s.missingProgram(o.in); o.in.missingProgram != "" {
			o.status = failed
			return false
		}
		for {
			c, more := o.in.next(o.calls)
			if !more {
				break
			}
			if len(*left) == 0 {
				s.calls = append(s.calls, c)
				for _, n := range j.results[i+1:] {
					if !o.in.beside(n.in) {
						break
					}
					c, _ := n.in.next(nil)
					s.calls = append(s.calls, c)
				}
				return true
			}
			o.calls = append(o.calls, (*left)[0])
			*left = (*left)[1:]
		}
		if o.status = o.in.status(o.calls); o.status == failed {
			s.batch(j.results[i:], left)
			return false
		}
	}
	return false
}

// missingProgram returns the first word of a command if it is not a program, else "".
func (s *state) missingProgram(in instruction) string {
	if in.verb != "run" || in.arg == "" || s.program == nil {
		return ""
	}
	if first, _ := word(in.arg); plainWord.MatchString(first) && !s.program(first) {
		return first
	}
	return ""
}

// plainWord matches a word that can only be a command's name: it has no special meaning in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]*$`)

// failure returns a line about the first failure, and marks it. It returns false if nothing failed. A prompt that is no
// list of instructions counts as a failure only if no human reads along.
func (s *state) failure() (string, bool) {
	for _, j := range s.jobs {
		if j.parseErr != nil {
			if s.brief {
				return notUnderstood + ": " + j.parseErr.Error(), true
			}
			continue // the report says so, and nothing was begun
		}
		for i := range j.results {
			if o := &j.results[i]; o.status == failed {
				o.firstFailed = true
				return o.cause(s.brief), true
			}
		}
	}
	return "", false
}

// batch gives the instructions after a failed one the results of the calls that were made in the
// same reply.
func (s *state) batch(os []result, left *[]pastCall) {
	if len(os[0].calls) == 0 {
		return
	}
	reply := os[0].calls[len(os[0].calls)-1].reply
	for i := 1; i < len(os) && len(*left) > 0 && (*left)[0].reply == reply; i++ {
		os[i].calls = (*left)[:1]
		os[i].status = os[i].in.status(os[i].calls)
		*left = (*left)[1:]
	}
}

// beside reports whether two instructions may be called together.
func (in instruction) beside(n instruction) bool {
	return in.readOnly() && n.readOnly() || in.verb == "delegate" && n.verb == "delegate"
}

// readOnly reports whether an instruction is one call that changes nothing, so that it may be made
// together with its neighbours.
func (in instruction) readOnly() bool {
	switch in.verb {
	case "read", "list", "find", "grep", "queue":
		return true
	}
	return false
}

// bashSeconds is how long a command may take. It is long because no model waits for it.
const bashSeconds = 600

// next returns the call to make after those that were made; false: none.
func (in instruction) next(made []pastCall) (newCall, bool) {
	n := len(made)
	if in.verb == "write" || in.verb == "edit" {
		return in.change(made)
	}
	if n > 0 {
		return newCall{}, false
	}
	args := map[string]any{}
	set := func(name, value string) {
		if value != "" {
			args[name] = value
		}
	}
	switch in.verb {
	case "run":
		if in.arg != "" {
			return newCall{"bash", map[string]any{"command": in.arg, "timeout": bashSeconds}}, true
		}
		if in.count > 0 {
			args["count"] = in.count
		}
		return newCall{"run", args}, true
	case "queue":
		return newCall{"queue", args}, true
	case "read":
		set("path", in.arg)
		return newCall{"read_file", args}, true
	case "list":
		set("path", in.arg)
		return newCall{"list_files", args}, true
	case "find":
		set("pattern", in.arg)
		return newCall{"glob", args}, true
	case "grep":
		set("pattern", in.arg)
		set("path", in.text)
		return newCall{"grep", args}, true
	case "send":
		return newCall{"send", map[string]any{"to": in.arg, "message": in.text}}, true
	case "reply":
		return newCall{"reply_to_message", map[string]any{"id": in.count, "message": in.text}}, true
	case "list messages":
		return newCall{"list_messages", args}, true
	case "read message":
		return newCall{"read_message", map[string]any{"id": in.count}}, true
	case "remember":
		return newCall{"memory", map[string]any{"action": "write", "name": in.arg, "text": in.text}}, true
	case "call":
		_ = json.Unmarshal([]byte(in.text), &args) // it was validated when parsed
		return newCall{in.arg, args}, true
	case "run_check":
		return newCall{"run_check", map[string]any{"name": in.arg}}, true
	case "recall":
		return newCall{"memory", map[string]any{"action": "read", "name": in.arg}}, true
	case "memories":
		return newCall{"memory", map[string]any{"action": "list"}}, true
	case "remind":
		return newCall{"schedule", map[string]any{"action": "register", "kind": "reminder", "prompt": in.text, "delay_seconds": int(in.wait.Seconds())}}, true
	case "schedule":
		span := map[string]string{"every": "interval_seconds", "in": "delay_seconds"}[in.mode]
		return newCall{"schedule", map[string]any{"action": "register", "task_id": in.arg, "prompt": in.text, span: int(in.wait.Seconds())}}, true
	case "unregister":
		return newCall{"schedule", map[string]any{"action": "unregister", "task_id": in.arg}}, true
	case "check", "receive":
		set("from", in.arg)
		return newCall{in.verb, args}, true
	case "push":
		args := map[string]any{"name": in.arg, "prompt": in.text}
		if in.after != "" {
			args["after"] = strings.Split(in.after, ",")
		}
		in.await(args)
		return newCall{"push", args}, true
	case "ask":
		args["question"] = in.arg
		if len(in.options) > 0 {
			args["options"] = in.options
		}
		return newCall{"ask_user", args}, true
	case "delegate":
		args["name"], args["prompt"] = in.arg, in.text
		set("mode", in.mode)
		in.await(args)
		return newCall{"delegate", args}, true
	}
	return newCall{}, false
}

// await adds how an agent awaits input to the arguments of a call that dispatches it.
func (in instruction) await(args map[string]any) {
	if !in.interactive {
		return
	}
	args["interactive"] = true
	if d, err := duration(in.idle); err == nil {
		args["idle"] = int(math.Ceil(d.Seconds()))
	}
}

// change writes or edits a file. An edit first reads the file, because a file that was not read
// can't be edited. A write does so only after it was refused.
func (in instruction) change(made []pastCall) (newCall, bool) {
	path := map[string]any{"path": in.arg}
	read := newCall{"read_file", path}
	act := newCall{"edit_file", map[string]any{"path": in.arg, "edits": []map[string]any{{"old": in.text, "new": in.new}}}}
	if in.verb == "write" {
		act = newCall{"write_file", map[string]any{"path": in.arg, "content": in.text}}
	}
	var last pastCall
	if len(made) > 0 {
		last = made[len(made)-1]
	}
	switch {
	case len(made) == 0 && in.verb == "edit":
		return read, true
	case len(made) == 0:
		return act, true
	case last.tool == "read_file" && !last.isError:
		return act, true
	case len(made) == 1 && last.tool == "write_file" && last.isError && strings.Contains(last.text, "read it"):
		return read, true
	}
	return newCall{}, false
}

// status returns the outcome of an instruction whose calls were all made.
func (in instruction) status(made []pastCall) status {
	if len(made) > 0 && made[len(made)-1].isError {
		return failed
	}
	return done
}
