package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"fantail/tools"
)

// loginTimeout is how long the user may take to log in.
const loginTimeout = time.Hour

// maxWrongCallbacks limits the pasted addresses that belong to other logins.
const maxWrongCallbacks = 5

// The labels of the user's answers.
const (
	labelOpen   = "open it in a browser"
	labelCancel = "cancel: no login"
)

// SignInOptions configure a [SignIn].
type SignInOptions struct {
	LoginOptions               // without Base and Ask
	Lasts        time.Duration // time for a login; 0: loginTimeout
	Environ      []string      // for browsers of callers without one
	// Open opens an address in a browser with that environment; nil: [Browse].
	Open func(ctx context.Context, address string, environ []string) error
}

// LoginWaiter is a caller that waits for a login.
type LoginWaiter struct {
	Ask     func(ctx context.Context, q tools.Question) (string, error) // asks the human; it ends with ctx
	Aside   func(why string) (back func(ctx context.Context) error)     // releases what the caller holds until back is called; nil: it holds nothing
	Environ []string                                                    // for the browser; nil: that of SignInOptions
	Anew    bool                                                        // the human wants the login, even after an earlier no
}

// SignIn runs the logins to servers, one at a time for each server. It is safe for concurrent use.
type SignIn struct {
	o SignInOptions

	mu       sync.Mutex
	flows    map[string]*loginFlow // by name of the server
	declined map[string]error      // servers to which the user refused to log in
}

// NewSignIn returns a SignIn.
func NewSignIn(o SignInOptions) *SignIn {
	if o.Lasts == 0 {
		o.Lasts = loginTimeout
	}
	if o.Open == nil {
		o.Open = Browse
	}
	return &SignIn{o: o, flows: map[string]*loginFlow{}, declined: map[string]error{}}
}

// Login returns once the user is logged in to the server of c, or with the reason why not. f is the
// fault of a refused request.
func (d *SignIn) Login(ctx context.Context, c LoginClient, f *LoginFault, w LoginWaiter) error {
	fl, err := d.join(c, f, w)
	if err != nil {
		return err
	}
	defer d.leave(fl)
	return fl.wait(ctx, w)
}

// errNobodyWaits ends a login that no caller waits for any more.
var errNobodyWaits = errors.New("nobody waits for it any more")

// join returns the running login to the server, or starts one.
func (d *SignIn) join(c LoginClient, f *LoginFault, w LoginWaiter) (*loginFlow, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.Anew {
		delete(d.declined, c.Server)
	}
	if err := d.declined[c.Server]; err != nil {
		return nil, err
	}
	fl := d.flows[c.Server]
	if fl == nil {
		fl = &loginFlow{
			signIn: d, client: c, fault: f, questionReady: make(chan struct{}), answers: make(chan LoginAnswer, 1), askToken: make(chan struct{}, 1),
			done: make(chan struct{}),
		}
		fl.askToken <- struct{}{}
		late := fmt.Errorf("nobody logged in to %s within %v; the next call asks again", c.Server, d.o.Lasts)
		ctx, stop := context.WithTimeoutCause(context.Background(), d.o.Lasts, late)
		ctx, fl.end = context.WithCancelCause(ctx)
		d.flows[c.Server] = fl
		d.o.Go("log in to "+c.Server, func() {
			defer stop()
			fl.run(ctx)
		})
	}
	fl.waiters++
	return fl, nil
}

// leave ends a login if no caller waits for it any more.
func (d *SignIn) leave(fl *loginFlow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if fl.waiters--; fl.waiters == 0 {
		d.drop(fl)
		fl.end(errNobodyWaits)
	}
}

// drop removes a login, so that the next caller starts a new one. The caller holds the mutex.
func (d *SignIn) drop(fl *loginFlow) {
	if d.flows[fl.client.Server] == fl {
		delete(d.flows, fl.client.Server)
	}
}

// loginFlow is a running login.
type loginFlow struct {
	signIn  *SignIn
	client  LoginClient
	fault   *LoginFault
	end     context.CancelCauseFunc
	waiters int // guarded by the mutex of SignIn

	asked         LoginQuestion // set once questionReady is closed
	questionReady chan struct{}
	answers       chan LoginAnswer
	done          chan struct{}
	err           error         // set once done is closed
	askToken      chan struct{} // holds a token while no waiter asks the user

	// The mutex of SignIn guards these fields.
	note           string // result of the last answer
	wrongCallbacks int    // addresses that belong to another login
}

