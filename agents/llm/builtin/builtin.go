// Package builtin is the engine that needs no language model.
//
// Does: carry out the plain instructions of a prompt with the same tool calls as a model, one after
// another, and answer with a short report. It keeps nothing between requests: it reads what was done
// from the request's history. To parts that came from an inbox it answers with a list of who wrote
// what, and to a request for a summary with an excerpt.
//
// Does not: obey anything but prompt parts ([llm.FromPrompt]), run a tool, open a file, use the
// network, or pretend to understand free text.
//
// # Instructions
//
// One instruction a line, or several joined by the word `then`. The case of verbs
// does not matter.
//
//	run CMD                  run a command
//	run [N]                  start the queued tasks, all or N at a time
//	queue                    list the tasks
//	read PATH                list [PATH]        find GLOB
//	grep PATTERN [in PATH]
//	write PATH: TEXT         edit PATH: OLD => NEW
//	send NAME: TEXT          or send NAME "TEXT"
//	check [from NAME]        receive [from NAME]
//	list messages            read message N     reply N: TEXT
//	push NAME: PROMPT        queue a task
//	push NAME after A,B: PROMPT   one that starts with the results of A and B
//	push NAME interactive [5m]: PROMPT   one whose agent awaits input after each turn
//	delegate NAME: PROMPT    the same, started at once; its answer comes by itself
//	delegate sync NAME: PROMPT    the same, and its answer is waited for
//	remember NAME: TEXT      write a memory document
//	recall NAME              read one           memories: list them
//	run_check NAME           run a check, in an observer that has it
//	call NAME {ARGUMENTS}    call a tool that another program serves: mcp__SERVER__TOOL
//	ask QUESTION             ask QUESTION: A | B | C
//	wait 5s                  say TEXT           fail TEXT
//	help                     list the instructions
//	now also INSTRUCTION     reported with what was asked before (now and also alone do too)
//	go on                    after a stopped turn: repeat what was cut, and do the rest
//	remind me in 30m: TEXT   mail when it is due
//	schedule NAME every 10m: INSTRUCTION   have an observer carry it out; in 10m: once
//	unregister NAME          end that
//
// `then` joins only as a separate word before a verb, not after a semicolon and not inside quotes (a
// shell's own `then` stays with its command). The text after the colon of write, edit, send, reply,
// push, delegate, remember, remind and schedule reaches to the end of the line: a `then` in it belongs
// to the text, so that a task can be a list of its own; the report notes it. A TEXT, OLD or NEW that is
// a Go string in double quotes has the value of that string ("two\nlines"). A PATH, GLOB or PATTERN
// with spaces needs quotes. If a | follows the last colon of a question, the text after that colon is
// its options.
//
// If one line of a prompt is not an instruction, none of that prompt is carried out: the reply says so in
// three lines, or it is an error if no human reads along. When an instruction fails (a command, by its exit
// code), the rest of its prompt is not done, the next prompt is carried out, and the reply ends with an error
// of kind [llm.TaskFailed] that says in a line what failed; the report before it is what was done so far.
// After a prompt to wrap up it begins nothing more and reports.
package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"fantail/agents/llm"
)

// Name is the provider's name; it has no models.
const Name = "builtin"

// Provider is the engine. It has no state; the zero value is ready.
type Provider struct {
	// Program reports whether a command can begin with that word. For any other word, `run` asks
	// back instead of making a call. nil: every word may be one.
	Program func(word string) bool
}

// New returns the engine.
func New() Provider { return Provider{} }

var _ llm.Provider = Provider{}

// Stream answers one request with the calls of the next instruction or, when all is done, with the
// report. A `wait` is waited here and ends with ctx.
func (p Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		s := readConversation(req.Messages).progress(p.Program)
		s.brief = req.Brief
		for _, in := range s.waits {
			// The note is recorded even if the wait is cut: the history then shows
			// that these instructions were begun.
			note := llm.Thinking{Text: "waiting " + in.wait.String() + "\n", Opaque: "wait", Model: modelName(req)}
			if !yield(note, nil) {
				return
			}
			if !sleep(ctx, in.wait) {
				yield(nil, cancelled(ctx))
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, cancelled(ctx))
			return
		}
		if len(s.calls) > 0 {
			for i, c := range s.calls {
				args, err := json.Marshal(c.args)
				if err != nil { // strings and numbers can always be encoded
					yield(nil, &llm.Error{Kind: llm.Protocol, Provider: Name, Message: "A call could not be written.", Err: err})
					return
				}
				if !yield(llm.ToolCall{ID: fmt.Sprintf("bi-%d", s.callCount+i+1), Name: c.tool, Args: args}, nil) {
					return
				}
			}
			yield(llm.Stop{Reason: llm.ToolUse}, nil)
			return
		}
		why, failed := s.failure()
		text, ok := excerpt(req)
		if !ok {
			text = s.report()
		}
		for _, piece := range pieces(text) {
			if !yield(llm.Text{Text: piece, From: llm.FromModel, Index: 1}, nil) {
				return
			}
		}
		if failed {
			yield(nil, &llm.Error{Kind: llm.TaskFailed, Provider: Name, Message: llm.Clip(why, llm.MessageLimit)})
			return
		}
		yield(llm.Stop{Reason: llm.EndTurn}, nil)
	}
}

// Doubt says in one line why the engine can't carry out a prompt; "": it can try.
func (p Provider) Doubt(prompt string) string {
	if name, _ := word(prompt); strings.HasPrefix(name, "/") {
		return "" // a file may define it
	}
	list, err := parse(prompt)
	if err != nil {
		return notUnderstood + ": " + err.Error()
	}
	s := state{program: p.Program}
	if lost := s.missingProgram(list[0]); lost != "" {
		list[0].missingProgram = lost
		return list[0].missingProgramText()
	}
	return ""
}

// modelName returns the name of the engine in histories.
func modelName(req *llm.Request) string {
	if req.Model == "" || req.Model == Name {
		return Name
	}
	return Name + "/" + req.Model
}

func cancelled(ctx context.Context) *llm.Error {
	return &llm.Error{Kind: llm.Cancelled, Provider: Name, Message: "The request was stopped.", Err: context.Cause(ctx)}
}

// sleep waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pieceSize is roughly the number of bytes of an answer in one part.
const pieceSize = 64

// pieces cuts an answer for streaming, at the ends of lines and words.
func pieces(s string) []string {
	var ps []string
	for len(s) > 0 {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 || n > pieceSize {
			n = len(s)
			if n > pieceSize {
				if n = strings.IndexAny(s[pieceSize:], " \n") + 1; n == 0 {
					n = len(s)
				} else {
					n += pieceSize
				}
			}
		}
		ps = append(ps, s[:n])
		s = s[n:]
	}
	return ps
}
