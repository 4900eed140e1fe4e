package mcp

import (
	"cmp"
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/mcp/form"
)

const mostAsks = 4 // questions of one server that are open at once

// asks puts a server's question to the human.
func (v *live) asks(ctx context.Context, q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if q.Params == nil || !v.calls.asking() {
		return &mcp.ElicitResult{Action: string(form.Decline)}, nil
	}
	defer v.calls.answered()
	e, err := form.Read(q.Params)
	if err != nil {
		return nil, err
	}
	var a form.Answer
	switch one := v.calls.newest(); {
	case one == nil || one.ask == nil: // it asks out of the blue, or nobody is there
		a = form.Answer{Action: form.Decline}
	default:
		within, cancel := context.WithCancel(one.ctx)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		a, err = form.Fill(within, one.ask, v.l.server.Name, e)
	}
	if err != nil {
		return nil, err
	}
	if a.Action != form.Accept || e.URL != "" {
		a.Content = nil
	}
	return &mcp.ElicitResult{Action: string(cmp.Or(a.Action, form.Cancel)), Content: a.Content}, nil
}
