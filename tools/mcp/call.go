package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
)

const (
	defaultTimeout   = 2 * time.Minute // of a call without progress
	maxTimeoutFactor = 10              // limit of a call with progress, in timeouts
)

// errNoProgress ends a call without progress.
var errNoProgress = errors.New("it gave no sign of life")

// activeCalls are the calls that a server is working on.
type activeCalls struct {
	mu            sync.Mutex
	lastNumber    int
	byToken       map[string]*activeCall // by progress token
	openQuestions int                    // open questions of the server

	relisting bool // guarded by the mutex of Servers
}

// activeCall is a call that a server is working on.
type activeCall struct {
	ctx    context.Context
	number int // the number of the call
	tick   func(text string)
	sample func(context.Context, tools.SampleRequest) (tools.SampleReply, error) // asks the agent's model; nil: not allowed
	ask    FormAsker                                                             // nil: there is no user
	alive  chan struct{}
}

// add adds a call and returns its progress token.
func (c *activeCalls) add(one *activeCall) (token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastNumber++
	one.number, one.alive = c.lastNumber, make(chan struct{}, 1)
	token = "fantail-" + strconv.Itoa(c.lastNumber)
	c.byToken[token] = one
	return token
}

// latest returns the call that began last; nil: none.
func (c *activeCalls) latest() (last *activeCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.byToken {
		if last == nil || one.number > last.number {
			last = one
		}
	}
	return last
}

// sampler returns the function that asks the model of the agent whose call began last; nil: none.
func (c *activeCalls) sampler() func(context.Context, tools.SampleRequest) (tools.SampleReply, error) {
	if last := c.latest(); last != nil {
		return last.sample
	}
	return nil
}

// remove removes a call. Later progress notifications for it are ignored.
func (c *activeCalls) remove(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byToken, token)
}

// onProgress shows the progress of a call.
func (c *activeCalls) onProgress(_ context.Context, q *mcp.ProgressNotificationClientRequest) {
	if q.Params == nil {
		return
	}
	token, _ := q.Params.ProgressToken.(string)
	c.mu.Lock()
	one := c.byToken[token]
	c.mu.Unlock()
	if one == nil {
		return
	}
	select {
	case one.alive <- struct{}{}:
	default:
	}
	text := plainText(q.Params.Message)
	switch p := q.Params; {
	case p.Total > 0:
		text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", min(100, max(0, 100*p.Progress/p.Total)), text))
	case text == "":
		text = fmt.Sprintf("step %.0f", p.Progress)
	}
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "")
	}
	if one.tick != nil {
		one.tick(text)
	}
}

// beginQuestion counts a question of the server. It returns false if too many are open.
func (c *activeCalls) beginQuestion() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openQuestions >= maxAsks {
		return false
	}
	c.openQuestions++
	return true
}

// endQuestion ends a question of the server and restarts the timeouts of all calls.
func (c *activeCalls) endQuestion() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openQuestions--
	for _, one := range c.byToken {
		select {
		case one.alive <- struct{}{}:
		default:
		}
	}
}

// waitsForUser reports whether the server waits for the user.
func (c *activeCalls) waitsForUser() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openQuestions > 0
}

// callTool calls a tool once. A missing response is an error that says so.
func (l *managedServer) callTool(ctx context.Context, env *tools.Runtime, id string, t toolDescription, args json.RawMessage) tools.Result {
	still := func() error {
		if now, is := l.servers.currentDescription(l.server.Name, t.Name); !is || now.hash() != t.hash() {
			return fmt.Errorf("the MCP server %s says something else of %s since it started than it said before; call it again: the user is asked", l.server.Name, t.Name)
		}
		return nil
	}
	return l.callWithLogin(ctx, env, id, still, func(ctx context.Context, v *runningServer, token string) (tools.Result, error) {
		p := &mcp.CallToolParams{Name: t.Name}
		if len(args) > 0 {
			p.Arguments = args
		}
		p.SetProgressToken(token)
		res, err := v.session.CallTool(ctx, p)
		if err != nil {
			return tools.Result{}, err
		}
		k := &binaryFiles{env: env, id: id}
		r := l.truncated(env, id, resultText(res, k.save))
		r.Error, r.Shows = res.IsError, k.pictures
		return r, nil
	})
}

