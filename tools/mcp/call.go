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
	"fantail/tools/mcp/form"
	"fantail/tools/mcp/login"
	"fantail/tools/sample"
)

const (
	usual   = 2 * time.Minute // what a call may take without a sign of life, if nobody says otherwise
	patient = 10              // how often that long it may take with signs of life
)

// errQuiet is a call that gives no sign of life.
var errQuiet = errors.New("it gave no sign of life")

// calls are those that wait for a server.
type calls struct {
	mu   sync.Mutex
	n    int
	of   map[string]*call // by the token of their progress
	asks int              // questions of the server that are open

	relisting bool // the room's mutex guards it
}

// call is one of them.
type call struct {
	ctx   context.Context
	n     int // the number of the call
	tick  func(text string)
	model func(context.Context, sample.Request) (sample.Reply, error) // asks the agent's; nil: none may
	ask   form.Asker                                                  // nil: nobody is there to answer
	alive chan struct{}
}

// begin notes a call, and returns the token of its progress.
func (c *calls) begin(one *call) (token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	one.n, one.alive = c.n, make(chan struct{}, 1)
	token = "fantail-" + strconv.Itoa(c.n)
	c.of[token] = one
	return token
}

// newest is the call that began last; nil: none waits.
func (c *calls) newest() (last *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.of {
		if last == nil || one.n > last.n {
			last = one
		}
	}
	return last
}

// model is what asks the model of the agent whose call began last; nil: nothing does.
func (c *calls) model() func(context.Context, sample.Request) (sample.Reply, error) {
	if last := c.newest(); last != nil {
		return last.model
	}
	return nil
}

// over ends a call: what comes of its progress after its result is nobody's.
func (c *calls) over(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, token)
}

// progress shows how far a call is.
func (c *calls) progress(_ context.Context, q *mcp.ProgressNotificationClientRequest) {
	if q.Params == nil {
		return
	}
	token, _ := q.Params.ProgressToken.(string)
	c.mu.Lock()
	one := c.of[token]
	c.mu.Unlock()
	if one == nil {
		return
	}
	select {
	case one.alive <- struct{}{}:
	default:
	}
	text := plain(q.Params.Message)
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

// asking notes that a question of the server is open, and reports whether it may be asked: few at once.
func (c *calls) asking() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asks >= mostAsks {
		return false
	}
	c.asks++
	return true
}

// answered notes that a question is not open any more. Whatever waits for the server waits anew.
func (c *calls) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks--
	for _, one := range c.of {
		select {
		case one.alive <- struct{}{}:
		default:
		}
	}
}

// waits reports whether the server waits for the human.
func (c *calls) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asks > 0
}

// call calls a tool, once: an answer that does not come is an error that says so.
func (l *link) call(ctx context.Context, env *tools.Env, id string, t described, args json.RawMessage) tools.Result {
	still := func() error {
		if now, is := l.r.known(l.server.Name, t.Name); !is || now.sum() != t.sum() {
			return fmt.Errorf("the MCP server %s says something else of %s since it started than it said before; call it again: the user is asked", l.server.Name, t.Name)
		}
		return nil
	}
	return l.work(ctx, env, id, still, func(ctx context.Context, v *live, token string) (tools.Result, error) {
		p := &mcp.CallToolParams{Name: t.Name}
		if len(args) > 0 {
			p.Arguments = args
		}
		p.SetProgressToken(token)
		res, err := v.session.CallTool(ctx, p)
		if err != nil {
			return tools.Result{}, err
		}
		k := &keeps{env: env, id: id}
		r := l.long(env, id, said(res, k.keep))
		r.Error, r.Shows = res.IsError, k.shows
		return r, nil
	})
}

