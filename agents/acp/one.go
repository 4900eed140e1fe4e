package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fantail/agents/acp/rpc"
	"fantail/agents/acp/schema"
)

// one is version 1 of the protocol.
type one struct{ *Session }

// enter makes a session, or enters the one that goes on.
func (s one) enter(ctx context.Context) error {
	req := schema.SessionRequest{Session: s.o.Resume, Dir: s.o.Dir, Servers: s.o.Servers}
	if req.Servers == nil {
		req.Servers = []schema.Server{}
	}
	if s.o.Resume == "" {
		return s.conn.Call(ctx, schema.SessionNew, req, &s.begun)
	}
	can, method := s.able.Capabilities.V, schema.Resume
	if s.o.Whole || !can.Session.V.Resume.OK {
		method = schema.SessionLoad
	}
	if method == schema.SessionLoad && !can.Load.V {
		return fmt.Errorf("%w: it can't", ErrNoSession)
	}
	err := s.conn.Call(ctx, method, req, &s.begun)
	s.begun.Session = s.o.Resume
	return unknown(err)
}

// unknown says of an agent that refuses to go on with a session that it does not go on with it.
func unknown(err error) error {
	if refused := (*rpc.Error)(nil); errors.As(err, &refused) && refused.Code != schema.AuthRequired {
		return fmt.Errorf("%w: %w", ErrNoSession, err)
	}
	return err
}

func (s one) prompt(_, within context.Context, text string) (r schema.PromptResponse, err error) {
	err = s.conn.Call(within, schema.Prompt, schema.PromptRequest{Session: s.ID(), Prompt: schema.Say(text)}, &r)
	return r, err
}

func (s one) steer(ctx context.Context, text string) (taken bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, steers, fmt.Errorf("it did not answer in %v", steers))
	defer cancel()
	var r schema.SteerResponse
	err = s.conn.Call(ctx, schema.Steer, schema.SteerRequest{Session: s.ID(), Prompt: schema.Say(text), Meta: schema.Steering}, &r)
	return r.Outcome.V == "injected" || r.Status.V == "injected", err
}

func (s one) set(ctx context.Context, option, value string) ([]schema.Option, error) {
	var r schema.Options
	err := s.conn.Call(ctx, schema.SetOption, map[string]string{"sessionId": s.ID(), "configId": option, "value": value}, &r)
	return r.All.All, err
}

func (s one) hear(params json.RawMessage) {
	if session, u := schema.ReadUpdate(params); !s.other(session) {
		s.o.Hear(u, len(params))
	}
}

func (s one) permission(params json.RawMessage) (q schema.PermissionRequest, err error) {
	err = json.Unmarshal(params, &q)
	return q, err
}

func (s one) Steers() bool  { return s.able.Steers() }
func (s one) Arrived() bool { return true }
func (s one) Alone() bool   { return false }
