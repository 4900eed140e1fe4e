package builtin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"fantail/agents/llm"
)

const (
	tailLines = 20  // of a command's output
	headLines = 20  // of what was read or found
	widest    = 240 // bytes of a line
)

// report returns the answer: the messages from the inbox, which came first, and the result of each
// instruction of each prompt. If no human reads along, the prompts come first.
func (s *state) report() string {
	var parts []string
	if len(s.mail) > 0 && !s.brief {
		parts = append(parts, messageList(s.mail))
	}
	for _, j := range s.jobs {
		if t := s.reportOf(j); t != "" {
			parts = append(parts, t)
		}
	}
	if len(s.mail) > 0 && s.brief {
		parts = append(parts, messageList(s.mail))
	}
	switch {
	case s.wrapUp && s.lastAnswer != "":
		parts = append([]string{s.lastAnswer}, parts...)
	case s.wrapUp && len(parts) == 0:
		parts = append(parts, "There was nothing to finish.")
	}
	if len(s.jobs) == 0 && len(parts) == 0 {
		parts = append(parts, help(nil))
	}
	return strings.Join(parts, "\n\n")
}

// reportOf returns the report of one prompt. If it can't be carried out, a human who reads along
// gets the help.
func (s *state) reportOf(j promptResult) string {
	if j.parseErr != nil && s.brief {
		return "" // the error says it
	}
	if j.parseErr != nil {
		return help(j.parseErr)
	}
	waits := 0
	for _, o := range j.results {
		if o.in.verb == "wait" {
			waits++
		}
	}
	var parts, rest []string
	for _, o := range j.results {
		switch {
		case o.status == notDone:
			rest = append(rest, code(clip(o.in.source)))
		case o.in.verb == "say":
			parts = append(parts, o.in.arg)
		case o.in.verb == "help":
			parts = append(parts, guide)
		case o.in.verb == "wait" && waits < len(j.results): // the other results imply it
		case o.firstFailed: // the error says it; a screen shows the rest at the call
			if t := o.found(); t != "" && s.brief {
				parts = append(parts, t)
			}
		default:
			parts = append(parts, o.report())
		}
	}
	if len(rest) > 0 {
		parts = append(parts, "Not done: "+strings.Join(rest, ", "))
	}
	if j.results[0].in.also && len(s.answered) > 0 {
		parts = append(parts, s.earlierText())
	}
	return strings.Join(parts, "\n\n")
}

// maxEarlier limits the earlier prompts that a report names.
const maxEarlier = 5

// earlierText names the prompts that were answered earlier.
func (s *state) earlierText() string {
	names, more := s.answered, ""
	if n := len(names) - maxEarlier; n > 0 {
		names, more = names[n:], fmt.Sprintf(", and %d before", n)
	}
	var list []string
	for _, prompt := range names {
		list = append(list, code(clip(oneLine(prompt))))
	}
	return "This comes beside what you asked of me earlier: " + strings.Join(list, ", ") + more + "."
}

// report returns a line about how an instruction ended, and what it showed.
func (o result) report() string {
	sign := "✓ "
	if o.status == failed {
		sign = "✗ "
	}
	var last pastCall
	if n := len(o.calls); n > 0 {
		last = o.calls[n-1]
	}
	text := strings.TrimRight(last.text, "\n")
	switch o.in.verb {
	case "wait":
		return sign + "waited " + o.in.wait.String()
	case "fail":
		return sign + "failed as told: " + o.in.arg
	case "run":
		switch {
		case o.in.missingProgram != "":
			return sign + code(clip(o.in.source)) + " · " + o.in.missingProgramText()
		case o.in.arg != "":
			return sign + command(o.in.arg, last)
		}
	case "check", "receive", "delegate", "read message":
		if strings.Contains(text, "<message ") {
			return sign + code(o.in.title()) + "\n\n" + messageBodies(text)
		}
	case "list messages":
		if _, list, ok := strings.Cut(text, "not an instruction.\n"); ok && strings.HasPrefix(text, "<messages ") {
			list, _, _ = strings.Cut(list, "\n</messages mark=")
			return sign + code(o.in.title()) + "\n\n" + fence(head(list))
		}
	case "recall":
		if doc := memoryDocument(text); doc != "" {
			return sign + code(o.in.title()) + "\n\n" + doc
		}
	case "read", "list", "find", "grep":
		if o.status == done {
			return sign + code(clip(o.in.source)) + count(o.in, text) + "\n\n" + fence(head(text))
		}
	}
	title := sign + code(clip(o.in.title()))
	if note := o.in.remark(); note != "" && o.status == done {
		text = strings.TrimSpace(text + "\n" + note)
		return title + " · " + text
	}
	if text == "" {
		return title
	}
	if !strings.Contains(text, "\n") && len(text) <= widest {
		return title + " · " + text
	}
	return title + "\n\n" + fence(head(text))
}

