package mcp

//lint:file-ignore SA1019 servers of the older protocol ask for roots, and log

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/mcp/login"
	"fantail/tools/mcp/paging"
	"fantail/tools/mcp/sampling"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

const (
	mostTools = 1000                   // of one server
	older     = "2025-11-25"           // the newest version of the protocol that begins with initialize
	drains    = 200 * time.Millisecond // what a program's output may take to end after it
	parts     = 6 * time.Second        // what a session may take to end in order
)

// live is a server that runs.
type live struct {
	l       *link
	session *mcp.ClientSession
	served  *proc.Served // nil: it is no program of ours
	box     *sandbox.Box
	pipes   *pipes
	web     *http.Client  // nil: it is a program of ours
	gone    chan struct{} // closed once the connection has ended
	noted   chan struct{} // closed once its link knows that
	tools   []*mcp.Tool   // as they were at the start
	offers  []Prompt      // the same
	uris    []string      // of its resources, the same
	calls   calls

	once sync.Once
	how  string
}

// connect starts the server, or reaches it, and reads which tools it has.
func (l *link) connect(ctx context.Context) (*live, error) {
	if l.r.o.Allowed != nil {
		if err := l.r.o.Allowed(l.server); err != nil {
			return nil, withheldError{err}
		}
	}
	v, err := l.try(ctx, "")
	if err != nil && l.server.URL == "" && ctx.Err() == nil && errors.Is(err, errEnded) {
		l.noted("it is tried with the older protocol")
		v, err = l.try(ctx, older)
	}
	var withheld withheldError
	switch {
	case err != nil && errors.As(context.Cause(ctx), &withheld):
		return nil, withheld
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, context.Cause(ctx))
	}
	return v, err
}

// errEnded is a program that ended before it was there.
var errEnded = errors.New("it ended")

// try connects with that version of the protocol; "": the newest that both speak.
func (l *link) try(ctx context.Context, version string) (_ *live, err error) {
	v := &live{l: l, gone: make(chan struct{}), noted: make(chan struct{}), calls: calls{of: map[string]*call{}}}
	var t mcp.Transport
	if l.server.URL != "" {
		if v.web, err = l.r.client(l.server); err != nil {
			return nil, fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, err)
		}
		t = &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: v.web, MaxEventSize: longest, MaxRetries: 3}
	} else if t, err = v.serve(); err != nil {
		return nil, err
	}
	v.session, err = v.client().Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		l.r.o.Go("wait for an MCP server", v.await)
		v.tools, err = v.list(ctx)
	}
	if err == nil {
		v.offers, v.uris = v.prompts(ctx), v.named(ctx)
		return v, nil
	}
	ended := v.ended() && ctx.Err() == nil
	how := v.end()
	if ended {
		rest, is := strings.CutPrefix(how, "ended")
		if !is {
			rest = ": it " + how
		}
		return nil, fmt.Errorf("the MCP server %s does not start: %w%s", l.server.Name, errEnded, rest)
	}
	if lock := login.Mends(err); lock != nil {
		return nil, fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, lock)
	}
	return nil, fmt.Errorf("the MCP server %s does not start: %s%s", l.server.Name, explain(l.server, err), v.lastWords())
}

// await closes gone once the connection has ended. A session that does not come to its end is not waited for.
func (v *live) await() {
	defer close(v.gone)
	waited := make(chan struct{})
	v.l.r.o.Go("wait for a session", func() {
		_ = v.session.Wait()
		close(waited)
	})
	if v.pipes == nil {
		<-waited
		return
	}
	select {
	case <-waited:
		return
	case <-v.pipes.closed:
	case <-v.pipes.broken:
	}
	rest := time.NewTimer(drains)
	defer rest.Stop()
	select {
	case <-waited:
	case <-rest.C:
	}
}

// ended reports whether the program ended by itself, or does within a moment.
func (v *live) ended() bool {
	if v.served == nil {
		return false
	}
	late := time.NewTimer(drains)
	defer late.Stop()
	select {
	case <-v.served.Exited():
		return true
	case <-late.C:
		return false
	}
}

// serve starts the program.
func (v *live) serve() (mcp.Transport, error) {
	r, s := v.l.r, v.l.server
	env := append(r.o.Environ[:len(r.o.Environ):len(r.o.Environ)], "CLAUDE_PROJECT_DIR="+r.o.Root, "FANTAIL_PROJECT_DIR="+r.o.Root)
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	path, err := s.Program(r.o.Root, r.o.Environ)
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s does not start: %w", s.Name, err)
	}
	if !s.Own && r.o.Box != nil {
		leave := sandbox.Leave{Write: []string{r.o.Root}, Words: append([]string{path}, s.Args...)}
		if r.o.Leave != nil {
			given := r.o.Leave()
			leave.Write, leave.Network = append(leave.Write, given.Write...), given.Network
		}
		if v.box, err = r.o.Box(sandbox.Server, leave, env); err != nil {
			return nil, fmt.Errorf("the MCP server %s does not start: %w", s.Name, err)
		}
	}
	v.served, err = proc.Serve(proc.Spec{
		Argv: append([]string{path}, s.Args...), Dir: r.o.Root, Env: env, Box: v.box, Keep: r.o.Keep, Keys: r.o.Keys,
	})
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s does not start: %w", s.Name, err)
	}
	v.pipes = newPipes(v.served, v.l.noted, r.o.Go)
	r.o.Go("await an MCP server's end", func() {
		<-v.served.Exited()
		rest := time.NewTimer(drains)
		defer rest.Stop()
		select {
		case <-v.pipes.broken:
		case <-v.pipes.closed:
		case <-rest.C: // what it left behind holds its output open
		}
		_ = v.pipes.Close()
	})
	return v.pipes, nil
}

