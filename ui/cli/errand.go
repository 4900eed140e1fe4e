package cli

import (
	"context"
	"io"

	"fantail/agents/mail"
	"fantail/tools/secret"
)

// Errand is a sub-command: it deposits, looks or takes in the workspace's
// inboxes and queue and ends, whether or not a program runs there.
type Errand struct {
	row
	o     options
	words []string
	tty   bool // its output goes to a terminal
}

// options are the flags of all errands.
type options struct {
	dir, agent, priority, key string
	tags                      []string
	json, all, follow, lifo   bool
	peek, take, wait, now     bool
	verify, mine              bool

	prompt, label, model, idle string
	interactive, end           bool
}

// row is a row of the table of them.
type row struct {
	name, args, help string
	more             string // what else there is to know
	flags            string // the names of those it has, beside --cwd
	plain            bool   // flags stand before the first word only
	unused           int    // the exit code where nobody used the workspace yet; 0: it works there
	run              func(e *Errand, c *caller) (int, error)
	apart            func(ctx context.Context, e *Errand, out *printed) (int, error) // instead of run: it opens no workspace
	agents           func(e *Errand) bool                                            // whether an agent's command may run it; nil: it may not
	suits            func(e *Errand) error                                           // whether the flags go together; nil: they do
	hosted           map[string]func(e *Errand, c *caller) (int, error)              // instead of run, by the first word: it opens no database
}

// caller is where an errand is run: what it reads and writes, and the door to
// the workspace's agents.
type caller struct {
	ctx   context.Context
	start func(name string, f func()) // begins a goroutine
	env   func(string) string
	keys  *secret.Keys
	in    io.Reader
	typed bool // in is a terminal
	out   *printed
	errs  io.Writer
	door  *mail.Client // nil where the host does it
	host  string       // the socket of the workspace's host
	dir   string       // where the program was started
	data  string       // the workspace's data directory
	post  string       // where mail leaves the sandbox of the command that this is; "": it is in none
	from  source
	hands func(Handback) error // explained at [Guest]; nil: the process does it itself
}
