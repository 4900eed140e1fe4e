// Package signin has the human log in to MCP servers from where agents work.
//
// Does: let all who wait for the same login share one flow, and one question; ask it as long as somebody waits, open a
// browser when the answer says so, take the address at which a browser on another machine ended, and end in time.
//
// Does not: decide when a login is needed, speak OAuth (tools/mcp/login), know what a question is shown as.
//
// Imports: tools, tools/mcp/login.
package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"fantail/tools"
	"fantail/tools/mcp/login"
)

// lasts is how long the human may take for a login.
const lasts = time.Hour

// mostWrong is how many addresses may be pasted that belong to another login.
const mostWrong = 5

// What the human may answer.
const (
	opens   = "open it in a browser"
	cancels = "cancel: no login"
)

// Options are what a desk needs.
type Options struct {
	login.Options               // but for Base and Ask
	Lasts         time.Duration // how long a login may take; 0: as long as usual
	Environ       []string      // of a browser that somebody opens who has none
	// Open opens an address in a browser, which gets that environment; nil: [Browse] does.
	Open func(ctx context.Context, address string, environ []string) error
}

// Waiter is who waits for a login.
type Waiter struct {
	Ask     func(ctx context.Context, q tools.Question) (string, error) // asks the human; it ends with ctx
	Aside   func(why string) (back func(ctx context.Context) error)     // what it holds is let go until back; nil: it holds nothing
	Environ []string                                                    // of a browser that it has opened; nil: the desk's
	Anew    bool                                                        // the human wants it, whatever they said before
}

// Desk is where logins go on: one for each server. It is safe for concurrent use.
type Desk struct {
	o Options

	mu    sync.Mutex
	flows map[string]*flow // by the server's name
	no    map[string]error // servers that the human did not want to log in to
}

// New returns a desk where nothing goes on.
func New(o Options) *Desk {
	if o.Lasts == 0 {
		o.Lasts = lasts
	}
	if o.Open == nil {
		o.Open = Browse
	}
	return &Desk{o: o, flows: map[string]*flow{}, no: map[string]error{}}
}

// Login returns once somebody is logged in to the server of c, which f kept a request from, or says why nobody is.
func (d *Desk) Login(ctx context.Context, c login.Client, f *login.Fault, w Waiter) error {
	fl, err := d.join(c, f, w)
	if err != nil {
		return err
	}
	defer d.leave(fl)
	return fl.await(ctx, w)
}

// errLeft ends a flow for which nobody waits any more.
var errLeft = errors.New("nobody waits for it any more")

// join returns the flow that goes on for the server, or begins it.
func (d *Desk) join(c login.Client, f *login.Fault, w Waiter) (*flow, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.Anew {
		delete(d.no, c.Server)
	}
	if err := d.no[c.Server]; err != nil {
		return nil, err
	}
	fl := d.flows[c.Server]
	if fl == nil {
		fl = &flow{
			desk: d, client: c, fault: f, known: make(chan struct{}), answers: make(chan login.Answer, 1), lead: make(chan struct{}, 1),
			done: make(chan struct{}),
		}
		fl.lead <- struct{}{}
		late := fmt.Errorf("nobody logged in to %s within %v; the next call asks again", c.Server, d.o.Lasts)
		ctx, stop := context.WithTimeoutCause(context.Background(), d.o.Lasts, late)
		ctx, fl.end = context.WithCancelCause(ctx)
		d.flows[c.Server] = fl
		d.o.Go("log in to "+c.Server, func() {
			defer stop()
			fl.run(ctx)
		})
	}
	fl.waits++
	return fl, nil
}

// leave has a flow end that nobody waits for.
func (d *Desk) leave(fl *flow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if fl.waits--; fl.waits == 0 {
		d.drop(fl)
		fl.end(errLeft)
	}
}

// drop has the next who wants that login begin anew. The caller has the mutex.
func (d *Desk) drop(fl *flow) {
	if d.flows[fl.client.Server] == fl {
		delete(d.flows, fl.client.Server)
	}
}

// flow is one login that goes on.
type flow struct {
	desk   *Desk
	client login.Client
	fault  *login.Fault
	end    context.CancelCauseFunc
	waits  int // who waits for it; the desk's mutex guards it

	q       login.Question // once known is closed
	known   chan struct{}
	answers chan login.Answer
	done    chan struct{}
	err     error         // once done is closed
	lead    chan struct{} // holds a token while nobody asks the human

	// The desk's mutex guards these.
	note  string // what came of the last answer
	wrong int    // addresses that belong to another login
}

