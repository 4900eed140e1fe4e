package errand

import (
	"os"
	"path/filepath"
	"time"

	"fantail/agents/trust"
	"fantail/store/config"
	"fantail/tools/mcp/login"
	"fantail/ui/cli/mcplist"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/wall"
	"fantail/ui/slash/serving"
)

// mcpFlags refuses flags that go with another verb.
func mcpFlags(e *Errand) error {
	if e.o.json && len(e.words) == 0 {
		return shell.Misused("mcp: --json goes with list and test, and with login")
	}
	if e.o.mine && len(e.words) > 0 {
		return shell.Misused("mcp %s: --agent goes with no other word", e.words[0])
	}
	return nil
}

// listServers is fantail mcp list: where MCP servers are configured, and which are used.
func listServers(e *Errand, c *caller) (int, error) {
	if len(e.words) > 1 {
		return shell.Usage, shell.Misused("mcp list: %q is not understood", e.words[1])
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.Failed, err
	}
	rows, faults := serving.Desk{Room: t.Room}.Rows()
	code := shell.OK
	if len(rows) == 0 {
		code = shell.Nothing
	}
	if c.out.json {
		for _, r := range rows {
			if err := c.out.line(mcplist.LineOf(r)); err != nil {
				return code, err
			}
		}
		for _, f := range faults {
			shell.Warn(c.errs, "%s", f.String())
		}
		return code, nil
	}
	return code, c.out.text(serving.List(rows, faults))
}

// testServer is fantail mcp test NAME: whether a server starts, and what it has.
func testServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.Usage, shell.Misused("mcp test: say which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.Failed, err
	}
	defer t.Leave()
	is, err := t.Test(c.ctx, e.words[1])
	if err != nil {
		return shell.Failed, err
	}
	code := shell.OK
	if !is.OK {
		code = shell.Failed
	}
	if c.out.json {
		return code, c.out.line(is)
	}
	return code, c.out.text(is.Text())
}

// loginServer is fantail mcp login NAME: the human logs in to a server in a browser.
func loginServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.Usage, shell.Misused("mcp login: say to which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.Failed, err
	}
	is, asked, err := t.Login(c.ctx, e.words[1], login.Options{Dir: mcplist.Logins(c.data), Now: time.Now, Ask: mcplist.Browses(c.errs)})
	if err != nil {
		return shell.Failed, err
	}
	code := shell.OK
	switch {
	case !is.OK:
		code = shell.Failed
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

// logoutServer is fantail mcp logout NAME: the login that is kept is forgotten.
func logoutServer(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.Usage, shell.Misused("mcp logout: say of which server; fantail mcp list lists them")
	}
	t, err := tryOf(e, c)
	if err != nil {
		return shell.Failed, err
	}
	had, err := t.Logout(e.words[1], mcplist.Logins(c.data))
	switch {
	case err != nil:
		return shell.Failed, err
	case !had:
		return shell.Nothing, c.out.text("No login to " + e.words[1] + " is kept.\n")
	}
	return shell.OK, c.out.text("The login to " + e.words[1] + " is forgotten here.\n")
}

// tryOf has the servers of the workspace.
func tryOf(e *Errand, c *caller) (mcplist.Try, error) {
	at, err := place.Find("", c.env) // --cwd holds already
	if err != nil {
		return mcplist.Try{}, err
	}
	conf, err := config.Read(c.env)
	if err != nil {
		return mcplist.Try{}, err
	}
	root := at.Root
	if is, err := filepath.EvalSymlinks(root); err == nil {
		root = is
	}
	book, err := trust.In(root, at.Data)
	if err != nil {
		shell.Warn(c.errs, "%v", err)
	}
	carries := mcplist.Carries(login.Options{Dir: mcplist.Logins(at.Data), Now: time.Now, Go: c.start})
	t := mcplist.Try{Carries: carries, Root: root, Keys: c.keys, Go: c.start, Room: mcplist.Room(root, book, c.keys, func() []config.Server { return conf.Servers() })}
	if len(e.words) > 0 && e.words[0] == "test" {
		scratch, err := os.MkdirTemp(at.Data, "try-")
		if err != nil {
			return t, err
		}
		t.Leave = func() { _ = os.RemoveAll(scratch) }
		t.Box = wall.Boxes(wall.Find(c.ctx, conf.Sandbox), wall.Ground(at, scratch, nil))
	}
	return t, nil
}

// notMCP says what may follow mcp.
func notMCP(word string) error {
	return shell.Misused("mcp: %q is not understood%s; alone it serves, and there are: list, test NAME, login NAME, logout NAME", word, shell.Meant(word, []string{"list", "test", "login", "logout"}))
}