// client is the client as the server sees it.
func (v *live) client() *mcp.Client {
	r := v.l.r
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          v.asks,
		ProgressNotificationHandler: v.calls.progress,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { v.relist() },
		LoggingMessageHandler: func(_ context.Context, q *mcp.LoggingMessageRequest) {
			if q.Params != nil {
				v.l.noted(fmt.Sprintf("%s: %.500v", q.Params.Level, q.Params.Data))
			}
		},
	}
	if s := v.l.server; s.Own && s.Sampling {
		o.Capabilities.Sampling = &mcp.SamplingCapabilities{}
		o.CreateMessageHandler = sampling.Answers(s.Name, v.calls.model, v.calls.asking, v.calls.answered)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "fantail", Title: "Fantail", Version: "1"}, o)
	c.AddReceivingMiddleware(v.holds)
	c.AddSendingMiddleware(v.holds)
	c.AddRoots(&mcp.Root{Name: filepath.Base(r.o.Root), URI: fileURI(r.o.Root)})
	return c
}

// holds keeps what a server sends from ending this program: not every shape of a message is expected by all who read it.
func (v *live) holds(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if broken := recover(); broken != nil {
				v.l.noted(fmt.Sprintf("it sent what can't be understood (%s): %v", method, broken))
				res, err = nil, fmt.Errorf("it can't be understood: %s", method)
			}
		}()
		if method == "notifications/elicitation/complete" { // nobody waits for it, and one without parameters wedges the session
			return nil, nil
		}
		return next(ctx, method, q)
	}
}

// has is what the server says it can do.
func (v *live) has() mcp.ServerCapabilities {
	if is := v.session.InitializeResult(); is != nil && is.Capabilities != nil {
		return *is.Capabilities
	}
	return mcp.ServerCapabilities{}
}

// list reads which tools the server has.
func (v *live) list(ctx context.Context) (all []*mcp.Tool, err error) {
	if v.has().Tools == nil {
		return nil, nil
	}
	all, err = paging.Read(mostTools, func(cursor string) ([]*mcp.Tool, string, error) {
		res, err := v.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Tools, res.NextCursor, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list its tools: %w", err)
	}
	return all, nil
}

// relist reads the list again once it rests.
func (v *live) relist() {
	r := v.l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.calls.relisting {
		return
	}
	v.calls.relisting = true
	time.AfterFunc(settles, func() {
		r.mu.Lock()
		v.calls.relisting = false
		mine := v.l.live == v
		r.mu.Unlock()
		if !mine {
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, startsIn)
		defer cancel()
		all, err := v.list(ctx)
		if err != nil {
			v.l.noted("its tools changed, and could not be read again: " + err.Error())
			return
		}
		r.listed(v.l, v, all)
		r.changed()
	})
}

// end ends the connection and the program, and says how that ended, unless we ended it: "ended with exit code 1: …".
func (v *live) end() string {
	v.once.Do(func() {
		if v.pipes != nil {
			_ = v.pipes.Close()
		}
		if v.session != nil {
			parted := make(chan struct{})
			v.l.r.o.Go("part from an MCP server", func() {
				_ = v.session.Close()
				close(parted)
			})
			late := time.NewTimer(parts)
			select {
			case <-parted:
			case <-late.C:
			}
			late.Stop()
		}
		if v.web != nil {
			v.web.CloseIdleConnections()
		}
		v.how = "closed the connection"
		if v.served == nil {
			return
		}
		exit, signal, err := v.served.End()
		v.l.ended(v.served.Said())
		switch {
		case err != nil:
			v.how = "could not run: " + err.Error()
		case signal != "":
			v.how = "was ended by " + signal
		case exit != 0:
			v.how = fmt.Sprintf("ended with exit code %d", exit)
		default:
			v.how = "ended"
		}
		<-v.pipes.broken
		switch {
		case v.pipes.stuck.Load():
			v.how = "was ended: it stopped in the middle of a message"
		case !errors.Is(v.pipes.err, io.EOF) && !errors.Is(v.pipes.err, os.ErrClosed):
			v.how = "was ended: " + v.pipes.err.Error()
		}
		v.how += v.lastWords()
	})
	return v.how
}

// lastWords is the end of what the program wrote to its standard error, and what its sandbox kept it from.
func (v *live) lastWords() (text string) {
	if v.served == nil {
		return ""
	}
	said := strings.TrimSpace(plain(v.l.r.o.Keys.Text(v.served.Said())))
	if lines := strings.Split(said, "\n"); len(lines) > 3 {
		said = strings.Join(lines[len(lines)-3:], "\n")
	}
	if said != "" {
		text = ": " + said
	}
	if v.box == nil {
		return text
	}
	switch what, found := v.box.Refused(v.served.Said()); {
	case !found:
	case what.Write != "":
		text += "\n(its sandbox keeps it from changing " + what.Write + "; /sandbox can let it)"
	default:
		text += "\n(its sandbox gives it no network; /sandbox can let it)"
	}
	return text
}