// run carries the login out.
func (fl *flow) run(ctx context.Context) {
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
	defer base.CloseIdleConnections()
	o := fl.desk.o.Options
	o.Base, o.Ask = base, fl.hear
	t, err := login.New(o, fl.client)
	if err == nil {
		err = t.Login(ctx, fl.fault)
	}
	var no *login.Fault
	declined := errors.As(err, &no) && no.Why == login.Declined
	switch {
	case declined:
		err = fmt.Errorf("the user does not want to log in to %s at %s: do without it. They can do so with /mcp login %[1]s or fantail mcp login %[1]s", no.Server, no.Host)
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	fl.desk.mu.Lock()
	defer fl.desk.mu.Unlock()
	if declined {
		fl.desk.no[fl.client.Server] = err
	}
	fl.desk.drop(fl)
	fl.err = err
	close(fl.done)
}

// hear has the question asked, and returns what ends it.
func (fl *flow) hear(ctx context.Context, q login.Question) (login.Answer, error) {
	fl.q = q
	close(fl.known)
	select {
	case a := <-fl.answers:
		return a, nil
	case <-ctx.Done():
		return login.Answer{}, context.Cause(ctx)
	}
}

// await waits for the end of the login. One of those who wait asks the human; when it leaves, another does. A human who
// wants the login is asked in any case.
func (fl *flow) await(ctx context.Context, w Waiter) (err error) {
	if w.Aside != nil {
		back := w.Aside("waiting for the login to " + fl.client.Server)
		defer func() {
			if failed := back(ctx); err == nil {
				err = failed
			}
		}()
	}
	lead := fl.lead
	if w.Anew {
		lead = fl.known
	}
	for _, reached := range []chan struct{}{fl.known, lead} {
		select {
		case <-reached:
		case <-fl.done:
			return fl.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !w.Anew {
		defer func() { fl.lead <- struct{}{} }()
	}
	return fl.asks(ctx, w)
}

// asks has w ask the human until the login is over.
func (fl *flow) asks(ctx context.Context, w Waiter) error {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	fl.desk.o.Go("end the question of a login", func() {
		defer stop()
		select {
		case <-fl.done:
		case <-asking.Done():
		}
	})
	for {
		said, err := w.Ask(asking, fl.question())
		select {
		case <-fl.done: // the browser came back, whatever was said meanwhile
			return fl.err
		default:
		}
		said = strings.TrimSpace(said)
		switch {
		case err != nil:
			return err
		case said == "":
			return fmt.Errorf("the question about the login to %s was closed", fl.client.Server)
		case said == opens || strings.EqualFold(said, "open"):
			environ := w.Environ
			if environ == nil {
				environ = fl.desk.o.Environ
			}
			note := "It is open in a browser on the machine where Fantail runs."
			if err := fl.desk.o.Open(ctx, fl.q.URL, environ); err != nil {
				note = "No browser can be opened where Fantail runs: " + tools.Line(err.Error()) + "."
			}
			fl.notes(note)
			continue
		case said == cancels || strings.EqualFold(said, "cancel") || strings.EqualFold(said, "no"):
			fl.answer(login.Answer{No: true})
		case fl.q.Ends(said) == nil || fl.mistakes() > mostWrong:
			fl.answer(login.Answer{Back: said})
		default:
			fl.notes("That is not the address at which this login ends, which begins with " + fl.q.Back + "?")
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

// answer passes on the first answer.
func (fl *flow) answer(a login.Answer) {
	select {
	case fl.answers <- a:
	default:
	}
}

// notes has the next question begin with a note.
func (fl *flow) notes(note string) {
	fl.desk.mu.Lock()
	defer fl.desk.mu.Unlock()
	fl.note = note
}

// mistakes counts an address that belongs to another login.
func (fl *flow) mistakes() int {
	fl.desk.mu.Lock()
	defer fl.desk.mu.Unlock()
	fl.wrong++
	return fl.wrong
}

// question is what the human is asked now.
func (fl *flow) question() tools.Question {
	var b strings.Builder
	fl.desk.mu.Lock()
	if fl.note != "" {
		b.WriteString(fl.note + "\n\n")
	}
	fl.desk.mu.Unlock()
	fmt.Fprintf(&b, "The MCP server %s wants a login at the host %s.\n\nThe server is at the host %s. The address to log in:\n\n%s\n\n",
		tools.Line(fl.q.Server), tools.Line(fl.q.Host), tools.Line(fl.q.At), fl.q.URL)
	if fl.q.Why != "" {
		b.WriteString("Before: " + tools.Line(fl.q.Why) + ".\n\n")
	}
	fmt.Fprintf(&b, "Nothing is opened by itself. A browser on the machine where Fantail runs comes back by itself. One on another machine "+
		"ends at an address that it can't show, %s?…: paste that here, whole.", fl.q.Back)
	return tools.Question{Text: b.String(), Options: []tools.Option{
		{Label: opens, Why: "on the machine where Fantail runs"}, {Label: cancels, Why: "who waits for it goes on without"},
	}}
}
