package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fantail/agents/acp/draft"
	"fantail/agents/acp/rpc"
	"fantail/agents/acp/schema"
)

// two is the draft of version 2 of the protocol.
type two struct {
	*Session
	able draft.Agent
	draft.Reader
	draft.Work
}

// enter makes a session, or enters the one that goes on.
func (s *two) enter(ctx context.Context) error {
	if !s.able.Sessions() {
		return errors.New("it has no sessions")
	}
	req := draft.Enter{Session: s.o.Resume, Dir: s.o.Dir, Servers: []draft.Server{}}
	if s.able.Serves() {
		for _, server := range s.o.Servers {
			req.Servers = append(req.Servers, draft.Server{Type: "stdio", Server: server})
		}
	} else if len(s.o.Servers) > 0 {
		s.notes = append(s.notes, s.o.Vendor+" starts no MCP servers: it has none of the tools for mail and the queue.")
	}
	method := schema.SessionNew
	if s.o.Resume != "" {
		method = schema.Resume
		if s.o.Whole {
			req.Replay = &draft.Replay{Type: "start"}
		}
	}
	var r draft.Entered
	err := s.conn.Call(ctx, method, req, &r)
	s.begun.Session, s.begun.Options.All = r.Session, s.Listed(r.Options)
	if s.o.Resume != "" {
		s.begun.Session, err = s.o.Resume, unknown(err)
	}
	return err
}

// prompt has the agent carry out a turn. That it has the words and that it has done what they say are told one by one, and
// what comes in between says which is which: so the first is heard before anything that comes after it.
func (s *two) prompt(ctx, within context.Context, text string) (schema.PromptResponse, error) {
	t := s.Begin()
	defer t.Leave()
	defer context.AfterFunc(ctx, t.Stop)()
	if err := s.says(within, t, text); err != nil {
		return schema.PromptResponse{}, err
	}
	over := func() (schema.PromptResponse, error) {
		end := t.End()
		if end.Code == schema.AuthRequired {
			return schema.PromptResponse{}, &rpc.Error{Code: end.Code, Message: end.Why}
		}
		return end.End(), nil
	}
	select {
	case <-t.Over():
		return over()
	case <-within.Done():
		return schema.PromptResponse{}, fmt.Errorf("%s: %w", schema.Prompt, context.Cause(within))
	case <-s.conn.Done():
		select {
		case <-t.Over(): // which came last
			return over()
		default:
		}
		return schema.PromptResponse{}, fmt.Errorf("%s: %w", schema.Prompt, s.conn.Err())
	}
}

// says sends a prompt of a turn and waits until it is in the conversation.
func (s *two) says(ctx context.Context, t *draft.Turn, text string) error {
	answered := false
	first := func(result json.RawMessage, failed bool) {
		var a draft.Accepted
		_ = json.Unmarshal(result, &a)
		if failed {
			t.Refused()
		} else {
			t.Accepted(a.Message)
		}
		answered = true
	}
	err := s.conn.CallFirst(ctx, schema.Prompt, schema.PromptRequest{Session: s.ID(), Prompt: schema.Say(text)}, nil, first)
	if !answered {
		t.Refused()
	}
	return err
}

// steer sends a prompt more in the turn that goes on. The agent may hold it back until then; that turn is over when it has
// carried out both.
func (s *two) steer(ctx context.Context, text string) (taken bool, err error) {
	t := s.Goes()
	if t == nil {
		return false, nil
	}
	if err := s.says(ctx, t, text); err != nil {
		return false, err
	}
	return true, nil
}

func (s *two) set(ctx context.Context, option, value string) ([]schema.Option, error) {
	var r draft.Settings
	if err := s.conn.Call(ctx, schema.SetOption, s.Setting(s.ID(), option, value), &r); err != nil {
		return nil, err
	}
	if !r.Options.OK {
		return nil, nil
	}
	return s.Listed(r.Options), nil
}

func (s *two) hear(params json.RawMessage) {
	n := s.Read(params)
	if s.other(n.Session) {
		return
	}
	if n.Came != "" {
		s.Came(n.Came)
	}
	size := len(params)
	for _, u := range n.Updates {
		s.o.Hear(u, size)
		size = 0
	}
	if n.State == nil {
		return
	}
	if u := s.Now(*n.State); u != nil {
		s.o.Hear(u, size)
	}
}

func (s *two) permission(params json.RawMessage) (schema.PermissionRequest, error) {
	return draft.Permission(params)
}

func (s *two) Steers() bool { return true }
