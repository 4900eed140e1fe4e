package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// instruction is one line, or one part of a line joined by `then`.
type instruction struct {
	verb           string
	source         string        // as written, for the report
	arg            string        // command, path, pattern, name or text
	text           string        // text after a colon; OLD of edit; PATH of grep
	new            string        // NEW of edit
	after          string        // of push: the tasks it waits for, with commas
	interactive    bool          // of push and delegate: the agent awaits input after each turn
	idle           string        // of push and delegate: for how long, as written; "": the default
	also           bool          // it was asked for in addition to earlier work
	count          int           // of run; 0 means all
	options        []string      // of ask
	wait           time.Duration // of wait; of remind and schedule: time until it is due
	mode           string        // of delegate: sync, async, or "" for the program's default; of schedule: every or in
	missingProgram string        // of run: the first word, if it should be a program and is none
}

// The verbs. Those in wholeLineVerbs use the rest of the line.
var (
	verbs = []string{
		"run", "queue", "read", "list", "find", "grep", "write", "edit", "send", "reply", "check", "receive",
		"push", "delegate", "remember", "recall", "memories", "remind", "schedule", "unregister", "ask", "wait", "say", "fail",
		"run_check", "call", "help",
	}
	wholeLineVerbs = []string{"call", "write", "edit", "send", "reply", "push", "delegate", "remember", "remind", "schedule"}
	literalVerbs   = []string{"ask", "say", "fail"} // quotes have no meaning in them
)

const (
	longestWait = 24 * time.Hour       // of a wait
	maxLater    = 366 * 24 * time.Hour // until something is due
)

// cancelCondition begins the condition that ends an observer's schedule. Only a model can judge it.
const cancelCondition = "\n\n---\nYou have a cancel condition: "

// parse parses a prompt. The error names the first line that is not an instruction.
func parse(prompt string) ([]instruction, error) {
	var list []instruction
	prompt, _, _ = strings.Cut(expandedText(prompt), cancelCondition)
	prompt, also := cutAddition(prompt)
	for line := range strings.Lines(prompt) {
		for line = strings.TrimSpace(line); line != ""; {
			part, rest := split(line)
			in, err := parseOne(part)
			if err != nil {
				return nil, err
			}
			in.also = also && len(list) == 0
			list, line = append(list, in), rest
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the prompt is empty")
	}
	return list, nil
}

// expandedText returns the text from a file for a prompt that begins with /NAME, or that is a skill
// for an agent. The lines before the text say where it is from. A prompt without a file is returned
// unchanged.
func expandedText(prompt string) string {
	begins := "Skill "
	if name, _ := word(strings.TrimSpace(prompt)); strings.HasPrefix(name, "/") {
		begins = "What " + name + " stands for"
		_, text, is := strings.Cut(prompt, "\n\n"+begins)
		if !is {
			return prompt
		}
		prompt = begins + text
	}
	first, text, is := strings.Cut(prompt, ":\n\n")
	if !is || !strings.HasPrefix(first, begins) || strings.ContainsRune(first, '\n') {
		return prompt
	}
	return text
}

// cutAddition cuts `now`, `also` or `now also` off the beginning of a prompt.
func cutAddition(prompt string) (rest string, is bool) {
	rest = prompt
	for _, begins := range []string{"now", "also"} {
		if first, behind := word(rest); strings.EqualFold(first, begins) {
			rest, is = behind, true
		}
	}
	return rest, is
}

// split returns the first instruction of a line and what follows its `then`.
func split(line string) (first, rest string) {
	verb, _ := word(line)
	verb = strings.ToLower(verb)
	if slices.Contains(wholeLineVerbs, verb) {
		return line, ""
	}
	var quote rune
	quotes := !slices.Contains(literalVerbs, verb)
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case quotes && r == '\\' && quote != '\'':
			escaped = true
		case quotes && quote != 0:
			if r == quote {
				quote = 0
			}
		case quotes && (r == '\'' || r == '"'):
			quote = r
		case i > 0 && unicode.IsSpace(r):
			w, after := word(line[i:])
			next, _ := word(after)
			before := strings.TrimSpace(line[:i])
			if strings.EqualFold(w, "then") && slices.Contains(verbs, strings.ToLower(next)) && !strings.HasSuffix(before, ";") {
				return before, after
			}
		}
	}
	return line, ""
}

