package builtin

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// past is what a history tells, read since the last answer.
type past struct {
	prompts []string
	mail    []string // texts that came from an inbox
	calls   []called
	made    int      // calls of the whole history
	cut     *past    // what the last turn that was stopped had come to; nil: none was
	wrap    bool     // nothing more is to be begun
	answer  string   // the last one
	over    *past    // what stood before the answer, until something new is asked
	guided  bool     // an answer told what can be done
	before  []string // the prompts that were answered
}

// called is a call of ours that was made, with its result.
type called struct {
	tool  string
	reply int // which reply made it
	text  string
	wrong bool
}

// stopped begins the host's note that a turn was stopped: what was asked before
// it is over.
const stopped = "That turn ended before it was done"

// goesOn reports whether a prompt asks to go on with what was stopped.
func goesOn(prompt string) bool {
	prompt = strings.ToLower(strings.TrimSpace(prompt))
	return prompt == "go on" || strings.HasPrefix(prompt, "go on with your task")
}

// kept is what to go on with: all but the calls that were cut or failed, with those
// made beside them, which are made again.
func (p past) kept() *past {
	for len(p.calls) > 0 {
		last := p.calls[len(p.calls)-1].reply
		from := slices.IndexFunc(p.calls, func(c called) bool { return c.reply == last })
		if !slices.ContainsFunc(p.calls[from:], func(c called) bool { return c.wrong }) {
			break
		}
		p.calls = p.calls[:from]
	}
	return &past{prompts: p.prompts, calls: p.calls}
}

// wrapUp begins a prompt that asks to finish with what there is.
const wrapUp = "Wrap up now"

// read goes through a history. A reply without calls is an answer: what was
// asked before it is over, and so is what a reply holds that is no call.
func read(messages []llm.Message) past {
	var p past
	where := map[string]int{} // call id → place in p.calls
	restart := func() {
		p.prompts, p.mail, p.calls, p.wrap = nil, nil, nil, false
		clear(where)
	}
	for i, m := range messages {
		if m.Role == llm.Assistant && !slices.ContainsFunc(m.Parts, isCall) {
			over := p.kept()
			p.before = append(p.before, p.prompts...)
			restart()
			p.answer, p.over = textOf(m), over
			p.guided = p.guided || strings.Contains(p.answer, guide)
			continue
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llm.ToolCall:
				p.made++
				if strings.HasPrefix(part.ID, "bi-") {
					where[part.ID] = len(p.calls)
					p.calls = append(p.calls, called{tool: part.Name, reply: i, wrong: true, text: "no result"})
				}
			case llm.ToolResult:
				if at, ok := where[part.ID]; ok {
					p.calls[at].text, p.calls[at].wrong = part.Text, part.Error
				}
			case llm.Text:
				switch {
				case m.Role != llm.User:
				case part.From == llm.FromPrompt && goesOn(part.Text) && p.cut != nil && len(p.prompts) == 0:
					p.prompts, p.calls, p.cut = p.cut.prompts, p.cut.calls, nil
				case part.From == llm.FromPrompt && strings.HasPrefix(part.Text, wrapUp):
					p.wrap = true
				case part.From == llm.FromPrompt:
					p.prompts, p.over = append(p.prompts, part.Text), nil
				case part.From == llm.FromMessage:
					p.mail = append(p.mail, part.Text)
				case part.From == llm.FromHost && strings.HasPrefix(part.Text, stopped):
					if len(p.prompts) > 0 {
						p.cut = p.kept()
					} else if p.over != nil && len(p.over.prompts) > 0 { // its answer said what failed
						p.cut = p.over
					}
					restart()
				}
			}
		}
	}
	return p
}

// textOf is what a reply says.
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

// call is one to make.
type call struct {
	tool string
	args map[string]any
}

// status is how far an instruction came.
type status int

const (
	notDone status = iota
	done
	failed
)

