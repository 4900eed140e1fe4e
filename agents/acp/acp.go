// Package acp speaks the Agent Client Protocol with the agents of other vendors.
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

	"fantail/tools"
	"fantail/tools/proc"
)

// maxSessionID is the longest session id in bytes.
const maxSessionID = 4 << 10

// The bounds of a session.
const (
	startTimeout = 2 * time.Minute  // until the session has begun: some agents take ten seconds for their first start
	steerTimeout = 30 * time.Second // until a steering request is answered
	setTimeout   = 30 * time.Second // until a setting has changed
	exitGrace    = time.Second      // between the end of its output and its exit, in either order
)

// Process is an agent's program.
type Process interface {
	Streams() (in io.Writer, out io.Reader)
	Exited() <-chan struct{}
	End() (how string) // ends all of its processes and says how it ended; may be called more than once
	Said() string      // the end of its standard error
}

// Options configure a [Session].
type Options struct {
	Vendor     string // the name of the agent for people
	Version    string // of this program
	Dir        string // where the agent works, absolute
	MCPServers []MCPServer
	Resume     string // the session to resume; "": a new one
	Replay     bool   // replay the messages of the session

	// OnUpdate receives the updates in their order, with their sizes in bytes. Until it returns, nothing else is read, and no
	// turn ends.
	OnUpdate func(u SessionUpdate, size int)

	// RequestPermission and Elicit ask the user. Their contexts end when the agent withdraws the question.
	RequestPermission func(context.Context, RequestPermissionRequest) (RequestPermissionOutcome, error)
	Elicit            func(context.Context, CreateElicitationRequest) (CreateElicitationResponse, error)

	// Grace returns how long the agent may take to end a turn cancelled for that cause. After that it has failed.
	Grace func(cause error) time.Duration

	Go func(name string, f func())
}

// Session is a conversation with an agent. It is safe for concurrent use.
type Session struct {
	opts     Options
	process  Process
	conn     *Conn
	agent    InitializeResponse
	response SessionResponse
	id       atomic.Pointer[string] // nil: not known yet
}

// ErrNoSession is the error if the agent does not know the session to resume.
var ErrNoSession = errors.New("it does not go on with the session")

// LoginError is the error if the agent wants a login first.
type LoginError struct {
	Vendor      string
	AuthMethods []AuthMethod
}

func (e *LoginError) Error() string { return e.Vendor + " asks for a login" }

// Failure is the error of a session whose agent failed.
type Failure struct {
	Vendor string
	Cause  error
	Exit   string // its process ended; "": it has not, or by us
	Stderr string // the last it wrote to its standard error
}