// attempt has the server do something within the time that it has, and says what became of it. still says why it is not to
// be done, now that the server runs; nil: it is. token is that of its progress. lock is what a login would mend.
func (l *link) attempt(
	ctx context.Context, env *tools.Env, id string, still func() error, do func(ctx context.Context, v *live, token string) (tools.Result, error),
	lock **login.Fault,
) tools.Result {
	fail := func(format string, of ...any) tools.Result {
		return tools.Result{Text: plain(l.r.o.Keys.Text(fmt.Sprintf(format, of...))), Error: true}
	}
	v, err := l.ready(ctx)
	if err == nil && still != nil {
		err = still()
	}
	if err != nil {
		*lock = login.Mends(err)
		return fail("Nothing was called: %v", err)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := &call{ctx: within}
	if env.Tick != nil {
		one.tick = func(text string) { env.Tick(id, text) }
	}
	if env.Ask != nil {
		one.ask = func(ctx context.Context, q tools.Question) (string, error) {
			return env.Ask(ctx, id, "the MCP server "+l.server.Name+" asks", q)
		}
	}
	if env.Sample != nil {
		one.model = func(ctx context.Context, q sample.Request) (sample.Reply, error) {
			ends, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(within, func() { cancel(context.Cause(within)) })()
			return env.Sample(ends, id, q)
		}
	}
	token := v.calls.begin(one)
	defer v.calls.over(token)
	over := make(chan struct{})
	defer close(over)
	l.r.o.Go("time a call of an MCP server", func() { v.times(one, over, cancel) })
	r, err := do(within, v, token)
	*lock = login.Mends(err)
	switch cause, withheld := context.Cause(within), l.withheld(); {
	case err == nil:
		return r
	case *lock != nil:
		return fail("Nothing was called: %v", *lock)
	case ctx.Err() != nil:
		return fail("Stopped: the MCP server %s was told to stop. Whether it had done some of it is not known.", l.server.Name)
	case answers(err): // it is there
	case withheld != nil:
		return fail("The MCP server %s was ended: %v. It was working on this call: whether it had done some of it is not known.", l.server.Name, withheld)
	case v.over():
		return fail("The MCP server %s %s. It was working on this call, which is not repeated: whether it had done some of it is not known. It starts again when it is called.", l.server.Name, v.end())
	case cause != nil:
		return fail("The MCP server %s was told to stop: %v. Whether it had done some of it is not known.", l.server.Name, cause)
	}
	return fail("The MCP server %s answers with an error: %s", l.server.Name, short(explain(l.server, err)))
}

// times ends a call that gives no sign of life for too long, or whose server is gone. over is closed when it has ended.
// While the server waits for the human, its time stands still.
func (v *live) times(one *call, over <-chan struct{}, cancel context.CancelCauseFunc) {
	bound := v.l.server.Timeout
	if bound <= 0 {
		bound = usual
	}
	quiet, whole := time.NewTimer(bound), time.NewTimer(patient*bound)
	defer quiet.Stop()
	defer whole.Stop()
	for {
		select {
		case <-over:
			return
		case <-one.alive:
			quiet.Reset(bound)
		case <-quiet.C:
			if !v.calls.waits() {
				if v.pipes != nil {
					v.pipes.unstick()
				}
				cancel(fmt.Errorf("%w for %v", errQuiet, bound))
				return
			}
			quiet.Reset(bound)
		case <-whole.C:
			if !v.calls.waits() {
				cancel(fmt.Errorf("it did not end within %v", patient*bound))
				return
			}
			whole.Reset(bound)
		case <-v.gone: // an answer that was read is told first
			rest := time.NewTimer(drains)
			select {
			case <-over:
			case <-rest.C:
				cancel(errEnded)
			}
			rest.Stop()
			return
		}
	}
}

// over reports whether the connection has ended, or does within a moment.
func (v *live) over() bool {
	late := time.NewTimer(drains)
	defer late.Stop()
	select {
	case <-v.gone:
		return true
	case <-late.C:
		return false
	}
}

// long is a result with that text, without keys.
func (l *link) long(env *tools.Env, id, text string) tools.Result {
	return env.Long(id, strings.ToValidUTF8(l.r.o.Keys.Text(text), "\uFFFD"))
}

// said is what a tool answered, as the model gets it. keep says where what is no text went.
func said(res *mcp.CallToolResult, keep keeper) string {
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
			add(embedded(c.Resource, keep))
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

// embedded is a resource in a result.
func embedded(c *mcp.ResourceContents, keep keeper) string {
	switch {
	case c == nil:
		return ""
	case len(c.Blob) > 0:
		return keep("the resource "+c.URI, c.MIMEType, c.Blob)
	}
	return fmt.Sprintf("[the resource %s]\n%s", c.URI, c.Text)
}
