package cli

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
	"fantail/tools/proc"
	"fantail/ui/cells"
)

// LoginsPath returns the directory of logins to MCP servers, for a workspace with the data
// directory data. The logins belong to the user and are the same in all workspaces.
func LoginsPath(data string) string { return filepath.Join(filepath.Dir(data), "logins") }

// Carries returns a function that adds the stored logins to requests to servers, for [mcp.Options].
func Carries(o mcp.LoginOptions) func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error) {
	return func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error) {
		o := o
		o.Base = base
		return mcp.NewLoginTransport(o, mcp.LoginClient{Server: s.Word(), URL: s.URL, ID: s.Client, Secret: s.Secret, Port: s.Port})
	}
}

// Login has the human log in to the server of that name, and then tests it as [TryServer.Test]
// does. asked reports whether the server wanted a login.
func (t TryServer) Login(ctx context.Context, name string, o mcp.LoginOptions) (is TriedServer, asked bool, err error) {
	r, err := t.named(name)
	if err != nil {
		return is, false, err
	}
	if r.URL == "" {
		return is, false, fmt.Errorf("%s is a program on this machine: there is nothing to log in to", r.Name)
	}
	ask := o.Ask
	o.Go, o.Ask = t.Go, func(ctx context.Context, q mcp.LoginQuestion) (mcp.LoginAnswer, error) {
		asked = true
		return ask(ctx, q)
	}
	t.Carries = Carries(o)
	is, err = t.Test(ctx, name)
	return is, asked, err
}

// Logout removes the login to the server of that name, and reports whether there was one.
func (t TryServer) Logout(name, dir string) (bool, error) {
	r, err := t.named(name)
	if err != nil {
		return false, err
	}
	return mcp.ForgetLogin(dir, r.URL)
}

// Browses returns a function that has the human log in with a browser and writes instructions to
// errs. A browser on this machine returns by itself; from another machine the human pastes the
// final address.
func Browses(errs io.Writer) func(ctx context.Context, q mcp.LoginQuestion) (mcp.LoginAnswer, error) {
	return func(ctx context.Context, q mcp.LoginQuestion) (mcp.LoginAnswer, error) { return browses(ctx, errs, q) }
}

func browses(ctx context.Context, errs io.Writer, q mcp.LoginQuestion) (mcp.LoginAnswer, error) {
	if q.Why != "" {
		fmt.Fprintln(errs, tools.Line(q.Why))
	}
	fmt.Fprintf(errs, "%s wants to know who you are. Log in at the host %s, with this address:\n\n  %s\n\nThe browser comes back by itself. If it runs on another machine, paste the address at which it ended here. open opens it in a browser of this machine.\n",
		tools.Line(q.Server), cells.CleanLine(q.Host), cells.CleanLine(q.URL)) // in full: it is copied
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil { // no human types here
		<-ctx.Done()
		return mcp.LoginAnswer{}, context.Cause(ctx)
	}
	defer context.AfterFunc(ctx, func() { _ = tty.Close() })()
	lines := bufio.NewReader(io.LimitReader(tty, 64<<10))
	line, err := lines.ReadString('\n')
	for err == nil && strings.TrimSpace(line) == "open" {
		if err := mcp.Browse(ctx, q.URL, proc.Clean(os.Environ(), nil)); err != nil {
			fmt.Fprintln(errs, "no browser can be opened here: "+tools.Line(err.Error()))
		}
		line, err = lines.ReadString('\n')
	}
	if ctx.Err() != nil {
		return mcp.LoginAnswer{}, context.Cause(ctx)
	}
	_ = tty.Close()
	return mcp.LoginAnswer{Back: line, No: err != nil || strings.TrimSpace(line) == ""}, nil
}
