// Package printer is one prompt and its answer, for people and scripts without a screen.
//
// Does: read the prompt and what stands on standard input; prompt a conversation that nobody attends, wait
// until nothing of it is under way any more, and print what came of it as text, as JSON or as a
// stream of JSON lines; say in a line what keeps it.
//
// Does not: open a workspace, choose a model, read arguments.
//
// Imports: agents, agents/event, agents/history, agents/llm, tools, ui/cli/guard, ui/cli/jsonline,
// ui/cli/shell, ui/frame.
package printer

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/shell"
	"fantail/ui/frame"
)

// Format is what a printed answer looks like.
type Format string

const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Printer carries out one prompt without a screen, in a conversation that nobody attends.
type Printer struct {
	Pool   *agents.Pool
	Go     func(name string, f func())
	Terms  agents.Unattended
	Format Format
	Plain  bool // the answer goes to a terminal: nothing in it may steer that
	Dir    string
	Tools  []string
	Out    io.Writer
	Err    io.Writer
	Now    func() time.Time
	// Stopped is the exit code a signal asks for; false if none came.
	Stopped func() (code int, signalled bool)
}

// Names lists the tools' names.
func Names(set *tools.Set) []string {
	var names []string
	for _, s := range set.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Run prompts the conversation, prints what comes of it and returns the exit code. It ends
// when nothing of it is under way any more, or, after ctx ended, with what there is.
func (p *Printer) Run(ctx context.Context, prompt string) int {
	feed := p.Pool.Subscribe()
	defer feed.Close()
	feed.Take() // what is there is not of this run
	c, err := p.Pool.Scripts.Open(ctx, p.Terms)
	if err != nil {
		return p.close(&stream{w: p.Out}, newTally(p.Now(), event.Info{}), agents.Unfinished{}, err)
	}
	t := newTally(p.Now(), c.Info)
	out := &stream{w: p.Out, on: p.Format == StreamJSON, session: c.Info.Name}
	out.init(p.Dir, c.Info, string(p.Terms.Mode), p.Tools)

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
	// What still runs is ended and recorded before the answer is printed, so
	// that the answer has the last of it.
	var left agents.Unfinished
	ended := guard.Close(func(ctx context.Context) (err error) {
		left, err = c.End(ctx)
		return err
	})
	if err == nil {
		err = ended
	}
	p.tell(out, t, feed.Take())
	return p.close(out, t, left, err)
}

// tell takes the events in and prints them where they are streamed.
func (p *Printer) tell(out *stream, t *tally, events []event.Event) {
	for _, e := range t.see(events) {
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

// close prints the result and returns the exit code.
func (p *Printer) close(out *stream, t *tally, left agents.Unfinished, err error) int {
	code := shell.OK
	why := ""
	switch stopped, bySignal := p.Stopped(); {
	case bySignal:
		code, why = stopped, "interrupted"
	case err != nil:
		code, why = shell.Failed, err.Error()
	case t.ended == nil:
		code, why = shell.Failed, "the prompt was not carried out"
	case t.ended.Outcome != history.Completed:
		code, why = shell.Failed, t.ended.Error
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
	if why != "" {
		shell.Warn(p.Err, "%s", why)
	}
	if wrote != nil && code == shell.OK {
		shell.Warn(p.Err, "write the answer: %v", wrote)
		code = shell.Failed
	}
	if n := left.Queued; n > 0 {
		shell.Warn(p.Err, "%d queued %s not started; start fantail and type /run", n, plural(n, "task was", "tasks were"))
	}
	if n := left.Unread; n > 0 {
		shell.Warn(p.Err, "%d %s unread in %s; fantail -p --resume %s goes on with %s", n, plural(n, "message is", "messages are"), t.talk.Name, t.talk.Name, plural(n, "it", "them"))
	}
	return code
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// clean makes text from elsewhere safe for a terminal, and leaves it as it is for anything else.
func (p *Printer) clean(s string) string {
	if p.Plain {
		return frame.Clean(s)
	}
	return s
}

// ReadPrompt returns the prompt with standard input behind it, if that is not a
// terminal. An input that does not end by itself is waited for until ctx ends. start begins a
// goroutine.
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

// joined is the prompt with input behind it.
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