// title returns an instruction without its text.
func (in instruction) title() string {
	switch in.verb {
	case "write", "edit", "send", "reply", "push", "delegate", "remember", "remind", "schedule":
		return in.verb + " " + in.arg
	}
	return in.source
}

// The forms of the last line of the tool bash about how a command ended.
var (
	note     = regexp.MustCompile(`(?:^|\n)\[([^\n]*)\]$`)
	exitCode = regexp.MustCompile(`\bexit code (-?\d+)`)
	quiet    = regexp.MustCompile(`^(?:no output|processes left running[^;]*)(?:; processes left running[^;]*)?$`)
)

// command reports how a command ended, and the end of its output.
func command(cmd string, c pastCall) string {
	line, text := ran(cmd, c)
	if text == "" {
		return line
	}
	return line + "\n\n" + text
}

// found returns what a failed instruction showed.
func (o result) found() string {
	if n := len(o.calls); n > 0 && o.in.verb == "run" && o.in.arg != "" {
		_, text := ran(o.in.arg, o.calls[n-1])
		return text
	}
	return ""
}

// ran returns how a command ended, and the end of its output.
func ran(cmd string, c pastCall) (line, output string) {
	text, end := strings.TrimRight(c.text, "\n"), "exit 0"
	m := note.FindStringSubmatchIndex(text)
	switch {
	case m != nil && !c.isError && quiet.MatchString(text[m[2]:m[3]]):
		if n := text[m[2]:m[3]]; n != "no output" {
			end += " · " + n
		}
		text = text[:m[0]]
	case m != nil && c.isError:
		end = exitCode.ReplaceAllString(text[m[2]:m[3]], "exit $1")
		text = text[:m[0]]
	case c.isError && !strings.Contains(text, "\n") && len(text) <= widest: // it did not run
		end, text = text, ""
	case c.isError:
		end = "not run"
	}
	line = code(clip(oneLine(cmd))) + " · " + end
	if strings.TrimSpace(text) == "" {
		return line, ""
	}
	return line, fence(tail(text))
}

// count says how many lines were found.
func count(in instruction, text string) string {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "[") {
			n++
		}
	}
	switch {
	case in.verb == "read":
		return ""
	case n == 1:
		return " · 1 line"
	}
	return fmt.Sprintf(" · %d lines", n)
}

// head returns the beginning of a text, tail its end. Both say how much is left out.
func head(s string) string {
	lines := strings.Split(s, "\n")
	if left := len(lines) - headLines; left > 0 {
		return shorten(lines[:headLines]) + fmt.Sprintf("\n… %d more lines", left)
	}
	return shorten(lines)
}

func tail(s string) string {
	lines := strings.Split(s, "\n")
	if left := len(lines) - tailLines; left > 0 {
		return fmt.Sprintf("… %d lines before\n", left) + shorten(lines[left:])
	}
	return shorten(lines)
}

func shorten(lines []string) string {
	short := make([]string, len(lines))
	for i, l := range lines {
		short[i] = llm.Clip(strings.TrimSuffix(l, "\r"), widest)
	}
	return strings.Join(short, "\n")
}

// fence puts a text into a code fence that the text can't close.
func fence(s string) string {
	mark := strings.Repeat("`", max(3, ticks(s)+1))
	return mark + "\n" + strings.TrimRight(s, "\n") + "\n" + mark
}

// code puts a line into a code span that the line can't close.
func code(s string) string {
	n := ticks(s)
	if n == 0 {
		return "`" + s + "`"
	}
	mark := strings.Repeat("`", n+1)
	return mark + " " + s + " " + mark
}

