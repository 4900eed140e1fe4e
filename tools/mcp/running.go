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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

const (
	maxTools      = 1000                   // of one server
	legacyVersion = "2025-11-25"           // last version of the protocol that begins with initialize
	drainTimeout  = 200 * time.Millisecond // from the exit of a program to the end of its output
	closeTimeout  = 6 * time.Second        // for a session to close
)

// runningServer is a connection to a server.
type runningServer struct {
	managed      *managedServer
	session      *mcp.ClientSession
	process      *proc.Served // nil: the server is remote
	box          *sandbox.Box
	stdio        *stdioTransport
	httpClient   *http.Client  // nil: the server is a program
	done         chan struct{} // closed once the connection has ended
	handled      chan struct{} // closed once managed has noted the end
	tools        []*mcp.Tool   // as listed at the start
	prompts      []Prompt      // as listed at the start
	resourceURIs []string      // as listed at the start
	calls        activeCalls

	once sync.Once
	how  string
}

// connect starts the server, or connects to it, and lists its tools.
func (l *managedServer) connect(ctx context.Context) (*runningServer, error) {
	if l.servers.o.Allowed != nil {
		if err := l.servers.o.Allowed(l.server); err != nil {
			return nil, blockedError{err}
		}
	}
	v, err := l.tryConnect(ctx, "")
	if err != nil && l.server.URL == "" && ctx.Err() == nil && errors.Is(err, errProcessEnded) {
		l.logLine("it is tried with the older protocol")
		v, err = l.tryConnect(ctx, legacyVersion)
	}
	var withheld blockedError
	switch {
	case err != nil && errors.As(context.Cause(ctx), &withheld):
		return nil, withheld
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, context.Cause(ctx))
	}
	return v, err
}

// errProcessEnded is the error of a program that ended before it was ready.
var errProcessEnded = errors.New("it ended")

// tryConnect connects with that version of the protocol; "": the newest that both sides support.
func (l *managedServer) tryConnect(ctx context.Context, version string) (_ *runningServer, err error) {
	v := &runningServer{managed: l, done: make(chan struct{}), handled: make(chan struct{}), calls: activeCalls{byToken: map[string]*activeCall{}}}
	var t mcp.Transport
	if l.server.URL != "" {
		if v.httpClient, err = l.servers.httpClient(l); err != nil {
			return nil, fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, err)
		}
		t = &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: v.httpClient, MaxEventSize: maxMessage, MaxRetries: 3}
	} else if t, err = v.startProcess(); err != nil {
		return nil, err
	}
	v.session, err = v.newClient().Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		l.servers.o.Go("wait for an MCP server", v.waitDone)
		v.tools, err = v.listTools(ctx)
	}
	if err == nil {
		v.prompts, v.resourceURIs = v.listPrompts(ctx), v.listResourceURIs(ctx)
		return v, nil
	}
	ended := v.exited() && ctx.Err() == nil
	how := v.end()
	if ended {
		rest, is := strings.CutPrefix(how, "ended")
		if !is {
			rest = ": it " + how
		}
		return nil, fmt.Errorf("the MCP server %s does not start: %w%s", l.server.Name, errProcessEnded, rest)
	}
	if lock := LoginFaultOf(err); lock != nil {
		return nil, fmt.Errorf("the MCP server %s does not start: %w", l.server.Name, lock)
	}
	return nil, fmt.Errorf("the MCP server %s does not start: %s%s", l.server.Name, errorText(l.server, err), v.stderrTail())
}

// waitDone closes done once the connection has ended. It does not wait for a session that hangs.
func (v *runningServer) waitDone() {
	defer close(v.done)
	waited := make(chan struct{})
	v.managed.servers.o.Go("wait for a session", func() {
		_ = v.session.Wait()
		close(waited)
	})
	if v.stdio == nil {
		<-waited
		return
	}
	select {
	case <-waited:
		return
	case <-v.stdio.closed:
	case <-v.stdio.broken:
	}
	rest := time.NewTimer(drainTimeout)
	defer rest.Stop()
	select {
	case <-waited:
	case <-rest.C:
	}
}

// exited reports whether the program exited by itself, or does within drainTimeout.
func (v *runningServer) exited() bool {
	if v.process == nil {
		return false
	}
	late := time.NewTimer(drainTimeout)
	defer late.Stop()
	select {
	case <-v.process.Exited():
		return true
	case <-late.C:
		return false
	}
}

// startProcess starts the program.
func (v *runningServer) startProcess() (mcp.Transport, error) {
	r, s := v.managed.servers, v.managed.server
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
	v.process, err = proc.Serve(proc.Spec{
		Argv: append([]string{path}, s.Args...), Dir: r.o.Root, Env: env, Box: v.box, Keep: r.o.Keep, Keys: r.o.Keys,
	})
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s does not start: %w", s.Name, err)
	}
	v.stdio = newStdioTransport(v.process, v.managed.logLine, r.o.Go)
	r.o.Go("await an MCP server's end", func() {
		<-v.process.Exited()
		rest := time.NewTimer(drainTimeout)
		defer rest.Stop()
		select {
		case <-v.stdio.broken:
		case <-v.stdio.closed:
		case <-rest.C: // its children hold its output open
		}
		_ = v.stdio.Close()
	})
	return v.stdio, nil
}

