package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/ui/attach"
	"fantail/ui/cells"
	"fantail/ui/shell"
)

// printed is the output of an errand: text for people, or a line of JSON each. On a terminal,
// control characters are removed.
type printed struct {
	w      io.Writer
	tty    bool
	json   bool
	unread *Unread // nil: its code is that of the errand
}

// Unread says how an errand ends if its output can't be written.
type Unread struct {
	Code int    // exit code if the reader has closed the output; after other errors the errand has failed
	Says string // text about what was not printed; "": none
}

// says prints the result of an errand and returns code. If the result can't be written, it returns
// what otherwise says.
func (c *caller) says(code int, otherwise Unread, print func() error) (int, error) {
	c.out.unread = &otherwise // the process with the output notices it if the host carries the errand out
	err := print()
	if err == nil {
		return code, nil
	}
	if otherwise.Says != "" {
		shell.Warn(c.errs, "%s", otherwise.Says)
	}
	return otherwise.Code, err
}

// errUnread is the error if the reader has closed the output.
var errUnread = errors.New("the output is closed")

// text prints s and ends its last line.
func (p *printed) text(s string) error {
	if p.tty {
		s = cells.Clean(s)
	}
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	_, err := io.WriteString(p.w, s)
	return written(err)
}

// piece prints s and ends no line.
func (p *printed) piece(s string) error {
	if p.tty {
		s = cells.Clean(s)
	}
	_, err := io.WriteString(p.w, s)
	return written(err)
}

// line prints v as a line of JSON.
func (p *printed) line(v any) error { return written(attach.WriteJSON(p.w, v)) }

// printEach prints a list, as a line of JSON for each item or else as one text. It returns code, or
// [shell.ExitFailed] if a line can't be written.
func printEach[T any](p *printed, code int, all []T, line func(t T) any, text func() string) (int, error) {
	if !p.json {
		return code, p.text(text())
	}
	p.unread = &Unread{Code: shell.ExitFailed}
	for _, t := range all {
		if err := p.line(line(t)); err != nil {
			return shell.ExitFailed, err
		}
	}
	return code, nil
}

// moment returns a time for JSON; nil: not yet.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// written returns the error for output that could not be written.
func written(err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return errUnread
	case err != nil:
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// jLetter is a message in JSON. A body or partial output that is not UTF-8 is also given in base64,
// because JSON can't hold it.
type jLetter struct {
	ID       int64      `json:"id"`
	To       string     `json:"to"`
	From     string     `json:"from"`
	Outside  bool       `json:"outside"`
	Kind     string     `json:"kind"`
	Priority string     `json:"priority"`
	Tags     []string   `json:"tags"`
	Thread   int64      `json:"thread_id"`
	Reply    int64      `json:"in_reply_to,omitempty"`
	Subject  string     `json:"subject"`
	Body     string     `json:"body"`
	Raw      []byte     `json:"body_base64,omitempty"`
	Outcome  string     `json:"outcome"`
	Error    string     `json:"error"`
	Partial  string     `json:"partial_output"`
	RawPart  []byte     `json:"partial_output_base64,omitempty"`
	Created  time.Time  `json:"created_at"`
	Taken    *time.Time `json:"taken_at"`
	TakenBy  string     `json:"taken_by"`
}

func letterJSON(m inbox.Message, to string) jLetter {
	l := jLetter{
		ID: m.ID, To: to, From: m.From, Outside: m.Outside(), Kind: string(m.Kind), Priority: string(m.Priority), Tags: m.Tags,
		Thread: m.Thread, Reply: m.InReplyTo, Subject: m.Subject, Body: m.Body, Outcome: m.Outcome, Error: m.Error, Partial: m.Partial, Created: m.Created, Taken: moment(m.Taken), TakenBy: m.TakenBy,
	}
	if l.Tags == nil {
		l.Tags = []string{}
	}
	if !utf8.ValidString(m.Body) {
		l.Raw = []byte(m.Body)
	}
	if !utf8.ValidString(m.Partial) {
		l.RawPart = []byte(m.Partial)
	}
	return l
}

// jTask is a task in JSON.
type jTask struct {
	ID       int64      `json:"id"`
	Name     string     `json:"name"`
	State    string     `json:"state"`
	Outcome  string     `json:"outcome"`
	Error    string     `json:"error"`
	Kind     string     `json:"kind"`
	Origin   string     `json:"origin"`
	Prompt   string     `json:"prompt"`
	Model    string     `json:"model"`
	Timeout  int64      `json:"timeout_ms"`
	After    []string   `json:"after"`
	Created  time.Time  `json:"created_at"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
}

func taskJSON(t tasks.Task) jTask {
	j := jTask{
		ID: t.ID, Name: t.Name, State: t.State, Outcome: t.Outcome, Error: t.Error, Kind: t.Kind, Origin: t.Origin, Prompt: t.Prompt,
		Model: t.Model, Timeout: t.Timeout.Milliseconds(), After: t.After, Created: t.Created, Started: moment(t.Started), Finished: moment(t.Finished),
	}
	if j.After == nil {
		j.After = []string{}
	}
	return j
}
