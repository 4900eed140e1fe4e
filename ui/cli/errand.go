package cli

import (
	"context"
	"io"

	"fantail/agents/mail"
	"fantail/tools/secret"
)

// Errand is a sub-command. It deposits, looks or takes in the workspace's inboxes and queue, and
// ends. It works with and without a running program.
type Errand struct {
	row
	o     options
	words []string
	tty   bool // standard output is a terminal
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

// row is a row of the table of errands.
type row struct {
	name, args, help string
	more             string // more help
	flags            string // names of its flags, other than --cwd
	plain            bool   // flags come before the first word only
	unused           int    // exit code if the workspace was never used; 0: it works there
	run              func(e *Errand, c *caller) (int, error)
	apart            func(e *Errand, c *caller) (int, error)            // instead of run: it opens no workspace
	agents           func(e *Errand) bool                               // reports whether an agent's command may run it; nil: it may not
	suits            func(e *Errand) error                              // checks that the flags fit together; nil: they always do
	hosted           map[string]func(e *Errand, c *caller) (int, error) // instead of run, by the first word: it opens no database
}

// caller is the environment of an errand: its input and output, and the way to the workspace's
// agents.
type caller struct {
	ctx   context.Context
	start func(name string, f func()) // starts a goroutine
	env   func(string) string
	keys  *secret.Keys
	in    io.Reader
	typed bool // in is a terminal
	out   *printed
	errs  io.Writer
	door  *mail.Client // nil where the host carries the errand out
	host  string       // socket of the workspace's host
	dir   string       // where the program was started
	data  string       // data directory of the workspace
	post  string       // mailbox of the sandbox in which this command runs; "": it runs in none
	from  source
	hands func(Handback) error // see [Client.Hands]; nil: the process carries the errand out itself
}