// Error returns one line that is safe for a terminal.
func (f *Failure) Error() string {
	text := f.Vendor + ": " + tools.Line(f.Cause.Error())
	if f.Exit != "" {
		text += " (" + f.Exit + ")"
	}
	var said []string
	for _, line := range proc.LastLines(f.Stderr, 3) {
		if line = tools.Line(line); line != "" {
			said = append(said, line)
		}
	}
	if len(said) > 0 {
		text += ": " + strings.Join(said, " · ")
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Cause }

// NewSession starts a session with the agent p, or resumes one. If it fails it ends p.
func NewSession(ctx context.Context, p Process, o Options) (_ *Session, err error) {
	in, out := p.Streams()
	s := &Session{opts: o, process: p}
	s.conn = NewConn(in, out, s, o.Go)
	o.Go("acp watch", func() {
		select {
		case <-p.Exited(): // others may hold its output open
			late := time.NewTimer(exitGrace)
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
			err = s.wrapError(err)
			s.End()
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not begin a session in %v", startTimeout))
	defer cancel()
	hello := InitializeRequest{ProtocolVersion: ProtocolVersion, ClientInfo: Implementation{Name: "fantail", Version: o.Version}}
	if err := s.conn.Call(ctx, MethodInitialize, hello, &s.agent); err != nil {
		return nil, err
	}
	if s.agent.ProtocolVersion != ProtocolVersion {
		return nil, fmt.Errorf("it speaks version %d of the Agent Client Protocol, and this program speaks version %d: install a release of it that speaks %d",
			s.agent.ProtocolVersion, ProtocolVersion, ProtocolVersion)
	}
	if err := s.openSession(ctx); err != nil {
		return nil, err
	}
	if n := len(s.response.SessionID); n == 0 || n > maxSessionID {
		return nil, errors.New("it names no session")
	}
	s.id.Store(&s.response.SessionID)
	return s, nil
}

// openSession sends session/new, session/resume or session/load.
func (s *Session) openSession(ctx context.Context) error {
	req := SessionRequest{SessionID: s.opts.Resume, Cwd: s.opts.Dir, MCPServers: s.opts.MCPServers}
	if req.MCPServers == nil {
		req.MCPServers = []MCPServer{}
	}
	if s.opts.Resume == "" {
		return s.conn.Call(ctx, MethodSessionNew, req, &s.response)
	}
	can, method := s.agent.AgentCapabilities.V, MethodSessionResume
	if s.opts.Replay || !can.SessionCapabilities.V.Resume.OK {
		method = MethodSessionLoad
	}
	if method == MethodSessionLoad && !can.LoadSession.V {
		return fmt.Errorf("%w: it can't", ErrNoSession)
	}
	err := s.conn.Call(ctx, method, req, &s.response)
	if refused := (*RPCError)(nil); errors.As(err, &refused) && refused.Code != CodeAuthRequired {
		return fmt.Errorf("%w: %w", ErrNoSession, err)
	}
	s.response.SessionID = s.opts.Resume
	return err
}

// wrapError returns err as a [LoginError] or a [Failure].
func (s *Session) wrapError(err error) error {
	if refused := (*RPCError)(nil); errors.As(err, &refused) && refused.Code == CodeAuthRequired {
		return &LoginError{s.opts.Vendor, s.agent.AuthMethods.All}
	}
	f := &Failure{Vendor: s.opts.Vendor, Cause: err}
	if s.conn.Err() == nil {
		return f // it may live on
	}
	late := time.NewTimer(exitGrace)
	defer late.Stop()
	select {
	case <-s.process.Exited():
		f.Exit = s.process.End()
	case <-late.C:
	}
	f.Stderr = s.process.Said()
	return f
}

// ID returns the session's id, with which it can be resumed.
func (s *Session) ID() string { return s.response.SessionID }

// Steers reports whether text can be added to a running turn.
func (s *Session) Steers() bool { return s.agent.SupportsSteering() }

// Modes and Options return the settings with which the session began.
func (s *Session) Modes() SessionModeState { return s.response.Modes.V }

func (s *Session) Options() []SessionConfigOption { return s.response.ConfigOptions.All }

// Agent returns the agent's name and version.
func (s *Session) Agent() Implementation { return s.agent.AgentInfo.V }

// Done is closed when the connection to the agent has ended.
func (s *Session) Done() <-chan struct{} { return s.conn.Done() }

// Prompt runs a turn of the agent and returns its result. When ctx ends, Prompt sends session/cancel and waits until the
// agent ends the turn, or until the grace period is over.
func (s *Session) Prompt(ctx context.Context, text string) (r PromptResponse, err error) {
	within, stop := s.withGrace(ctx)
	defer stop()
	defer context.AfterFunc(ctx, s.Cancel)()
	err = s.conn.Call(within, MethodSessionPrompt, PromptRequest{SessionID: s.ID(), Prompt: textPrompt(text)}, &r)
	if err != nil {
		return r, s.wrapError(err)
	}
	return r, nil
}

// withGrace returns a context that ends a grace period after ctx. stop releases it.
func (s *Session) withGrace(ctx context.Context) (_ context.Context, stop func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		grace := s.opts.Grace(context.Cause(ctx))
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

// Cancel tells the agent to end the turn.
func (s *Session) Cancel() {
	_ = s.conn.Notify(MethodSessionCancel, CancelNotification{SessionID: s.ID()})
}

// Err returns why a session that is done has ended.
func (s *Session) Err() error { return s.wrapError(s.conn.Err()) }

// Steer adds text to the running turn, and reports whether the agent took it. If not, the text has to wait for the end of
// the turn. After the end of ctx it waits for the response as long as [Session.Prompt] does.
func (s *Session) Steer(ctx context.Context, text string) (taken bool, err error) {
	ctx, stop := s.withGrace(ctx)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, steerTimeout, fmt.Errorf("it did not answer in %v", steerTimeout))
	defer cancel()
	var r SteeringResponse
	err = s.conn.Call(ctx, MethodSessionSteering, SteeringRequest{SessionID: s.ID(), Prompt: textPrompt(text), Meta: steeringMeta}, &r)
	if refused := (*RPCError)(nil); errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, s.wrapError(err)
	}
	return r.Outcome.V == "injected" || r.Status.V == "injected", nil
}

// Set changes a setting and returns all settings as they are now, or nil if the agent does not tell them.
func (s *Session) Set(ctx context.Context, option, value string) ([]SessionConfigOption, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, setTimeout, fmt.Errorf("it did not answer in %v", setTimeout))
	defer cancel()
	var r ConfigOptionUpdate
	err := s.conn.Call(ctx, MethodSessionSetConfigOption, map[string]string{"sessionId": s.ID(), "configId": option, "value": value}, &r)
	if err != nil {
		return nil, s.wrapError(err)
	}
	return r.ConfigOptions.All, nil
}

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, setTimeout, fmt.Errorf("it did not answer in %v", setTimeout))
	defer cancel()
	if err := s.conn.Call(ctx, MethodSessionSetMode, map[string]string{"sessionId": s.ID(), "modeId": mode}, nil); err != nil {
		return s.wrapError(err)
	}
	return nil
}

// End closes the connection and ends the agent's process.
func (s *Session) End() (how string) {
	s.conn.Close()
	return s.process.End()
}

// Notify implements Receiver.
func (s *Session) Notify(method string, params json.RawMessage) {
	switch method {
	case MethodSessionUpdate:
		session, u := ParseUpdate(params)
		if id := s.id.Load(); session != "" && id != nil && session != *id {
			return // of a session that it has beside ours
		}
		s.opts.OnUpdate(u, len(params))
	case MethodElicitationComplete:
	default:
		s.opts.OnUpdate(UnknownUpdate{Kind: method}, len(method))
	}
}

// Answer implements Receiver.
func (s *Session) Answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	unreadable := func(err error) error {
		return &RPCError{Code: CodeInvalidParams, Message: method + ": " + err.Error()}
	}
	switch method {
	case MethodSessionRequestPermission:
		var q RequestPermissionRequest
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, unreadable(err)
		}
		out, err := s.opts.RequestPermission(ctx, q)
		if err != nil {
			out = RequestPermissionOutcome{Outcome: "cancelled"} // the protocol wants this if the turn ends first
		}
		return RequestPermissionResponse{Outcome: out}, nil
	case MethodElicitationCreate:
		var q CreateElicitationRequest
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, unreadable(err)
		}
		out, err := s.opts.Elicit(ctx, q)
		if err != nil {
			out = CreateElicitationResponse{Action: "cancel"}
		}
		return out, nil
	}
	return nil, &RPCError{Code: CodeMethodNotFound, Message: "fantail has no " + method}
}