// outcome is one instruction and what became of it.
type outcome struct {
	in     instruction
	calls  []called
	status status
	first  bool // of those that failed: the error the reply ends with tells of it
}

// job is one prompt.
type job struct {
	bad      error // it is not a list of instructions
	outcomes []outcome
}

// state is where a conversation stands: calls to make now, or a report to give.
type state struct {
	jobs   []job
	mail   []string
	waits  []instruction // to wait now, before the calls or the report
	calls  []call
	made   int
	wrap   bool     // nothing more is begun
	again  string   // the answer that stands, where nothing was left to do
	knows  bool     // the guide stands above
	before []string // the prompts that were answered earlier
	brief  bool     // nobody reads along

	program func(word string) bool
}

// progress finds out what was carried out and what comes next.
func (p past) progress(program func(word string) bool) *state {
	s := &state{mail: p.mail, made: p.made, wrap: p.wrap, knows: p.guided, before: p.before, program: program}
	if p.wrap && len(p.prompts) == 0 {
		s.again = p.answer
	}
	left := p.calls
	for _, prompt := range p.prompts {
		list, err := parse(prompt)
		j := job{bad: err}
		for _, in := range list {
			j.outcomes = append(j.outcomes, outcome{in: in})
		}
		more := s.advance(&j, &left)
		s.jobs = append(s.jobs, j)
		if more {
			break
		}
	}
	return s
}

