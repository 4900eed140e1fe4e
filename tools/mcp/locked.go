package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fantail/tools"
	"fantail/tools/mcp/login"
	"fantail/tools/mcp/signin"
	"fantail/tools/permit"
)

// work has the server do something as attempt does. Where only a login is missing, the human is asked to log in, and then
// it is done: what a server refuses for that, it has not begun.
func (l *link) work(
	ctx context.Context, env *tools.Env, id string, still func() error, do func(ctx context.Context, v *live, token string) (tools.Result, error),
) tools.Result {
	for again := false; ; again = true {
		var lock *login.Fault
		r := l.attempt(ctx, env, id, still, do, &lock)
		if lock == nil {
			l.opened()
			return r
		}
		l.locks(lock)
		if again || env.Ask == nil || l.r.o.Logins == nil {
			return r
		}
		if err := l.logsIn(ctx, lock, l.waiter(env, id)); err != nil {
			return tools.Result{Text: plain("Nothing was called: " + err.Error()), Error: true}
		}
	}
}

// waiter is a call that waits for a login.
func (l *link) waiter(env *tools.Env, id string) signin.Waiter {
	return signin.Waiter{
		Ask: func(ctx context.Context, q tools.Question) (string, error) {
			return env.Ask(ctx, id, "log in to the MCP server "+l.server.Name, q)
		},
		Aside: env.Aside, Environ: env.Environ,
	}
}

// logsIn has the human log in.
func (l *link) logsIn(ctx context.Context, lock *login.Fault, w signin.Waiter) error {
	c := login.Client{Server: l.server.Name, URL: l.server.URL, ID: l.server.Client, Secret: l.server.Secret}
	if err := l.r.o.Logins.Login(ctx, c, lock, w); err != nil {
		return err
	}
	l.r.mu.Lock()
	l.lock, l.fails, l.next = nil, 0, time.Time{}
	if l.phase == Locked {
		l.becomes(Stopped, "somebody is logged in now: it starts once it is needed")
	}
	if l.live != nil {
		l.becomes(Ready, "")
	}
	l.r.mu.Unlock()
	l.r.changed()
	return nil
}

// locks notes that the server wants a login.
func (l *link) locks(lock *login.Fault) {
	l.r.mu.Lock()
	was := l.phase
	l.locked(lock)
	l.r.mu.Unlock()
	if was != Locked {
		l.r.changed()
	}
}

// locked is locks for who has the mutex.
func (l *link) locked(lock *login.Fault) {
	if l.lock = lock; l.phase != Locked {
		l.becomes(Locked, lock.Error())
	}
}

// opened notes that a server that runs wants no login any more: somebody logged in elsewhere.
func (l *link) opened() {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if l.phase == Locked && l.live != nil && l.lock != nil {
		l.lock = nil
		l.becomes(Ready, "")
	}
}

// Login has the human log in to a server, and starts it.
func (r *Room) Login(ctx context.Context, name string, w signin.Waiter) error {
	l, err := r.find(name)
	switch {
	case err != nil:
		return err
	case l.server.URL == "":
		return fmt.Errorf("%s is a program on this machine: there is nothing to log in to", name)
	case r.o.Logins == nil:
		return errors.New("nobody can log in here")
	}
	r.mu.Lock()
	lock := l.lock
	r.mu.Unlock()
	if lock == nil {
		if _, err = l.ready(ctx); err == nil {
			return fmt.Errorf("%s wants no login, or has the one that is kept", name)
		}
		if lock = login.Mends(err); lock == nil {
			return err
		}
	}
	w.Anew = true
	if err := l.logsIn(ctx, lock, w); err != nil {
		return err
	}
	_, err = l.ready(ctx)
	return err
}

// logIn describes the tool that stands for those of a server whose tools nobody knows, for it wants a login first.
func logIn(server string) described {
	return described{
		Name: "log_in",
		About: "Ask the user to log in to the MCP server " + server + ". What tools it has is not known before that. " +
			"Call it only if what the user wants needs that server.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// parseLogIn is a call of that tool. It needs no answer but that of the login's own question.
func (l *link) parseLogIn(env *tools.Env, id, name string) *tools.Call {
	return &tools.Call{Action: permit.Action{Tool: name, Kind: permit.Internal, Dir: env.Root}, Run: func(ctx context.Context) tools.Result {
		return l.work(ctx, env, id, nil, func(context.Context, *live, string) (tools.Result, error) {
			return tools.Result{Text: "Somebody is logged in to " + l.server.Name + ". Its tools are there from the user's next prompt on."}, nil
		})
	}}
}
