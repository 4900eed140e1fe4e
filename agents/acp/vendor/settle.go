package vendor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/acp"
	"fantail/agents/acp/schema"
	"fantail/tools"
)

// The categories of settings that mean the same to every agent.
const (
	categoryMode  = "mode"
	categoryModel = "model"

	categoryThought, effort = "thought_level", "effort" // its name with most
)

// settle gives a session that was entered the settings that are configured. One that begins in a mode in which its agent
// asks nobody, though the configuration does not say so, leaves that: it says which it has left, for people.
func (c *chair) settle(ctx context.Context, s *acp.Session) (left string, err error) {
	name := c.v.o.Name
	t := settings{name, s, s.Options()}
	mode := c.v.o.Mode
	if at, offered := t.mode(); mode == "" && slices.Contains(c.v.o.Reckless, at) {
		if mode = c.v.o.Careful; !slices.Contains(offered, mode) {
			return "", fmt.Errorf("%s would work in its mode %s, in which it asks nobody, and has no %q: "+
				"name the mode it is to work in by mode in [agents.%s] of the configuration", name, tools.Line(at), mode, name)
		}
		left = fmt.Sprintf("%s began in its mode %s, in which it asks nobody, and works in its mode %s instead: "+
			"to have the first, name it by mode in [agents.%s] of the configuration.", name, tools.Line(at), mode, name)
	}
	if mode != "" {
		if err := t.setMode(ctx, mode); err != nil {
			return "", err
		}
	}
	first := func(name string) int { // what others depend on
		if name == categoryModel {
			return 0
		}
		return 1
	}
	names := slices.SortedFunc(maps.Keys(c.v.o.Settings), func(a, b string) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), strings.Compare(a, b))
	})
	for _, name := range names {
		if err := t.set(ctx, name, c.v.o.Settings[name]); err != nil {
			return "", err
		}
	}
	return left, nil
}

// settings are those of a session, as they are now.
type settings struct {
	vendor  string
	session *acp.Session
	all     []schema.Option
}

// mode is the mode the session is in, "" if it has none, and those it can be in.
func (t *settings) mode() (at string, offered []string) {
	if m := t.session.Modes(); m.Current.OK {
		for _, mode := range m.All.All {
			offered = append(offered, mode.ID)
		}
		return m.Current.V, offered
	}
	if o := t.named(categoryMode); o != nil {
		return current(*o), values(o.Values)
	}
	return "", nil
}

func (t *settings) setMode(ctx context.Context, mode string) error {
	at, offered := t.mode()
	switch {
	case at == mode:
		return nil
	case !slices.Contains(offered, mode):
		return fmt.Errorf("%s has no mode %q; it has %s", t.vendor, mode, listed(offered))
	case t.session.Modes().Current.OK:
		return t.session.SetMode(ctx, mode)
	}
	return t.set(ctx, categoryMode, mode)
}

// set changes the setting of that name or category.
func (t *settings) set(ctx context.Context, name, value string) error {
	o := t.named(name)
	if o == nil {
		var names []string
		for _, o := range t.all {
			names = append(names, o.ID)
		}
		return fmt.Errorf("%s has no setting %q; it has %s", t.vendor, name, listed(names))
	}
	if current(*o) == value {
		return nil
	}
	if offered := values(o.Values); !slices.Contains(offered, value) {
		return fmt.Errorf("%s has no %s %q; it has %s", t.vendor, name, value, listed(offered))
	}
	now, err := t.session.Set(ctx, o.ID, value)
	if err != nil {
		return fmt.Errorf("set %s to %q: %w", name, value, err)
	}
	if now != nil {
		t.all = now
	}
	return nil
}

// named is the setting of that name, or else the first of that category, or that is meant by it; nil: there is none.
func (t *settings) named(name string) *schema.Option {
	for _, is := range []func(o schema.Option) bool{
		func(o schema.Option) bool { return o.ID == name },
		func(o schema.Option) bool { return o.Category.V == name },
		func(o schema.Option) bool { return o.Category.V == categoryThought && name == effort },
	} {
		if i := slices.IndexFunc(t.all, is); i >= 0 {
			return &t.all[i]
		}
	}
	return nil
}

func current(o schema.Option) (value string) {
	_ = json.Unmarshal(o.Current, &value) // what is no text is none of those offered
	return value
}

// values are all that a setting may have, those in groups too.
func values(of schema.List[schema.Value]) (all []string) {
	for _, v := range of.All {
		if v.Group.OK {
			all = append(all, values(v.Group)...)
			continue
		}
		all = append(all, v.Value)
	}
	return all
}

// listed is a list for people.
func listed(names []string) string {
	const most = 20
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	if len(names) == 0 {
		return "none"
	}
	return tools.Line(strings.Join(names, ", ")) + more
}
