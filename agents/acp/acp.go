// Package acp speaks with other vendors' agents over the Agent Client Protocol.
//
// Does: begin a session with an agent in a process of its own, or go on with one; agree with it on a version of the protocol;
// send it words, steer it where it lets itself be steered, cancel what it does; hand on what it says and asks, in its order;
// say clearly how it failed, with the last that it wrote.
//
// Does not: know turns, transcripts or questions of ours; read a vendor's files or log in for anybody.
//
// Imports: agents/acp/rpc, agents/acp/schema, agents/acp/draft, tools, tools/proc.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"fantail/agents/acp/draft"
	"fantail/agents/acp/rpc"
	"fantail/agents/acp/schema"
	"fantail/tools"
)

// mostName is how many bytes a session's name may have.
const mostName = 4 << 10

// The bounds of a session.
const (
	begins = 2 * time.Minute  // until a session stands: the first start ever of some takes ten seconds
	steers = 30 * time.Second // until words were put into a turn, or not
	sets   = 30 * time.Second // until a setting is changed
	ends   = time.Second      // between the end of its output and its own, or the other way round
)

// Process is the program that an agent is.
type Process interface {
	Streams() (in io.Writer, out io.Reader)
	Exited() <-chan struct{}
	End() (how string) // ends it, whatever lives of it, and says how it ended; may be called more than once
	Said() string      // the end of its standard error
}

// Options are what a session is made of.
type Options struct {
	Vendor  string // what people call the agent
	Version string // of this program
	Newest  int    // version of the protocol to speak; 0: 1
	Dir     string // where the agent works, absolute
	Servers []schema.Server
	Resume  string // the session to go on with; "": a new one
	Whole   bool   // what was said in it is to be replayed

	// Hear hears what the agent says, in its order, and how many bytes that took. While it has not returned nothing else is
	// heard, nor a turn over.
	Hear func(u schema.Update, size int)

	// Permit and Elicit have the human answer. Their contexts end when the agent does not wait for it any more.
	Permit func(context.Context, schema.PermissionRequest) (schema.Outcome, error)
	Elicit func(context.Context, schema.ElicitRequest) (schema.ElicitResponse, error)

	// Grace is how long the agent may take to end a turn that is cancelled for that cause; then it has failed.
	Grace func(cause error) time.Duration

	Go func(name string, f func())
}

// Session is a conversation with an agent. It is safe for concurrent use.
type Session struct {
	o     Options
	p     Process
	conn  *rpc.Conn
	able  schema.InitializeResponse
	begun schema.SessionResponse
	id    atomic.Pointer[string] // the session's; nil: it is not known yet

	dialect
	speaks atomic.Pointer[dialect] // the same, for what comes before it is known too
	notes  []string
}

// dialect is a version of the protocol: what differs between them.
type dialect interface {
	enter(ctx context.Context) error
	prompt(ctx, within context.Context, text string) (schema.PromptResponse, error)
	steer(ctx context.Context, text string) (taken bool, err error)
	set(ctx context.Context, option, value string) ([]schema.Option, error)
	hear(params json.RawMessage)
	permission(params json.RawMessage) (schema.PermissionRequest, error)

	// Steers reports whether words can be put into a turn, Arrived whether those are in the conversation that were sent
	// last, Alone whether it is known that the agent does something that it was not prompted for.
	Steers() bool
	Arrived() bool
	Alone() bool
}

// ErrNoSession is the error if the agent does not know the session that was to go on.
var ErrNoSession = errors.New("it does not go on with the session")

// LoginError is the error if the agent asks for a login first.
type LoginError struct {
	Vendor string
	Ways   []schema.AuthMethod
}

func (e *LoginError) Error() string { return e.Vendor + " asks for a login" }

// Failure is how an agent failed.
type Failure struct {
	Vendor string
	Cause  error
	How    string // its process ended; "": it has not, or by us
	Said   string // the last it wrote to its standard error
}

// Error is one line that a terminal shows as it is, whatever the agent wrote.
func (f *Failure) Error() string {
	text := f.Vendor + ": " + tools.Line(f.Cause.Error())
	if f.How != "" {
		text += " (" + f.How + ")"
	}
	if said := lastLines(f.Said, 3); said != "" {
		text += ": " + said
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Cause }

// lastLines are the last n lines of a text that are not blank, joined.
func lastLines(text string, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = tools.Line(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(len(lines)-n, 0):], " · ")
}

