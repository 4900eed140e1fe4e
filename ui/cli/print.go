package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/frame"
)

// Printer carries out one prompt without a screen.
type Printer struct {
	Pool    *agents.Pool
	Guard   *guard.Guard
	Signals *guard.Signals
	Format  Format
	Plain   bool   // the answer goes to a terminal: nothing in it may steer that
	Session string // names the workspace's conversation in JSON
	Dir     string
	Tools   []string
	Out     io.Writer
	Err     io.Writer
	Now     func() time.Time
}

// NewPrinter returns a printer of the process's own standard output.
func NewPrinter(pool *agents.Pool, g *guard.Guard, signals *guard.Signals, format Format, at place.Place) *Printer {
	return &Printer{
		Pool: pool, Guard: g, Signals: signals, Format: format, Plain: shell.IsTerminal(os.Stdout),
		Session: filepath.Base(at.Data), Dir: at.Root, Out: os.Stdout, Err: os.Stderr, Now: time.Now,
	}
}

// Names lists the tools' names.
func Names(set *tools.Set) []string {
	var names []string
	for _, s := range set.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Patience is how long a disk that refuses writes is waited for: at a screen
// until it takes them; a script waits for the exit code.
func Patience(attended bool) time.Duration {
	if attended {
		return 0
	}
	return 5 * time.Second
}

// Run prompts main, prints what comes of it and returns the exit code. It ends
// when nothing is under way any more, or, after ctx ended, with what there is.
func (p *Printer) Run(ctx context.Context, prompt string) int {
	feed := p.Pool.Subscribe()
	defer feed.Close()
	t := newTally(p.Now())
	out := &stream{w: p.Out, on: p.Format == StreamJSON, session: p.Session}
	settled := make(chan error, 1)
	t.see(feed.Take())
	out.init(p.Dir, t.main, string(t.mode), p.Tools)

	err := p.Pool.Prompt(ctx, t.main.ID, prompt)
	if err == nil {
		p.Guard.Go("settled", func() { settled <- p.Pool.Settled(ctx) })
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
	if e := guard.Close(p.Pool.Close); e != nil && err == nil {
		err = e
	}
	p.tell(out, t, feed.Take())
	return p.close(out, t, err)
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
func (p *Printer) close(out *stream, t *tally, err error) int {
	code := shell.OK
	why := ""
	switch stopped, bySignal := p.Signals.Code(); {
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
	answer := strings.Join(t.answer, "\n\n")
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
	if n := t.queued; n > t.before {
		shell.Warn(p.Err, "%d queued %s not started; start fantail and type /run", n, plural(n, "task was", "tasks were"))
	}
	if n := t.agents[t.main.ID].Pending; n > t.main.Pending {
		shell.Warn(p.Err, "%d %s in main's inbox; start fantail and type /check", n, plural(n, "message waits", "messages wait"))
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

// tally is what a run without a screen knows of the pool.
type tally struct {
	began    time.Time
	main     event.Info // as it was when the run began
	mode     permit.Mode
	agents   map[int64]event.Info
	first    map[int64]event.Info // as they were when the run began
	changes  []event.Info         // dispatched agents whose state changed, not told yet
	troubles []string             // what keeps an agent from going on, not told yet
	answer   []string             // what main said since it last did or heard something
	ended    *history.End         // of main's last turn
	steps    int
	queued   int
	before   int // queued when the run began
}

func newTally(now time.Time) *tally {
	return &tally{began: now, agents: map[int64]event.Info{}, first: map[int64]event.Info{}}
}

func (t *tally) name(agent int64) string { return t.agents[agent].Name }

// see takes events in and returns the entries among them, in order.
func (t *tally) see(events []event.Event) (entries []history.Entry) {
	begins := t.main.ID == 0
	for _, e := range events {
		switch e := e.(type) {
		case event.Changed:
			t.change(e.Info, begins)
		case event.Tally:
			t.queued, t.mode = e.Queued, e.Mode
			if begins {
				t.before = e.Queued
			}
		case event.Appended:
			for _, entry := range e.Entries {
				if e.Agent == t.main.ID {
					t.add(entry)
				}
				entry.Agent = e.Agent
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

func (t *tally) change(i event.Info, begins bool) {
	old, known := t.agents[i.ID]
	t.agents[i.ID] = i
	if now := trouble(i); now != "" && now != old.Why { // what a turn before ended with is told
		t.troubles = append(t.troubles, i.Name+": "+now)
	}
	switch {
	case i.Kind.Nature().Stays:
		if begins {
			t.main = i
		}
	case !begins && (!known || (i.State.Terminal() && !old.State.Terminal())):
		t.changes = append(t.changes, i)
	}
	if begins {
		t.first[i.ID] = i
	}
}

// trouble is why an agent that would go on does not, or "".
func trouble(i event.Info) string {
	switch {
	case i.Retry != nil:
		return fmt.Sprintf("%s (trying again, %d of %d)", i.Retry.Reason, i.Retry.Attempt, i.Retry.Of)
	case i.State == event.Running, i.State == event.Idle && len(i.Prompts) > 0:
		return i.Why
	}
	return ""
}

// add follows main's transcript.
func (t *tally) add(e history.Entry) {
	switch e.Kind {
	case history.EntryText:
		t.answer = append(t.answer, e.Text)
	case history.EntryCall, history.EntryPrompt, history.EntryMessage, history.EntryResult:
		t.answer = nil
	case history.EntryEnded:
		t.ended = e.End
		t.steps += e.End.Steps
	}
}

// spent is what all agents used since the run began.
func (t *tally) spent() (u llm.Usage, cost int64, priced bool) {
	priced = true
	for id, i := range t.agents {
		old := t.first[id]
		d := llm.Usage{
			Input: i.Usage.Input - old.Usage.Input, Output: i.Usage.Output - old.Usage.Output,
			CacheRead: i.Usage.CacheRead - old.Usage.CacheRead, CacheWrite: i.Usage.CacheWrite - old.Usage.CacheWrite,
			Reasoning: i.Usage.Reasoning - old.Usage.Reasoning,
		}
		if d == (llm.Usage{}) {
			continue
		}
		u = u.Add(d)
		cost += i.Cost - old.Cost
		priced = priced && i.Priced
	}
	return u, cost, priced && u != (llm.Usage{})
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
