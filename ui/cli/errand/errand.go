// Package errand is what a shell does with a workspace without opening its agents.
//
// Does: keep the table of sub-commands; parse their arguments; send and push; list,
// follow, show and take; print for people or as JSON lines.
//
// Does not: start an agent, serve another assistant, open the screen.
//
// Imports: agents/event, agents/memory, agents/outside, agents/roster, inbox, store, store/config, tools/secret,
// ui/cli/deposit, ui/cli/guard, ui/cli/jsonline, ui/cli/mcpserver, ui/cli/place, ui/cli/shell, ui/frame.
package errand

import (
	"context"
	"io"
	"os"

	"fantail/agents/outside"
	"fantail/tools/secret"
	"fantail/ui/cli/guard"
)

// Errand is a sub-command: it deposits, looks or takes in the workspace's
// inboxes and queue and ends, whether or not a program runs there.
type Errand struct {
	row
	o     options
	words []string
}

// options are the flags of all errands.
type options struct {
	dir, agent, priority, key string
	tags                      []string
	json, all, follow, lifo   bool
	peek, take                bool
}

// row is a row of the table of them.
type row struct {
	name, args, help string
	more             string // what else there is to know
	flags            string // the names of those it has, beside --cwd
	plain            bool   // flags stand before the first word only
	unused           int    // the exit code where nobody used the workspace yet; 0: it works there
	run              func(e *Errand, c *caller) (int, error)
}

// caller is where an errand is run: what it reads and writes, and the door to
// the workspace's agents.
type caller struct {
	ctx   context.Context
	guard *guard.Guard
	env   func(string) string
	keys  *secret.Keys
	in    *os.File
	out   *printed
	errs  io.Writer
	door  *outside.Door
}
