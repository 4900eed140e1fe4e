package cli

import (
	"fmt"
	"os"
	"strings"

	"fantail/agents/event"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools/permission"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// ReadOnly is why nothing can be recorded there, and what to do about it; nil: it can.
func ReadOnly(p workspace.Place) error {
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
func Usual(f Flags, c config.Config) permission.Mode {
	if f.Moded {
		return ""
	}
	return Mode(c)
}

// Mode is the permission mode the configuration asks for.
func Mode(c config.Config) permission.Mode {
	if c.PermissionMode == "" {
		return permission.Ask
	}
	return permission.Mode(c.PermissionMode)
}

// Gate returns the gate the configuration asks for, over the sandbox that is found by looking.
func Gate(c config.Config, look func() permission.Sandbox) (*permission.Gate, error) {
	mode, err := permission.ParseMode(string(Mode(c)))
	if err != nil {
		return nil, err
	}
	g, err := permission.NewGate(mode, rulesOf(c))
	if err != nil {
		return nil, fmt.Errorf("the configuration's rules: %w", err)
	}
	g.Seeks(look)
	if err := g.Admits(mode); err != nil {
		return nil, err
	}
	return g, nil
}

func rulesOf(c config.Config) []permission.Rule {
	rules := make([]permission.Rule, len(c.Rules.Allow))
	for i, r := range c.Rules.Allow {
		rules[i] = permission.Rule(r)
	}
	return rules
}

// Reread has what changed from one configuration to the next hold, as far as that can be while
// agents live, and says what does. It says nothing if nothing changed.
func Reread(was, is config.Config, gate *permission.Gate) (string, error) {
	var now, screens, later []string
	for _, key := range config.Changed(was, is) {
		switch key {
		case "allow":
			if err := gate.Configure(rulesOf(is)); err != nil {
				return "", fmt.Errorf("the configuration's rules: %w", err)
			}
			now = append(now, key)
		case "hooks", "mcp": // read where they run
		case "permissions": // whoever reads the files of rules has them hold
			now = append(now, key)
		case "theme", "mouse", "editor", "notify", "status_style":
			screens = append(screens, key)
		default:
			later = append(later, key)
		}
	}
	var parts []string
	for _, p := range []struct {
		keys []string
		when string
	}{{now, "now"}, {screens, "on screens from now on"}, {later, "after /restart"}} {
		if len(p.keys) > 0 {
			parts = append(parts, strings.Join(p.keys, ", ")+" "+p.when)
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	return "the configuration changed: " + strings.Join(parts, "; "), nil
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