// attempt runs do within the time limit of a call, and returns its result or the error. After the
// server has started, still returns why the call may no longer be made. token is the progress
// token. fault is set if a login is needed.
func (l *managedServer) attempt(
	ctx context.Context, env *tools.Runtime, id string, still func() error, do func(ctx context.Context, v *runningServer, token string) (tools.Result, error),
	fault **LoginFault,
) tools.Result {
	fail := func(format string, of ...any) tools.Result {
		return tools.Result{Text: plainText(l.servers.o.Keys.Text(fmt.Sprintf(format, of...))), Error: true}
	}
	v, err := l.ensureRunning(ctx)
	if err == nil && still != nil {
		err = still()
	}
	if err != nil {
		*fault = LoginFaultOf(err)
		return fail("Nothing was called: %v", err)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := &activeCall{ctx: within}
	if env.Tick != nil {
		one.tick = func(text string) { env.Tick(id, text) }
	}
	if env.Ask != nil {
		one.ask = func(ctx context.Context, q tools.Question) (string, error) {
			return env.Ask(ctx, id, "the MCP server "+l.server.Name+" asks", q)
		}
	}
	if env.Sample != nil {
		one.sample = func(ctx context.Context, q tools.SampleRequest) (tools.SampleReply, error) {
			ends, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(within, func() { cancel(context.Cause(within)) })()
			return env.Sample(ends, id, q)
		}
	}
	token := v.calls.add(one)
	defer v.calls.remove(token)
	over := make(chan struct{})
	defer close(over)
	l.servers.o.Go("time a call of an MCP server", func() { v.watchTimeout(one, over, cancel) })
	r, err := do(within, v, token)
	*fault = LoginFaultOf(err)
	switch cause, withheld := context.Cause(within), l.blockedBy(); {
	case err == nil:
		return r
	case *fault != nil:
		return fail("Nothing was called: %v", *fault)
	case ctx.Err() != nil:
		return fail("Stopped: the MCP server %s was told to stop. Whether it had done some of it is not known.", l.server.Name)
	case fromServer(err): // the server is alive
	case withheld != nil:
		return fail("The MCP server %s was ended: %v. It was working on this call: whether it had done some of it is not known.", l.server.Name, withheld)
	case v.isDone():
		return fail("The MCP server %s %s. It was working on this call, which is not repeated: whether it had done some of it is not known. It starts again when it is called.", l.server.Name, v.end())
	case cause != nil:
		return fail("The MCP server %s was told to stop: %v. Whether it had done some of it is not known.", l.server.Name, cause)
	}
	return fail("The MCP server %s answers with an error: %s", l.server.Name, shortText(errorText(l.server, err)))
}

// watchTimeout cancels a call that shows no progress for too long or whose server has ended. over
// is closed at the end of the call. The time limits are suspended while the server waits for the
// user.
func (v *runningServer) watchTimeout(one *activeCall, over <-chan struct{}, cancel context.CancelCauseFunc) {
	bound := v.managed.server.Timeout
	if bound <= 0 {
		bound = defaultTimeout
	}
	quiet, whole := time.NewTimer(bound), time.NewTimer(maxTimeoutFactor*bound)
	defer quiet.Stop()
	defer whole.Stop()
	for {
		select {
		case <-over:
			return
		case <-one.alive:
			quiet.Reset(bound)
		case <-quiet.C:
			if !v.calls.waitsForUser() {
				if v.stdio != nil {
					v.stdio.closeIfStuck()
				}
				cancel(fmt.Errorf("%w for %v", errNoProgress, bound))
				return
			}
			quiet.Reset(bound)
		case <-whole.C:
			if !v.calls.waitsForUser() {
				cancel(fmt.Errorf("it did not end within %v", maxTimeoutFactor*bound))
				return
			}
			whole.Reset(maxTimeoutFactor * bound)
		case <-v.done: // let an answer that was read arrive first
			rest := time.NewTimer(drainTimeout)
			select {
			case <-over:
			case <-rest.C:
				cancel(errProcessEnded)
			}
			rest.Stop()
			return
		}
	}
}

// isDone reports whether the connection has ended, or ends within drainTimeout.
func (v *runningServer) isDone() bool {
	late := time.NewTimer(drainTimeout)
	defer late.Stop()
	select {
	case <-v.done:
		return true
	case <-late.C:
		return false
	}
}

// truncated returns a result with that text, shortened and without keys.
func (l *managedServer) truncated(env *tools.Runtime, id, text string) tools.Result {
	return env.Long(id, strings.ToValidUTF8(l.servers.o.Keys.Text(text), "\uFFFD"))
}

// resultText returns the result of a tool as text for the model. keep saves binary content.
func resultText(res *mcp.CallToolResult, keep binarySaver) string {
	var b strings.Builder
	add := func(text string) {
		if b.Len() > 0 && text != "" {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			add(c.Text)
		case *mcp.ImageContent:
			add(keep("an image", c.MIMEType, c.Data))
		case *mcp.AudioContent:
			add(keep("a sound", c.MIMEType, c.Data))
		case *mcp.ResourceLink:
			add(fmt.Sprintf("[the resource %s: %s %s]", c.URI, c.Name, c.Description))
		case *mcp.EmbeddedResource:
			add(resourceText(c.Resource, keep))
		default:
			add("[what is of a kind that is not known here]")
		}
	}
	if b.Len() == 0 && res.StructuredContent != nil {
		if text, err := json.MarshalIndent(res.StructuredContent, "", " "); err == nil {
			add(string(text))
		}
	}
	if b.Len() == 0 {
		add("[no output]")
	}
	return b.String()
}

// resourceText returns an embedded resource as text.
func resourceText(c *mcp.ResourceContents, keep binarySaver) string {
	switch {
	case c == nil:
		return ""
	case len(c.Blob) > 0:
		return keep("the resource "+c.URI, c.MIMEType, c.Blob)
	}
	return fmt.Sprintf("[the resource %s]\n%s", c.URI, c.Text)
}
