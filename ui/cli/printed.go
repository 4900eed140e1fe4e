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

// printed is the output of an errand: text for people, or JSON a line. On a
// terminal nothing in it steers that.
type printed struct {
	w      io.Writer
	tty    bool
	json   bool
	unread Unread
}

// Unread is how an errand ends whose output can't be written.
type Unread struct {
	Code int    // if nobody reads it any more; else it has failed
	Says string // of what can't be printed any more; "": nothing
}

// says prints what an errand that has done its work has to say, and returns code, or how it ends if that can't be written.
func (c *caller) says(code int, otherwise Unread, print func() error) (int, error) {
	c.out.unread = otherwise // where the host carries it out, the process that has the output finds that out
	err := print()
	if err == nil {
		return code, nil
	}
	if otherwise.Says != "" {
		shell.Warn(c.errs, "%s", otherwise.Says)
	}
	return otherwise.Code, err
}

// errUnread says that nobody reads the output any more.
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

// printEach prints what is listed, a line of JSON each or else all as one text, and returns code, or how it ends if a line can't be written.
func printEach[T any](p *printed, code int, all []T, line func(t T) any, text func() string) (int, error) {
	if !p.json {
		return code, p.text(text())
	}
	for _, t := range all {
		if err := p.line(line(t)); err != nil {
			return shell.ExitFailed, err
		}
	}
	return code, nil
}

// moment is a time in JSON; nil: it has not come.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// written says what became of something printed.
func written(err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return errUnread
	case err != nil:
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// jLetter is a message as JSON. A body or partial output that is not UTF-8, which
// JSON can't hold, stands whole in base64 beside its readable form.
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

// jTask is a task as JSON.
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
