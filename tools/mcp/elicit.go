package mcp

import (
	"cmp"
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const maxAsks = 4 // open questions of one server

// elicit asks the user a question of the server.
func (v *runningServer) elicit(ctx context.Context, q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if q.Params == nil || !v.calls.beginQuestion() {
		return &mcp.ElicitResult{Action: string(Decline)}, nil
	}
	defer v.calls.endQuestion()
	e, err := ReadElicitation(q.Params)
	if err != nil {
		return nil, err
	}
	var a FormAnswer
	switch one := v.calls.latest(); {
	case one == nil || one.ask == nil: // no call is open, or there is no user
		a = FormAnswer{Action: Decline}
	default:
		within, cancel := context.WithCancel(one.ctx)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		a, err = FillForm(within, one.ask, v.managed.server.Name, e)
	}
	if err != nil {
		return nil, err
	}
	if a.Action != Accept || e.URL != "" {
		a.Content = nil
	}
	return &mcp.ElicitResult{Action: string(cmp.Or(a.Action, Cancel)), Content: a.Content}, nil
}