// advance replays the calls that were made over a prompt's instructions. It
// returns true when it met one that must be called now, or a `fail`, or when
// nothing more is to be begun.
func (s *state) advance(j *job, left *[]called) bool {
	for i := range j.outcomes {
		o := &j.outcomes[i]
		if s.wrap && len(*left) == 0 && o.in.verb != "say" {
			return true
		}
		switch o.in.verb {
		case "wait":
			if len(*left) == 0 { // nothing was called behind it yet
				s.waits = append(s.waits, o.in)
			}
			o.status = done
			continue
		case "fail":
			o.status = failed
			return true
		}
		if o.in.lost = s.lost(o.in); o.in.lost != "" {
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
				for _, n := range j.outcomes[i+1:] {
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
			s.batch(j.outcomes[i:], left)
			return false
		}
	}
	return false
}

// lost is the word that a command begins with and that is no program; "": there is
// none.
func (s *state) lost(in instruction) string {
	if in.verb != "run" || in.arg == "" || s.program == nil {
		return ""
	}
	if first, _ := word(in.arg); plainWord.MatchString(first) && !s.program(first) {
		return first
	}
	return ""
}

// plainWord is one that can only be a command's name: nothing in it means more to a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]*$`)

// failure says in a line what failed first, and marks it; false: nothing did.
func (s *state) failure() (string, bool) {
	for _, j := range s.jobs {
		if j.bad != nil {
			if s.brief {
				return lacking + ": " + j.bad.Error(), true
			}
			return j.bad.Error() + ": nothing of this prompt was done", true
		}
		for i := range j.outcomes {
			if o := &j.outcomes[i]; o.status == failed {
				o.first = true
				return o.cause(s.brief), true
			}
		}
	}
	return "", false
}

// batch gives the instructions behind a failed one the results of calls that
// were made in the same reply.
func (s *state) batch(os []outcome, left *[]called) {
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

// readOnly reports whether an instruction is one call that changes nothing, so
// that it may be made together with its neighbours.
func (in instruction) readOnly() bool {
	switch in.verb {
	case "read", "list", "find", "grep", "queue":
		return true
	}
	return false
}

// bashSeconds is how long a command may take: no model waits for it.
const bashSeconds = 600

// next is the call to make after those that were made; false: there is none.
func (in instruction) next(made []called) (call, bool) {
	n := len(made)
	if in.verb == "write" || in.verb == "edit" {
		return in.change(made)
	}
	if n > 0 {
		return call{}, false
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
			return call{"bash", map[string]any{"command": in.arg, "timeout": bashSeconds}}, true
		}
		if in.count > 0 {
			args["count"] = in.count
		}
		return call{"run", args}, true
	case "queue":
		return call{"queue", args}, true
	case "read":
		set("path", in.arg)
		return call{"read_file", args}, true
	case "list":
		set("path", in.arg)
		return call{"list_files", args}, true
	case "find":
		set("pattern", in.arg)
		return call{"glob", args}, true
	case "grep":
		set("pattern", in.arg)
		set("path", in.text)
		return call{"grep", args}, true
	case "send":
		return call{"send", map[string]any{"to": in.arg, "message": in.text}}, true
	case "reply":
		return call{"reply_to_message", map[string]any{"id": in.count, "message": in.text}}, true
	case "list messages":
		return call{"list_messages", args}, true
	case "read message":
		return call{"read_message", map[string]any{"id": in.count}}, true
	case "remember":
		return call{"memory", map[string]any{"action": "write", "name": in.arg, "text": in.text}}, true
	case "call":
		_ = json.Unmarshal([]byte(in.text), &args) // as it was parsed
		return call{in.arg, args}, true
	case "run_check":
		return call{"run_check", map[string]any{"name": in.arg}}, true
	case "recall":
		return call{"memory", map[string]any{"action": "read", "name": in.arg}}, true
	case "memories":
		return call{"memory", map[string]any{"action": "list"}}, true
	case "remind":
		return call{"schedule", map[string]any{"action": "register", "kind": "reminder", "prompt": in.text, "delay_seconds": int(in.wait.Seconds())}}, true
	case "schedule":
		span := map[string]string{"every": "interval_seconds", "in": "delay_seconds"}[in.mode]
		return call{"schedule", map[string]any{"action": "register", "task_id": in.arg, "prompt": in.text, span: int(in.wait.Seconds())}}, true
	case "unregister":
		return call{"schedule", map[string]any{"action": "unregister", "task_id": in.arg}}, true
	case "check", "receive":
		set("from", in.arg)
		return call{in.verb, args}, true
	case "push":
		args := map[string]any{"name": in.arg, "prompt": in.text}
		if in.after != "" {
			args["after"] = strings.Split(in.after, ",")
		}
		in.await(args)
		return call{"push", args}, true
	case "ask":
		args["question"] = in.arg
		if len(in.options) > 0 {
			args["options"] = in.options
		}
		return call{"ask_user", args}, true
	case "delegate":
		args["name"], args["prompt"] = in.arg, in.text
		set("mode", in.mode)
		in.await(args)
		return call{"delegate", args}, true
	}
	return call{}, false
}

// await adds how an agent awaits input to the arguments of a call that dispatches it.
func (in instruction) await(args map[string]any) {
	if !in.stays {
		return
	}
	args["interactive"] = true
	if d, err := duration(in.idle); err == nil {
		args["idle"] = int(math.Ceil(d.Seconds()))
	}
}

// change writes or edits a file. An edit reads the file first, because a file
// that was not read is not edited; a write does so only when it was refused.
func (in instruction) change(made []called) (call, bool) {
	path := map[string]any{"path": in.arg}
	read := call{"read_file", path}
	act := call{"edit_file", map[string]any{"path": in.arg, "edits": []map[string]any{{"old": in.text, "new": in.new}}}}
	if in.verb == "write" {
		act = call{"write_file", map[string]any{"path": in.arg, "content": in.text}}
	}
	var last called
	if len(made) > 0 {
		last = made[len(made)-1]
	}
	switch {
	case len(made) == 0 && in.verb == "edit":
		return read, true
	case len(made) == 0:
		return act, true
	case last.tool == "read_file" && !last.wrong:
		return act, true
	case len(made) == 1 && last.tool == "write_file" && last.wrong && strings.Contains(last.text, "read it"):
		return read, true
	}
	return call{}, false
}

// status judges an instruction by its calls, all of which were made.
func (in instruction) status(made []called) status {
	if len(made) > 0 && made[len(made)-1].wrong {
		return failed
	}
	return done
}
