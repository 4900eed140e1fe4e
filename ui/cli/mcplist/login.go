package mcplist

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fantail/tools"
	"fantail/tools/mcp"
	"fantail/tools/mcp/login"
	"fantail/tools/mcp/signin"
	"fantail/tools/proc"
	"fantail/ui/frame"
)

// Logins is where logins to MCP servers are kept, for a workspace whose data directory is data: they are the user's, and
// the same in all workspaces.
func Logins(data string) string { return filepath.Join(filepath.Dir(data), "logins") }

// Carries has requests to servers carry the logins that are kept, as [mcp.Options] wants it.
func Carries(o login.Options) func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error) {
	return func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error) {
		o := o
		o.Base = base
		return login.New(o, login.Client{Server: s.Name, URL: s.URL, ID: s.Client, Secret: s.Secret, Port: s.Port})
	}
}

// Login has the human log in to the server of that name, and then looks at it as [Try.Test] does. asked says whether the
// server wanted it.
func (t Try) Login(ctx context.Context, name string, o login.Options) (is Tried, asked bool, err error) {
	r, err := t.named(name)
	if err != nil {
		return is, false, err
	}
	if r.URL == "" {
		return is, false, fmt.Errorf("%s is a program on this machine: there is nothing to log in to", r.Name)
	}
	ask := o.Ask
	o.Go, o.Ask = t.Go, func(ctx context.Context, q login.Question) (login.Answer, error) {
		asked = true
		return ask(ctx, q)
	}
	t.Carries = Carries(o)
	is, err = t.Test(ctx, name)
	return is, asked, err
}

// Logout forgets the login to the server of that name, and reports whether there was one.
func (t Try) Logout(name, dir string) (bool, error) {
	r, err := t.named(name)
	if err != nil {
		return false, err
	}
	return login.Forget(dir, r.URL)
}

// Browses has the human log in in a browser, and tells how on errs. It comes back to this machine by itself; from another one, the address at
// which it ended is pasted.
func Browses(errs io.Writer) func(ctx context.Context, q login.Question) (login.Answer, error) {
	return func(ctx context.Context, q login.Question) (login.Answer, error) { return browses(ctx, errs, q) }
}

func browses(ctx context.Context, errs io.Writer, q login.Question) (login.Answer, error) {
	if q.Why != "" {
		fmt.Fprintln(errs, tools.Line(q.Why))
	}
	fmt.Fprintf(errs, "%s wants to know who you are. Log in at the host %s, with this address:\n\n  %s\n\nThe browser comes back by itself. If it runs on another machine, paste the address at which it ended here. open opens it in a browser of this machine.\n",
		tools.Line(q.Server), frame.CleanLine(q.Host), frame.CleanLine(q.URL)) // whole: it is copied
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil { // nobody types here
		<-ctx.Done()
		return login.Answer{}, context.Cause(ctx)
	}
	defer context.AfterFunc(ctx, func() { _ = tty.Close() })()
	lines := bufio.NewReader(io.LimitReader(tty, 64<<10))
	line, err := lines.ReadString('\n')
	for err == nil && strings.TrimSpace(line) == "open" {
		if err := signin.Browse(ctx, q.URL, proc.Clean(os.Environ(), nil)); err != nil {
			fmt.Fprintln(errs, "no browser can be opened here: "+tools.Line(err.Error()))
		}
		line, err = lines.ReadString('\n')
	}
	if ctx.Err() != nil {
		return login.Answer{}, context.Cause(ctx)
	}
	_ = tty.Close()
	return login.Answer{Back: line, No: err != nil || strings.TrimSpace(line) == ""}, nil
}