// newClient returns the MCP client for the server.
func (v *runningServer) newClient() *mcp.Client {
	r := v.managed.servers
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          v.elicit,
		ProgressNotificationHandler: v.calls.onProgress,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { v.relistTools() },
		LoggingMessageHandler: func(_ context.Context, q *mcp.LoggingMessageRequest) {
			if q.Params != nil {
				v.managed.logLine(fmt.Sprintf("%s: %.500v", q.Params.Level, q.Params.Data))
			}
		},
	}
	if s := v.managed.server; s.Own && s.Sampling {
		o.Capabilities.Sampling = &mcp.SamplingCapabilities{}
		o.CreateMessageHandler = answerSampling(s.Name, v.calls.sampler, v.calls.beginQuestion, v.calls.endQuestion)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "fantail", Title: "Fantail", Version: "1"}, o)
	c.AddReceivingMiddleware(v.recoverPanics)
	c.AddSendingMiddleware(v.recoverPanics)
	c.AddRoots(&mcp.Root{Name: filepath.Base(r.o.Root), URI: fileURI(r.o.Root)})
	return c
}

// recoverPanics turns a panic caused by an unexpected message into an error.
func (v *runningServer) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if broken := recover(); broken != nil {
				v.managed.logLine(fmt.Sprintf("it sent what can't be understood (%s): %v", method, broken))
				res, err = nil, fmt.Errorf("it can't be understood: %s", method)
			}
		}()
		if method == "notifications/elicitation/complete" { // no call waits for it, and without parameters it blocks the session
			return nil, nil
		}
		return next(ctx, method, q)
	}
}

// capabilities returns the server's capabilities.
func (v *runningServer) capabilities() mcp.ServerCapabilities {
	if is := v.session.InitializeResult(); is != nil && is.Capabilities != nil {
		return *is.Capabilities
	}
	return mcp.ServerCapabilities{}
}

// listTools lists the server's tools.
func (v *runningServer) listTools(ctx context.Context) (all []*mcp.Tool, err error) {
	if v.capabilities().Tools == nil {
		return nil, nil
	}
	all, err = readPages(maxTools, func(cursor string) ([]*mcp.Tool, string, error) {
		res, err := v.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Tools, res.NextCursor, nil
	})
	var is *jsonrpc.Error
	switch {
	case err == nil:
		return all, nil
	case len(all) > 0 && ctx.Err() == nil && !v.isDone(): // a page's cursor may be invalid
		v.managed.logLine(fmt.Sprintf("of its tools only the first %d can be read: %v", len(all), err))
		return all, nil
	case errors.As(err, &is) && is.Code == jsonrpc.CodeMethodNotFound: // it may have other features
		v.managed.logLine("it has no tools, though it says that it has: " + shortText(err.Error()))
		return nil, nil
	}
	return nil, fmt.Errorf("list its tools: %w", err)
}

// relistTools lists the tools again after relistDelay.
func (v *runningServer) relistTools() {
	r := v.managed.servers
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.calls.relisting {
		return
	}
	v.calls.relisting = true
	time.AfterFunc(relistDelay, func() {
		r.mu.Lock()
		v.calls.relisting = false
		mine := v.managed.running == v
		r.mu.Unlock()
		if !mine {
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, startTimeout)
		defer cancel()
		all, err := v.listTools(ctx)
		if err != nil {
			v.managed.logLine("its tools changed, and could not be read again: " + err.Error())
			return
		}
		r.recordTools(v.managed, v, all)
		r.notifyChanged()
	})
}

// end ends the connection and the program, and returns how the program ended, such as "ended with
// exit code 1: …".
func (v *runningServer) end() string {
	v.once.Do(func() {
		if v.stdio != nil {
			_ = v.stdio.Close()
		}
		if v.session != nil {
			parted := make(chan struct{})
			v.managed.servers.o.Go("part from an MCP server", func() {
				_ = v.session.Close()
				close(parted)
			})
			late := time.NewTimer(closeTimeout)
			select {
			case <-parted:
			case <-late.C:
			}
			late.Stop()
		}
		if v.httpClient != nil {
			v.httpClient.CloseIdleConnections()
		}
		v.how = "closed the connection"
		if v.process == nil {
			return
		}
		exit, signal, err := v.process.End()
		v.managed.keepStderr(v.process.Said())
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
		<-v.stdio.broken
		switch {
		case v.stdio.stuck.Load():
			v.how = "was ended: it stopped in the middle of a message"
		case !errors.Is(v.stdio.err, io.EOF) && !errors.Is(v.stdio.err, os.ErrClosed):
			v.how = "was ended: " + v.stdio.err.Error()
		}
		v.how += v.stderrTail()
	})
	return v.how
}

// stderrTail returns the end of the program's standard error, and what its sandbox denied.
func (v *runningServer) stderrTail() (text string) {
	if v.process == nil {
		return ""
	}
	if said := proc.LastLines(plainText(v.managed.servers.o.Keys.Text(v.process.Said())), 3); len(said) > 0 {
		text = ": " + strings.Join(said, "\n")
	}
	if v.box == nil {
		return text
	}
	switch what, found := v.box.Refused(v.process.Said()); {
	case !found:
	case what.Write != "":
		text += "\n(its sandbox keeps it from changing " + what.Write + "; /sandbox can let it)"
	default:
		text += "\n(its sandbox gives it no network; /sandbox can let it)"
	}
	return text
}