// word returns the first word of s and what follows it, trimmed.
func word(s string) (first, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// parseOne parses one instruction.
func parseOne(s string) (instruction, error) {
	verb, rest := verbOf(s)
	in := instruction{verb: verb, source: s, arg: rest}
	f, known := forms[verb]
	switch {
	case !known, verb == "help" && rest != "":
		return in, fmt.Errorf("%s is not one of the instructions", code(clip(s)))
	case !f.read(&in, rest):
		return in, fmt.Errorf("%s: write it as %s", code(clip(s)), code(f.written))
	}
	return in, nil
}

// verbOf returns the verb of a line in lower case, and the rest. Two verbs have two words, if the
// rest fits them.
func verbOf(s string) (verb, rest string) {
	verb, rest = word(s)
	verb = strings.ToLower(verb)
	second, behind := word(rest)
	switch both := verb + " " + strings.ToLower(second); {
	case both == "list messages" && behind == "", both == "read message" && behind != "":
		return both, behind
	}
	return verb, rest
}

// syntax is the form of an instruction. read parses the text after the verb, which arg holds
// already, and reports whether it is valid.
type syntax struct {
	written string
	read    func(in *instruction, rest string) bool
}

var forms = map[string]syntax{
	"run": {"run N", func(in *instruction, rest string) bool {
		n, err := strconv.Atoi(rest)
		if err != nil {
			return true // a command, or the whole queue
		}
		in.arg, in.count = "", n
		return n >= 1 && n <= 1000
	}},
	"queue":         {"queue", func(_ *instruction, rest string) bool { return rest == "" }},
	"list messages": {"list messages", func(_ *instruction, rest string) bool { return rest == "" }},
	"read message":  {"read message N", (*instruction).numbered},
	"reply": {"reply N: TEXT", func(in *instruction, rest string) bool {
		return in.told(rest) && in.numbered(in.arg)
	}},
	"list": {"list PATH", func(in *instruction, rest string) bool { return in.path(rest) || rest == "" }},
	"read": {"read PATH", (*instruction).path},
	"find": {"find GLOB", (*instruction).path},
	"grep": {"grep PATTERN in PATH", func(in *instruction, rest string) (ok bool) {
		in.arg, in.text, ok = pattern(rest)
		return ok
	}},
	"check":   {"check from NAME", (*instruction).from},
	"receive": {"receive from NAME", (*instruction).from},
	"delegate": {"delegate NAME: TEXT", func(in *instruction, rest string) bool {
		if mode, behind := word(rest); strings.EqualFold(mode, "sync") || strings.EqualFold(mode, "async") {
			in.mode, rest = strings.ToLower(mode), behind
		}
		return in.push(rest) && in.after == ""
	}},
	"remember": {"remember NAME: TEXT", func(in *instruction, rest string) bool {
		ok := in.colon(rest)
		in.text, _ = quoted(in.text)
		return ok && in.text != ""
	}},
	"recall":    {"recall NAME", (*instruction).path},
	"run_check": {"run_check NAME", (*instruction).path},
	"memories":  {"memories", func(_ *instruction, rest string) bool { return rest == "" }},
	"push":      {"push NAME: TEXT", (*instruction).push},
	"call": {"call mcp__SERVER__TOOL {ARGUMENTS}", func(in *instruction, rest string) bool {
		in.arg, in.text = word(rest)
		var args map[string]any
		return strings.HasPrefix(in.arg, "mcp__") && (in.text == "" || json.Unmarshal([]byte(in.text), &args) == nil)
	}},
	"send": {"send NAME: TEXT", (*instruction).told},
	"write": {"write PATH: TEXT", func(in *instruction, rest string) bool {
		ok := in.colon(rest)
		in.text, _ = quoted(in.text)
		return ok
	}},
	"edit":       {"edit PATH: OLD => NEW", (*instruction).edit},
	"remind":     {"remind me in 30m: TEXT", (*instruction).remind},
	"schedule":   {"schedule NAME every 10m: INSTRUCTION", (*instruction).schedule},
	"unregister": {"unregister NAME", (*instruction).path},
	"wait": {"wait 5s", func(in *instruction, rest string) bool {
		d, err := duration(rest)
		in.wait = d
		return err == nil && d >= 0 && d <= longestWait
	}},
	"ask":  {"ask QUESTION: A | B", (*instruction).question},
	"help": {"help", func(*instruction, string) bool { return true }},
	"say":  {"say TEXT", func(_ *instruction, rest string) bool { return rest != "" }},
	"fail": {"fail TEXT", func(_ *instruction, rest string) bool { return rest != "" }},
}

// numbered parses rest as a number.
func (in *instruction) numbered(rest string) (ok bool) {
	in.count, ok = number(rest)
	return ok
}

// path parses rest as a path.
func (in *instruction) path(rest string) (ok bool) {
	in.arg, ok = path(rest)
	return ok
}

// colon parses rest as `ARG: TEXT`.
func (in *instruction) colon(rest string) (ok bool) {
	in.arg, in.text, ok = colon(rest)
	return ok
}

// told parses rest as `ARG: TEXT` or `ARG "TEXT"` and removes the quotes of the text.
func (in *instruction) told(rest string) bool {
	head, quote := word(rest)
	if text, ok := quoted(quote); ok && !strings.Contains(head, ":") {
		var named bool
		in.arg, named = path(head)
		in.text = text
		return named && text != ""
	}
	ok := in.colon(rest)
	in.text, _ = quoted(in.text)
	return ok && in.text != ""
}

// question parses rest as `QUESTION` or `QUESTION: A | B`.
func (in *instruction) question(rest string) bool {
	if i := strings.LastIndex(rest, ":"); i >= 0 && strings.Contains(rest[i:], "|") {
		in.arg = strings.TrimSpace(rest[:i])
		for o := range strings.SplitSeq(rest[i+1:], "|") {
			if o = strings.TrimSpace(o); o != "" {
				in.options = append(in.options, o)
			}
		}
	}
	return in.arg != ""
}

// from parses rest as nothing or `from NAME`.
func (in *instruction) from(rest string) bool {
	from, name := word(rest)
	return rest == "" || strings.EqualFold(from, "from") && in.path(name)
}

// number parses 12 or #12.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	return n, err == nil && n > 0
}