// Begin begins a session with the agent that p is, or goes on with one. It ends p if that fails.
func Begin(ctx context.Context, p Process, o Options) (_ *Session, err error) {
	in, out := p.Streams()
	s := &Session{o: o, p: p}
	s.conn = rpc.New(in, out, s, o.Go)
	o.Go("acp watch", func() {
		select {
		case <-p.Exited(): // others may hold its output open
			late := time.NewTimer(ends)
			defer late.Stop()
			select {
			case <-s.conn.Done():
			case <-late.C:
				s.conn.Close()
			}
		case <-s.conn.Done():
		}
	})
	defer func() {
		if err != nil {
			err = s.failed(err)
			s.End()
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, begins, fmt.Errorf("it did not begin a session in %v", begins))
	defer cancel()
	if err := s.agree(ctx); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if n := len(s.begun.Session); n == 0 || n > mostName {
		return nil, errors.New("it names no session")
	}
	s.id.Store(&s.begun.Session)
	return s, nil
}

// agree agrees with the agent on a version of the protocol, the newest that both speak.
func (s *Session) agree(ctx context.Context) error {
	client := schema.Implementation{Name: "fantail", Version: s.o.Version}
	var hello any = schema.InitializeRequest{Version: schema.Version, Client: client}
	if s.o.Newest == draft.Version {
		hello = draft.Greet(client)
	}
	var answer json.RawMessage
	if err := s.conn.Call(ctx, schema.Initialize, hello, &answer); err != nil {
		return err
	}
	unreadable := func(err error) error {
		return fmt.Errorf("%s: what came back can't be read: %w", schema.Initialize, err)
	}
	var agreed struct {
		Version int `json:"protocolVersion"`
	}
	if err := json.Unmarshal(answer, &agreed); err != nil {
		return unreadable(err)
	}
	switch wanted := max(s.o.Newest, schema.Version); {
	case agreed.Version == schema.Version:
		if err := json.Unmarshal(answer, &s.able); err != nil {
			return unreadable(err)
		}
		s.dialect = one{s}
		if wanted != schema.Version {
			s.notes = append(s.notes, fmt.Sprintf("%s speaks version %d of the Agent Client Protocol, not %d: it is spoken with in that.", s.o.Vendor, schema.Version, wanted))
		}
	case agreed.Version == draft.Version && wanted == draft.Version:
		d := &two{Session: s}
		if err := json.Unmarshal(answer, &d.able); err != nil {
			return unreadable(err)
		}
		s.able.Agent, s.able.Auth.All = d.able.Info, d.able.Logins()
		s.dialect = d
	case wanted == draft.Version:
		return fmt.Errorf("it speaks version %d of the protocol, neither %d nor %d", agreed.Version, schema.Version, draft.Version)
	default:
		return fmt.Errorf("it speaks version %d of the protocol, not %d", agreed.Version, schema.Version)
	}
	s.speaks.Store(&s.dialect)
	return nil
}

// Notes are what the human is to know of how the session began.
func (s *Session) Notes() []string { return s.notes }

// failed says how the agent failed.
func (s *Session) failed(err error) error {
	if refused := (*rpc.Error)(nil); errors.As(err, &refused) && refused.Code == schema.AuthRequired {
		return &LoginError{s.o.Vendor, s.able.Auth.All}
	}
	f := &Failure{Vendor: s.o.Vendor, Cause: err}
	if s.conn.Err() == nil {
		return f // it may live on
	}
	late := time.NewTimer(ends)
	defer late.Stop()
	select {
	case <-s.p.Exited():
		f.How = s.p.End()
	case <-late.C:
	}
	f.Said = s.p.Said()
	return f
}

// ID is the session's name, with which it may go on later.
func (s *Session) ID() string { return s.begun.Session }

// Modes and Options are the settings that the session began with.
func (s *Session) Modes() schema.Modes { return s.begun.Modes.V }

func (s *Session) Options() []schema.Option { return s.begun.Options.All }

// Agent is what the agent calls itself.
func (s *Session) Agent() schema.Implementation { return s.able.Agent.V }

// Done is closed when the agent can't be spoken with any more.
func (s *Session) Done() <-chan struct{} { return s.conn.Done() }

// Prompt has the agent carry out a turn and returns how that ended. When ctx ends the agent is told to cancel; Prompt
// returns once it has, or its time for that is up.
func (s *Session) Prompt(ctx context.Context, text string) (r schema.PromptResponse, err error) {
	within, stop := s.lingers(ctx)
	defer stop()
	defer context.AfterFunc(ctx, s.Cancel)()
	if r, err = s.prompt(ctx, within, text); err != nil {
		return r, s.failed(err)
	}
	return r, nil
}

// lingers returns a context that ends a while after ctx, in which the agent may still answer. stop lets go of it.
func (s *Session) lingers(ctx context.Context) (_ context.Context, stop func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		grace := s.o.Grace(context.Cause(ctx))
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-longer.Done():
		case <-late.C:
			cancel(fmt.Errorf("it did not stop in %v", grace))
		}
	})
	return longer, func() {
		forget()
		cancel(nil)
	}
}

