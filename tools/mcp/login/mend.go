package login

import (
	"context"
	"errors"
	"net/http"
)

// refusal is how a server refused a request that it wants a login for.
type refusal struct {
	code   int
	header http.Header
	by     *grant // what the request was made with
}

// Mends returns the fault in err that a login mends; nil: there is none.
func Mends(err error) *Fault {
	if f := (*Fault)(nil); errors.As(err, &f) && f.refused != nil {
		return f
	}
	return nil
}

// Login has the human log in where f, of this client, kept a request from being made. Nobody is asked if somebody has
// logged in since. What is given is kept, for other transports too.
func (t *Transport) Login(ctx context.Context, f *Fault) error {
	if f.refused == nil || t.o.Ask == nil {
		return f
	}
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.pass()
	if t.newer(f.refused.by) != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.c.URL, http.NoBody)
	if err != nil {
		return err
	}
	var lost *Fault
	if f.Why == Expired || f.Why == Refused {
		lost = f
	}
	_, err = t.login(ctx, req, &http.Response{StatusCode: f.refused.code, Header: f.refused.header, Body: http.NoBody}, lost)
	return err
}
