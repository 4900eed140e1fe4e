package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fantail/tools"
	"fantail/tools/permission"
)

// callWithLogin runs attempt. If only a login is missing it has the user log in and tries once
// more: a server that wants a login has not begun the call.
func (l *managedServer) callWithLogin(
	ctx context.Context, env *tools.Runtime, id string, still func() error, do func(ctx context.Context, v *runningServer, token string) (tools.Result, error),
) tools.Result {
	for again := false; ; again = true {
		var fault *LoginFault
		r := l.attempt(ctx, env, id, still, do, &fault)
		if fault == nil {
			l.clearNeedsLogin()
			return r
		}
		l.setNeedsLogin(fault)
		if again || env.Ask == nil || l.servers.o.Logins == nil {
			return r
		}
		if err := l.login(ctx, fault, l.loginWaiter(env, id)); err != nil {
			return tools.Result{Text: plainText("Nothing was called: " + err.Error()), Error: true}
		}
	}
}

// loginWaiter returns a LoginWaiter for a call.
func (l *managedServer) loginWaiter(env *tools.Runtime, id string) LoginWaiter {
	return LoginWaiter{
		Ask: func(ctx context.Context, q tools.Question) (string, error) {
			return env.Ask(ctx, id, "log in to the MCP server "+l.server.Name, q)
		},
		Aside: env.Aside, Environ: env.Environ,
	}
}

// login lets the user log in.
func (l *managedServer) login(ctx context.Context, fault *LoginFault, w LoginWaiter) error {
	c := LoginClient{Server: l.server.Word(), URL: l.server.URL, ID: l.server.Client, Secret: l.server.Secret}
	if err := l.servers.o.Logins.Login(ctx, c, fault, w); err != nil {
		return err
	}
	l.servers.mu.Lock()
	l.loginFault, l.failures, l.nextStart = nil, 0, time.Time{}
	if l.phase == NeedsLogin {
		l.setPhase(Stopped, "somebody is logged in now: it starts once it is needed")
	}
	if l.running != nil {
		l.setPhase(Ready, "")
	}
	l.servers.mu.Unlock()
	l.servers.notifyChanged()
	return nil
}

// setNeedsLogin notes that the server wants a login.
func (l *managedServer) setNeedsLogin(fault *LoginFault) {
	l.servers.mu.Lock()
	was := l.phase
	l.setNeedsLoginLocked(fault)
	l.servers.mu.Unlock()
	if was != NeedsLogin {
		l.servers.notifyChanged()
	}
}

// setNeedsLoginLocked is setNeedsLogin for a caller that holds the mutex.
func (l *managedServer) setNeedsLoginLocked(fault *LoginFault) {
	if l.loginFault = fault; l.phase != NeedsLogin {
		l.setPhase(NeedsLogin, fault.Error())
	}
}

// clearNeedsLogin notes that a running server no longer needs a login, because the user logged in
// elsewhere.
func (l *managedServer) clearNeedsLogin() {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	if l.phase == NeedsLogin && l.running != nil && l.loginFault != nil {
		l.loginFault = nil
		l.setPhase(Ready, "")
	}
}

// Login has the user log in to a server, and starts it.
func (r *Servers) Login(ctx context.Context, name string, w LoginWaiter) error {
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
	lock := l.loginFault
	r.mu.Unlock()
	if lock == nil {
		if _, err = l.ensureRunning(ctx); err == nil {
			return fmt.Errorf("%s wants no login, or has the one that is kept", name)
		}
		if lock = LoginFaultOf(err); lock == nil {
			return err
		}
	}
	w.Anew = true
	if err := l.login(ctx, lock, w); err != nil {
		return err
	}
	_, err = l.ensureRunning(ctx)
	return err
}

// logInDescription describes the tool that replaces the unknown tools of a server that needs a
// login.
func logInDescription(server string) toolDescription {
	return toolDescription{
		Name: "log_in",
		Description: "Ask the user to log in to the MCP server " + server + ". What tools it has is not known before that. " +
			"Call it only if what the user wants needs that server.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// parseLogIn returns a call of that tool. It asks no question but that of the login itself.
func (l *managedServer) parseLogIn(env *tools.Runtime, id, name string) *tools.Call {
	return &tools.Call{Action: permission.Action{Tool: name, Kind: permission.Internal, Dir: env.Root}, Run: func(ctx context.Context) tools.Result {
		return l.callWithLogin(ctx, env, id, nil, func(context.Context, *runningServer, string) (tools.Result, error) {
			return tools.Result{Text: "Somebody is logged in to " + l.server.Name + ". Its tools are there from the user's next prompt on."}, nil
		})
	}}
}