// Cancel tells the agent to end what it does.
func (s *Session) Cancel() { _ = s.conn.Notify(schema.Cancel, schema.SessionRef{Session: s.ID()}) }

// Lost says how a session has ended that is done.
func (s *Session) Lost() error { return s.failed(s.conn.Err()) }

// Steer puts words into the turn that goes on, and reports whether the agent has taken them. If not, they have to wait
// for the turn's end. After the end of ctx it waits for the answer as long as [Session.Prompt] does.
func (s *Session) Steer(ctx context.Context, text string) (taken bool, err error) {
	ctx, stop := s.lingers(ctx)
	defer stop()
	taken, err = s.steer(ctx, text)
	if refused := (*rpc.Error)(nil); errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, s.failed(err)
	}
	return taken, nil
}

// Set changes a setting of the session, and returns all settings as they are now; nil: the agent does not say.
func (s *Session) Set(ctx context.Context, option, value string) ([]schema.Option, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sets, fmt.Errorf("it did not answer in %v", sets))
	defer cancel()
	all, err := s.set(ctx, option, value)
	if err != nil {
		return nil, s.failed(err)
	}
	return all, nil
}

// SetMode changes its mode.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sets, fmt.Errorf("it did not answer in %v", sets))
	defer cancel()
	if err := s.conn.Call(ctx, schema.SetMode, map[string]string{"sessionId": s.ID(), "modeId": mode}, nil); err != nil {
		return s.failed(err)
	}
	return nil
}

// End ends the agent's process, and with it the session here.
func (s *Session) End() (how string) {
	s.conn.Close()
	return s.p.End()
}

// Notify implements rpc.Hearer.
func (s *Session) Notify(method string, params json.RawMessage) {
	switch d := s.speaks.Load(); {
	case method == schema.Elicited:
	case method == schema.SessionNews && d != nil:
		(*d).hear(params)
	default:
		s.o.Hear(schema.Unknown{Kind: method}, len(method))
	}
}

// other reports whether what is said of that session is of one that the agent has beside ours.
func (s *Session) other(session string) bool {
	id := s.id.Load()
	return session != "" && id != nil && session != *id
}

// Answer implements rpc.Hearer.
func (s *Session) Answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	unreadable := func(err error) error {
		return &rpc.Error{Code: rpc.InvalidParams, Message: method + ": " + err.Error()}
	}
	switch d := s.speaks.Load(); {
	case method == schema.Permission && d != nil:
		q, err := (*d).permission(params)
		if err != nil {
			return nil, unreadable(err)
		}
		out, err := s.o.Permit(ctx, q)
		if err != nil {
			out = schema.Outcome{Outcome: "cancelled"} // what a client has to answer where nobody answers
		}
		return schema.PermissionResponse{Outcome: out}, nil
	case method == schema.Elicit && d != nil:
		var q schema.ElicitRequest
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, unreadable(err)
		}
		out, err := s.o.Elicit(ctx, q)
		if err != nil {
			out = schema.ElicitResponse{Action: "cancel"}
		}
		return out, nil
	}
	return nil, &rpc.Error{Code: rpc.MethodNotFound, Message: "fantail has no " + method}
}