// ticks returns the length of the longest run of backticks.
func ticks(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// clip shortens an instruction for quoting.
func clip(s string) string {
	const most = 120
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cause says in a line why an instruction failed. A human who reads along has seen how a command
// ended.
func (o result) cause(brief bool) string {
	switch {
	case o.in.verb == "fail":
		return o.in.arg
	case o.in.missingProgram != "":
		return o.in.missingProgramText()
	}
	var last pastCall
	if n := len(o.calls); n > 0 {
		last = o.calls[n-1]
	}
	if o.in.verb == "run" && o.in.arg != "" {
		line, _ := ran(o.in.arg, last)
		if !brief && exitCode.MatchString(last.text) {
			line = code(clip(oneLine(o.in.arg))) + " failed"
		}
		return line
	}
	text := oneLine(last.text)
	for _, l := range parseEnvelopes(last.text) {
		text = l.line()
	}
	return code(clip(o.in.title())) + ": " + llm.Clip(text, widest)
}

// missingProgramText asks back about a command whose first word is not a program.
func (in instruction) missingProgramText() string {
	return fmt.Sprintf("%s is no program here. Which command do you mean? Write it as you would in a shell: %s", code(clip(in.missingProgram)), code("run make test"))
}

// remark notes that a text contains what may have been meant as an instruction.
func (in instruction) remark() string {
	if !slices.Contains(wholeLineVerbs, in.verb) {
		return ""
	}
	for rest := " " + in.source; ; {
		i := joins.FindStringIndex(rest)
		if i == nil {
			return ""
		}
		rest = rest[i[1]:]
		if _, err := parseOne(rest); err != nil {
			continue
		}
		verb := map[string]string{"push": "is its prompt", "delegate": "is its prompt", "schedule": "is its prompt", "remind": "is what it says", "send": "was sent", "reply": "was sent"}[in.verb]
		if verb == "" {
			verb = "was written"
		}
		return fmt.Sprintf("note: everything after %s %s, including %s; an instruction of its own stands on a line of its own", code(in.title()+":"), verb, code("then "+clip(rest)))
	}
}

// joins matches a `then` that is a separate word.
var joins = regexp.MustCompile(`(?i)\sthen\s+`)

// notUnderstood is the reason why free text is not carried out.
const notUnderstood = "No language model is configured"

// help says in three lines that there is no model, what works without one, and how to get one. why is the prompt's
// error; nil: nothing was asked.
func help(why error) string {
	first := notUnderstood + ", so I carry out plain instructions only."
	if why != nil {
		first = notUnderstood + ": " + why.Error() + ". Nothing of this prompt was done."
	}
	return first + "\\\nTry `run go test ./...`, `read PATH` or `grep PATTERN in PATH`; `help` lists all instructions.\\\n" + models
}

const guide = "One instruction a line, or joined by `then`:\n\n" +
	"- `run go test ./...` runs a command; `push tests: run go test ./...` queues it for a background agent, `run 2` starts two of the queue at a time, `queue` lists it\n" +
	"- `read PATH`, `list PATH`, `find **/*.go`, `grep PATTERN in PATH`\n" +
	"- `write PATH: TEXT`, `edit PATH: OLD => NEW`\n" +
	"- `push NAME interactive: PROMPT` queues one that stays after its answer: `/tell NAME now also run CMD` goes on with it, as `/push interactive` does\n" +
	"- `check`, `receive from NAME`, `send NAME: TEXT`, `list messages`, `read message N`, `reply N: TEXT`, `delegate NAME: PROMPT`, and `delegate sync NAME: PROMPT` to wait for its answer\n" +
	"- `remember NAME: TEXT`, `recall NAME`, `memories`\n" +
	"- `remind me in 30m: TEXT`, `schedule NAME every 10m: INSTRUCTION` has an observer look, `unregister NAME` ends that\n" +
	"- `run_check NAME` runs a check that an observer may run; `call mcp__SERVER__TOOL {ARGUMENTS}` calls a tool of an MCP server\n" +
	"- `ask QUESTION`, or `ask QUESTION: A | B` with answers to choose from, asks you\n" +
	"- `wait 5s`, `say TEXT`, `fail TEXT`; `help` shows this list\n\n" +
	"A TEXT or PROMPT reaches to the end of its line, a `then` in it too. What fails, a command by its exit code, ends its list.\n\n" + models

const models = "For a model set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, start Ollama, or say `--model PROVIDER/NAME`; then start again."
