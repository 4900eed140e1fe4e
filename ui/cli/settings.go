package cli

import (
	"fmt"
	"os"
	"time"

	"fantail/agents/event"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools/permit"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
)

// ReadOnly is why nothing can be recorded there, and what to do about it; nil: it can.
func ReadOnly(p place.Place) error {
	why := store.Writable(p.Database())
	if why == nil {
		return nil
	}
	return fmt.Errorf("%w: %w: make it writable for you and start again", event.ErrReadOnly, why)
}

// Configure reads the configuration file, the environment over it and the flags
// over that.
func Configure(f Flags, env func(string) string) (config.Config, error) {
	c, err := config.Read(env)
	if err != nil {
		return c, err
	}
	if f.Moded {
		c.PermissionMode = string(f.Mode)
	}
	return c, nil
}

// Usual is the permission mode the workspace starts with by itself; "" if this start
// chose another.
func Usual(f Flags, c config.Config) permit.Mode {
	switch {
	case f.Moded:
		return ""
	case c.PermissionMode == "":
		return permit.Ask
	}
	return permit.Mode(c.PermissionMode)
}

// Gate returns the gate the configuration asks for.
func Gate(c config.Config) (*permit.Gate, error) {
	mode, err := permit.ParseMode(c.PermissionMode)
	if c.PermissionMode == "" {
		mode, err = permit.Ask, nil
	}
	if err != nil {
		return nil, err
	}
	rules := make([]permit.Rule, len(c.Rules.Allow))
	for i, r := range c.Rules.Allow {
		rules[i] = permit.Rule(r)
	}
	g, err := permit.NewGate(mode, rules)
	if err != nil {
		return nil, fmt.Errorf("the configuration's rules: %w", err)
	}
	return g, nil
}

// NeedTerminal returns an error unless the program can show itself.
func NeedTerminal(in, out *os.File) error {
	for _, f := range []struct {
		file *os.File
		name string
	}{{out, "output"}, {in, "input"}} {
		if !shell.IsTerminal(f.file) {
			return shell.Misused("standard %s is not a terminal: start fantail in a terminal, or give it a prompt: fantail -p \"PROMPT\"", f.name)
		}
	}
	return nil
}

// Patience is how long a disk that refuses writes is waited for: at a screen
// until it takes them; a script waits for the exit code.
func Patience(attended bool) time.Duration {
	if attended {
		return 0
	}
	return 5 * time.Second
}