// path parses one word, or a text in quotes.
func path(s string) (string, bool) {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
		return s, s != ""
	}
	return s, s != "" && !strings.ContainsFunc(s, unicode.IsSpace)
}

// pattern parses PATTERN [in PATH]. A pattern of several words needs no quotes unless its last but
// one is `in`.
func pattern(s string) (pattern, where string, ok bool) {
	if p, ok := path(s); ok && p != s { // the whole text is in quotes
		if !strings.ContainsRune(p, rune(s[0])) {
			return p, "", true
		}
	}
	if i := strings.LastIndex(s, " in "); i >= 0 {
		if where, ok := path(strings.TrimSpace(s[i+4:])); ok {
			s = strings.TrimSpace(s[:i])
			if p, ok := path(s); ok {
				s = p
			}
			return s, where, s != ""
		}
	}
	if p, ok := path(s); ok {
		s = p
	}
	return s, "", s != ""
}

// colon parses HEAD: TEXT, where HEAD is one word or in quotes.
func colon(s string) (head, text string, ok bool) {
	head, text, found := strings.Cut(s, ": ")
	if !found {
		if head, text, found = strings.Cut(s, ":"); !found {
			return "", "", false
		}
	}
	head, ok = path(strings.TrimSpace(head))
	return head, strings.TrimSpace(text), ok
}

// push parses NAME [interactive [TIME]] [after A,B]: TEXT.
func (in *instruction) push(s string) bool {
	if in.told(s) {
		return true
	}
	var ok bool
	head, text, _ := strings.Cut(s, ":")
	name, rest := word(head)
	in.arg = name
	in.text, _ = quoted(strings.TrimSpace(text))
	if how, behind := word(rest); strings.EqualFold(how, "interactive") {
		in.interactive, rest = true, behind
		if idle, behind := word(rest); idle != "" && !strings.EqualFold(idle, "after") {
			d, err := duration(idle)
			if err != nil || d < 0 {
				return false
			}
			in.idle, rest = idle, behind
		}
	}
	if rest == "" {
		return in.interactive && in.text != ""
	}
	by, names := word(rest)
	in.after, ok = path(names)
	return ok && strings.EqualFold(by, "after") && in.text != ""
}

