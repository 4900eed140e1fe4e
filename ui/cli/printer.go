package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/ui/cells"
	"fantail/ui/crash"
	"fantail/ui/shell"
)

// Format is the format of a printed answer.
type Format string

const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Printer carries out one prompt without a screen, in an unattended conversation.
type Printer struct {
	Pool   *agents.Pool
	Go     func(name string, f func())
	Terms  agents.Unattended
	Format Format
	Plain  bool // the answer goes to a terminal: control characters are removed
	Dir    string
	Tools  []string
	Out    io.Writer
	Err    io.Writer
	Now    func() time.Time
	// Stopped returns the exit code that a signal asks for; false if none came.
	Stopped func() (code int, signalled bool)
	// Missed names the MCP servers whose tools were not ready for the last turn since then; nil:
	// unknown.
	Missed func(since time.Time) []string

	began time.Time // when the prompt was sent; zero: the missing servers were reported
}

// ToolNames returns the names of the tools.
func ToolNames(set *tools.Set) []string {
	var names []string
	for _, s := range set.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Run prompts the conversation, prints the result and returns the exit code. It ends once nothing
// of the conversation runs any more. If ctx ends first, it prints what there is.
func (p *Printer) Run(ctx context.Context, prompt string) int {
	feed, _ := p.Pool.Subscribe() // earlier events are not of this run
	defer feed.Close()
	c, err := p.Pool.Scripts.Open(ctx, p.Terms)
	if err != nil {
		return p.close(&stream{w: p.Out}, newTally(p.Now(), event.Info{}), agents.Unfinished{}, err)
	}
	t := newTally(p.Now(), c.Info)
	out := &stream{w: p.Out, on: p.Format == StreamJSON, session: c.Info.Name}
	out.init(p.Dir, c.Info, string(p.Terms.Mode), p.Tools)

	p.began = p.Now()
	settled := make(chan error, 1)
	if err = c.Prompt(ctx, prompt); err == nil {
		p.Go("settled", func() { settled <- c.Settled(ctx) })
		for open := true; open; {
			select {
			case <-feed.Wait():
			case err = <-settled:
				open = false
			}
			if open && out.err != nil {
				err, open = fmt.Errorf("write the answer: %w", out.err), false
			}
			p.tell(out, t, feed.Take())
		}
	}
	// End and record what still runs before the answer is printed, so that the answer contains the
	// last of it.
	var left agents.Unfinished
	ended := crash.Close(func(ctx context.Context) (err error) {
		left, err = c.End(ctx)
		return err
	})
	if err == nil {
		err = ended
	}
	p.tell(out, t, feed.Take())
	return p.close(out, t, left, err)
}

// tell reads the events, and prints them if the format streams.
func (p *Printer) tell(out *stream, t *tally, events []event.Event) {
	for _, e := range t.see(events) {
		if e.Agent == t.talk.ID && slices.Contains(printedAnswers, e.Kind) {
			p.missed()
		}
		out.within(t.agents[e.Agent].Task)
		out.entry(t.name(e.Agent), t.agents[e.Agent].Model, e)
		if e.Kind == history.EntryNotice {
			shell.Warn(p.Err, "%s", e.Text)
		}
	}
	for _, line := range t.troubles {
		shell.Warn(p.Err, "%s", line)
	}
	out.tasks(t.changes)
	t.changes, t.troubles = nil, nil
}

// printedAnswers are the kinds of entries that exist only after a model was asked.
var printedAnswers = []history.EntryKind{history.EntryText, history.EntryThinking, history.EntryCall, history.EntryEnded}

// missed reports once which MCP servers were not ready when the prompt was sent.
func (p *Printer) missed() {
	if p.Missed == nil || p.began.IsZero() {
		return
	}
	if all := p.Missed(p.began); len(all) > 0 {
		shell.Warn(p.Err, "the prompt was sent without the tools of MCP servers that were not ready: %s", strings.Join(all, ", "))
	}
	p.began = time.Time{}
}

// close prints the result and returns the exit code.
func (p *Printer) close(out *stream, t *tally, left agents.Unfinished, err error) int {
	code := shell.ExitOK
	why := ""
	switch stopped, bySignal := p.Stopped(); {
	case bySignal:
		code, why = stopped, "interrupted"
	case err != nil:
		code, why = shell.ExitFailed, err.Error()
	case t.ended == nil:
		code, why = shell.ExitFailed, "the prompt was not carried out"
	case t.ended.Outcome != history.Completed:
		code, why = shell.ExitFailed, t.ended.Error
		if why == "" {
			why = string(t.ended.Outcome)
		}
	}
	answer := t.answer.Text()
	var wrote error
	switch p.Format {
	case Text:
		if answer != "" {
			if _, wrote = io.WriteString(p.Out, strings.TrimRight(p.clean(answer), "\n")); wrote == nil {
				_, wrote = io.WriteString(p.Out, "\n")
			}
		}
	default:
		out.on = true
		out.result(t.result(answer, why, p.Now()))
		wrote = out.err
	}
	if why != "" && !t.told(why) {
		shell.Warn(p.Err, "%s", why)
	}
	if wrote != nil && code == shell.ExitOK {
		shell.Warn(p.Err, "write the answer: %v", wrote)
		code = shell.ExitFailed
	}
	if n := left.Queued; n > 0 {
		shell.Warn(p.Err, "%d queued %s not started; start fantail and type /run", n, pluralOf(n, "task was", "tasks were"))
	}
	if n := left.Unread; n > 0 {
		shell.Warn(p.Err, "%d %s unread in %s; fantail -p --resume %s goes on with %s", n, pluralOf(n, "message is", "messages are"), t.talk.Name, t.talk.Name, pluralOf(n, "it", "them"))
	}
	return code
}

func pluralOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// clean removes control characters from a text if it goes to a terminal.
func (p *Printer) clean(s string) string {
	if p.Plain {
		return cells.Clean(s)
	}
	return s
}

// ReadPrompt returns the prompt followed by standard input, unless that is a terminal. It reads
// standard input until its end or the end of ctx. It starts its goroutine with start.
func ReadPrompt(ctx context.Context, start func(name string, f func()), prompt string, in *os.File, errs io.Writer) (string, error) {
	if shell.IsTerminal(in) {
		if strings.TrimSpace(prompt) == "" {
			return "", shell.Misused("-p needs a prompt: fantail -p \"PROMPT\", or one on standard input")
		}
		return prompt, nil
	}
	input, err := shell.ReadAll(ctx, start, in, errs)
	if err != nil {
		return "", err
	}
	return joined(prompt, string(input))
}

// joined returns the prompt followed by input.
func joined(prompt, input string) (string, error) {
	input = strings.ToValidUTF8(input, "\uFFFD")
	switch {
	case strings.TrimSpace(prompt) == "" && strings.TrimSpace(input) == "":
		return "", shell.Misused("-p needs a prompt: fantail -p \"PROMPT\", or one on standard input")
	case strings.TrimSpace(input) == "":
		return prompt, nil
	case strings.TrimSpace(prompt) == "":
		return input, nil
	}
	return prompt + "\n\n" + input, nil
}
