package errand

import (
	"os"
	"path/filepath"

	"fantail/agents/trust"
	"fantail/store/config"
	"fantail/ui/cli/mcplist"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/wall"
	"fantail/ui/slash/serving"
)

// mcpFlags refuses flags that go with another verb.
func mcpFlags(e *Errand) error {
	if e.o.json && len(e.words) == 0 {
		return shell.Misused("mcp: --json goes with list and test")
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
	t := mcplist.Try{Root: root, Keys: c.keys, Go: c.start, Room: mcplist.Room(root, book, c.keys, func() []config.Server { return conf.Servers() })}
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
	return shell.Misused("mcp: %q is not understood%s; alone it serves, and there are: list, test NAME", word, shell.Meant(word, []string{"list", "test"}))
}