// remind parses `me in TIME: TEXT`, `me in TIME to TEXT`, `me to TEXT in TIME` and the same with
// `about` and `that`. A TIME is 30m, or `30 min`, `2 hours`, `an hour`, `half an hour`.
func (in *instruction) remind(s string) bool {
	me, rest := word(s)
	if !strings.EqualFold(me, "me") {
		return false
	}
	span, text, ok := "", "", false
	if by, behind := word(rest); strings.EqualFold(by, "in") {
		span, text, ok = spanBefore(behind)
	} else {
		text, span, ok = spanAfter(rest)
	}
	if ok {
		in.arg = "me in " + span
		in.text, _ = quoted(text)
	}
	return ok && in.text != "" && in.later(span)
}

// spanBefore parses `TIME: TEXT` and `TIME to TEXT`.
func spanBefore(s string) (span, text string, ok bool) {
	if head, text, found := strings.Cut(s, ":"); found {
		if span, ok := spanOf(strings.Fields(head)); ok {
			return span, strings.TrimSpace(text), true
		}
	}
	var head []string
	for rest := s; rest != "" && len(head) < 4; {
		w, behind := word(rest)
		if about(w) {
			span, ok := spanOf(head)
			return span, behind, ok
		}
		head, rest = append(head, w), behind
	}
	return "", "", false
}

// spanAfter parses `to TEXT in TIME`.
func spanAfter(s string) (text, span string, ok bool) {
	to, rest := word(s)
	i := strings.LastIndex(rest, " in ")
	if !about(to) || i < 0 {
		return "", "", false
	}
	span, ok = spanOf(strings.Fields(strings.TrimRight(rest[i+4:], ".!")))
	return strings.TrimSpace(rest[:i]), span, ok
}

// about reports whether the text of a reminder follows the word.
func about(word string) bool {
	return slices.ContainsFunc([]string{"to", "about", "of", "that"}, func(w string) bool { return strings.EqualFold(w, word) })
}

// units maps words for a unit of time to the units of [time.ParseDuration].
var units = map[string]string{
	"s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
}

// spanOf parses words as a time and returns it in the form of [time.ParseDuration].
func spanOf(words []string) (string, bool) {
	said := strings.ToLower(strings.Join(words, " "))
	if said == "half an hour" {
		return "30m", true
	}
	number, unit, two := strings.Cut(said, " ")
	if !two {
		return number, number != ""
	}
	if number == "a" || number == "an" || number == "one" {
		number = "1"
	}
	unit, known := units[unit]
	_, err := strconv.ParseFloat(number, 64)
	return number + unit, known && err == nil
}

// schedule parses NAME every TIME: INSTRUCTION, or NAME in TIME: INSTRUCTION.
func (in *instruction) schedule(s string) bool {
	head, text, _ := strings.Cut(s, ":")
	words := strings.Fields(head)
	in.text, _ = quoted(strings.TrimSpace(text))
	if len(words) != 3 || in.text == "" {
		return false
	}
	in.arg, in.mode = words[0], strings.ToLower(words[1])
	return (in.mode == "every" || in.mode == "in") && in.later(words[2])
}

// later parses a word as the time until something is due.
func (in *instruction) later(word string) bool {
	d, err := time.ParseDuration(word)
	in.wait = d
	return err == nil && d >= time.Second && d <= maxLater
}

// quoted unquotes a Go string. Anything else is returned unchanged.
func quoted(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' {
		if u, err := strconv.Unquote(s); err == nil {
			return u, true
		}
	}
	return s, false
}

// edit parses PATH: OLD => NEW.
func (in *instruction) edit(s string) bool {
	const arrow = "=>"
	var change string
	var ok bool
	if in.arg, change, ok = colon(s); !ok {
		return false
	}
	if first, err := strconv.QuotedPrefix(change); err == nil && change[0] == '"' {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(change[len(first):]), arrow); ok {
			in.text, _ = quoted(first)
			in.new, _ = quoted(strings.TrimSpace(rest))
			return in.text != ""
		}
	}
	before, after, ok := strings.Cut(change, " "+arrow+" ")
	if !ok {
		if before, ok = strings.CutSuffix(change, " "+arrow); !ok {
			return false
		}
	}
	in.text = strings.TrimSpace(before)
	in.new, _ = quoted(strings.TrimSpace(after))
	return in.text != ""
}

// duration parses 5s, 1m30s, or a number of seconds.
func duration(s string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		if n < 0 || n > longestWait.Seconds() {
			return 0, errors.New("out of range")
		}
		return time.Duration(n * float64(time.Second)), nil
	}
	return time.ParseDuration(s)
}
