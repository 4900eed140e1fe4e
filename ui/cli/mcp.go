package cli

import (
	"os"
	"path/filepath"
	"time"

	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/ui/format"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// mcpFlags refuses flags that belong to another verb.
func mcpFlags(e *Errand) error {
	if e.o.json && len(e.words) == 0 {
		return shell.Misused("mcp: --json goes with list and test, and with login")
	}
	if e.o.mine && len(e.words) > 0 {
		return shell.Misused("mcp %s: --agent goes with no other word", e.words[0])
	}
	return nil
}

// listServers runs fantail mcp list: where MCP servers are configured, and which are used.
func listServers(e *Errand, c *caller) (int, error) {
	if len(e.words) > 1 {
		return shell.ExitUsage, shell.Misused("mcp list: %q is not understood", e.words[1])
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.ExitFailed, err
	}
	rows, faults := format.Servers{Config: t.Config}.Rows()
	code := shell.ExitOK
	if len(rows) == 0 {
		code = shell.ExitNothing
	}
	code, err = printEach(c.out, code, rows, func(r format.ServerRow) any { return ServerLineOf(r) }, func() string { return format.ListServers(rows, faults) })
	if c.out.json && err == nil {
		for _, f := range faults {
			shell.Warn(c.errs, "%s", f.String())
		}
	}
	return code, err
}

// testServer runs fantail mcp test NAME: whether a server starts, and which tools it has.
func testServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.ExitUsage, shell.Misused("mcp test: say which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.ExitFailed, err
	}
	defer t.Leave()
	is, err := t.Test(c.ctx, e.words[1])
	if err != nil {
		return shell.ExitFailed, err
	}
	code := shell.ExitOK
	if !is.OK {
		code = shell.ExitFailed
	}
	if c.out.json {
		return code, c.out.line(is)
	}
	return code, c.out.text(is.Text())
}

// loginServer runs fantail mcp login NAME: the human logs in to a server in a browser.
func loginServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.ExitUsage, shell.Misused("mcp login: say to which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.ExitFailed, err
	}
	is, asked, err := t.Login(c.ctx, e.words[1], mcp.LoginOptions{Dir: LoginsPath(c.data), Now: time.Now, Ask: Browses(c.errs)})
	if err != nil {
		return shell.ExitFailed, err
	}
	code := shell.ExitOK
	switch {
	case !is.OK:
		code = shell.ExitFailed
	case !c.out.json && asked:
		err = c.out.text("You are logged in to " + is.Name + ".\n")
	case !c.out.json:
		err = c.out.text(is.Name + " wants no login, or has the one that is kept.\n")
	}
	if err != nil {
		return code, err
	}
	if c.out.json {
		return code, c.out.line(is)
	}
	return code, c.out.text(is.Text())
}

// logoutServer runs fantail mcp logout NAME: it removes the stored login.
func logoutServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.ExitUsage, shell.Misused("mcp logout: say of which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.ExitFailed, err
	}
	had, err := t.Logout(e.words[1], LoginsPath(c.data))
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case !had:
		return shell.ExitNothing, c.out.text("No login to " + e.words[1] + " is kept.\n")
	}
	return shell.ExitOK, c.out.text("The login to " + e.words[1] + " is forgotten here.\n")
}

// tryOf returns the servers of the workspace.
func tryOf(e *Errand, c *caller) (TryServer, error) {
	at, err := workspace.Find("", c.env) // --cwd is applied already
	if err != nil {
		return TryServer{}, err
	}
	conf, err := config.Read(c.env)
	if err != nil {
		return TryServer{}, err
	}
	root := at.Root
	if is, err := filepath.EvalSymlinks(root); err == nil {
		root = is
	}
	book, err := hooks.OpenTrust(root, at.Data)
	if err != nil {
		shell.Warn(c.errs, "%v", err)
	}
	carries := Carries(mcp.LoginOptions{Dir: LoginsPath(at.Data), Now: time.Now, Go: c.start})
	t := TryServer{Carries: carries, Root: root, Keys: c.keys, Go: c.start, Config: ServersFor(root, book, c.keys, func() []config.Server { return conf.Servers() })}
	if len(e.words) > 0 && e.words[0] == "test" {
		scratch, err := os.MkdirTemp(at.Data, "try-")
		if err != nil {
			return t, err
		}
		t.Leave = func() { _ = os.RemoveAll(scratch) }
		t.Box = workspace.Boxes(workspace.FindSandbox(c.ctx, conf.Sandbox), workspace.SandboxGround(at, scratch, nil))
	}
	return t, nil
}

// notMCP returns the error for an unknown word after mcp.
func notMCP(word string) error {
	return shell.Misused("mcp: %q is not understood%s; alone it serves, and there are: list, test NAME, login NAME, logout NAME", word, shell.Meant(word, []string{"list", "test", "login", "logout"}))
}
