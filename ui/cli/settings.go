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

// ReadOnly returns why nothing can be recorded in p, and what to do about it; nil: it can.
func ReadOnly(p workspace.Place) error {
	why := store.Writable(p.Database())
	if why == nil {
		return nil
	}
	return fmt.Errorf("%w: %w: make it writable for you and start again", event.ErrReadOnly, why)
}

// Configure reads the configuration file. The environment overrides it, and the flags override
// both.
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

// Usual returns the permission mode that the workspace starts with by itself; "" if the flags chose
// another.
func Usual(f Flags, c config.Config) permission.Mode {
	if f.Moded {
		return ""
	}
	return Mode(c)
}

// Mode returns the configured permission mode.
func Mode(c config.Config) permission.Mode {
	if c.PermissionMode == "" {
		return permission.Ask
	}
	return permission.Mode(c.PermissionMode)
}

// Gate returns the configured gate over the sandbox that look finds.
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

// Reread applies the changes between two configurations, as far as that is possible while agents
// live, and says which apply when. It returns "" if nothing changed.
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
		case "permissions": // the reader of the rule files applies them
			now = append(now, key)
		case "theme", "mouse", "editor", "notify", "status_style", "reduce_motion":
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