// run runs the login.
func (fl *loginFlow) run(ctx context.Context) {
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
	defer base.CloseIdleConnections()
	o := fl.signIn.o.LoginOptions
	o.Base, o.Ask = base, fl.ask
	t, err := NewLoginTransport(o, fl.client)
	if err == nil {
		err = t.Login(ctx, fl.fault)
	}
	var no *LoginFault
	declined := errors.As(err, &no) && no.Why == Declined
	switch {
	case declined:
		err = fmt.Errorf("the user does not want to log in to %s at %s: do without it. They can do so with /mcp login %[1]s or fantail mcp login %[1]s", no.Server, no.Host)
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	fl.signIn.mu.Lock()
	defer fl.signIn.mu.Unlock()
	if declined {
		fl.signIn.declined[fl.client.Server] = err
	}
	fl.signIn.drop(fl)
	fl.err = err
	close(fl.done)
}

// ask publishes the question and returns the answer.
func (fl *loginFlow) ask(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
	fl.asked = q
	close(fl.questionReady)
	select {
	case a := <-fl.answers:
		return a, nil
	case <-ctx.Done():
		return LoginAnswer{}, context.Cause(ctx)
	}
}

// wait waits for the end of the login. One waiter asks the user; when it leaves, another one does.
// A waiter with Anew asks in any case.
func (fl *loginFlow) wait(ctx context.Context, w LoginWaiter) (err error) {
	if w.Aside != nil {
		back := w.Aside("waiting for the login to " + fl.client.Server)
		defer func() {
			if failed := back(ctx); err == nil {
				err = failed
			}
		}()
	}
	lead := fl.askToken
	if w.Anew {
		lead = fl.questionReady
	}
	for _, reached := range []chan struct{}{fl.questionReady, lead} {
		select {
		case <-reached:
		case <-fl.done:
			return fl.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !w.Anew {
		defer func() { fl.askToken <- struct{}{} }()
	}
	return fl.askUser(ctx, w)
}

// askUser lets w ask the user until the login is over.
func (fl *loginFlow) askUser(ctx context.Context, w LoginWaiter) error {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	fl.signIn.o.Go("end the question of a login", func() {
		defer stop()
		select {
		case <-fl.done:
		case <-asking.Done():
		}
	})
	for {
		said, err := w.Ask(asking, fl.question())
		select {
		case <-fl.done: // the browser returned, whatever was answered meanwhile
			return fl.err
		default:
		}
		said = strings.TrimSpace(said)
		switch {
		case err != nil:
			return err
		case said == "":
			return fmt.Errorf("the question about the login to %s was closed", fl.client.Server)
		case said == labelOpen || strings.EqualFold(said, "open"):
			environ := w.Environ
			if environ == nil {
				environ = fl.signIn.o.Environ
			}
			note := "It is open in a browser on the machine where Fantail runs."
			if err := fl.signIn.o.Open(ctx, fl.asked.URL, environ); err != nil {
				note = "No browser can be opened where Fantail runs: " + tools.Line(err.Error()) + "."
			}
			fl.setNote(note)
			continue
		case said == labelCancel || strings.EqualFold(said, "cancel") || strings.EqualFold(said, "no"):
			fl.answer(LoginAnswer{No: true})
		case fl.asked.Ends(said) == nil || fl.countWrongCallback() > maxWrongCallbacks:
			fl.answer(LoginAnswer{Back: said})
		default:
			fl.setNote("That is not the address at which this login ends, which begins with " + fl.asked.Back + "?")
			continue
		}
		select {
		case <-fl.done:
			return fl.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// answer passes on the first answer only.
func (fl *loginFlow) answer(a LoginAnswer) {
	select {
	case fl.answers <- a:
	default:
	}
}

// setNote sets the note that begins the next question.
func (fl *loginFlow) setNote(note string) {
	fl.signIn.mu.Lock()
	defer fl.signIn.mu.Unlock()
	fl.note = note
}

// countWrongCallback counts a pasted address of another login.
func (fl *loginFlow) countWrongCallback() int {
	fl.signIn.mu.Lock()
	defer fl.signIn.mu.Unlock()
	fl.wrongCallbacks++
	return fl.wrongCallbacks
}

// question returns the question for the user.
func (fl *loginFlow) question() tools.Question {
	var b strings.Builder
	fl.signIn.mu.Lock()
	if fl.note != "" {
		b.WriteString(fl.note + "\n\n")
	}
	fl.signIn.mu.Unlock()
	fmt.Fprintf(&b, "The MCP server %s wants a login at the host %s.\n\nThe server is at the host %s. The address to log in:\n\n%s\n\n",
		tools.Line(fl.asked.Server), tools.Line(fl.asked.Host), tools.Line(fl.asked.At), fl.asked.URL)
	if fl.asked.Why != "" {
		b.WriteString("Before: " + tools.Line(fl.asked.Why) + ".\n\n")
	}
	fmt.Fprintf(&b, "Nothing is opened by itself. A browser on the machine where Fantail runs comes back by itself. One on another machine "+
		"ends at an address that it can't show, %s?…: paste that here, whole.", fl.asked.Back)
	return tools.Question{Text: b.String(), Options: []tools.Option{
		{Label: labelOpen, Why: "on the machine where Fantail runs"}, {Label: labelCancel, Why: "who waits for it goes on without"},
	}}
}
