package mcp

import (
	"context"
	"errors"
	"net/http"
)

// refusal is a response that asks for a login.
type refusal struct {
	status int
	header http.Header
	token  *storedToken // token of the request
}

// LoginFaultOf returns the fault in err that a login can fix; nil: none.
func LoginFaultOf(err error) *LoginFault {
	if f := (*LoginFault)(nil); errors.As(err, &f) && f.refused != nil {
		return f
	}
	return nil
}

// Login has the user log in after the fault f of this client. It asks no question if a newer token
// exists. The token is saved for other transports too.
func (t *LoginTransport) Login(ctx context.Context, f *LoginFault) error {
	if f.refused == nil || t.o.Ask == nil {
		return f
	}
	if err := t.lockRefresh(ctx); err != nil {
		return err
	}
	defer t.unlockRefresh()
	if t.newerToken(f.refused.token) != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.client.URL, http.NoBody)
	if err != nil {
		return err
	}
	var lost *LoginFault
	if f.Why == Expired || f.Why == Refused {
		lost = f
	}
	_, err = t.authorize(ctx, req, &http.Response{StatusCode: f.refused.status, Header: f.refused.header, Body: http.NoBody}, lost)
	return err
}
