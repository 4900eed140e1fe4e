package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/tools"
)

// The categories of settings that mean the same to every agent.
const (
	categoryMode  = "mode"
	categoryModel = "model"

	categoryThought, effortSetting = "thought_level", "effort" // its name with most
)

// applySettings applies the configured settings to a session. If a session begins in a mode in which its agent never asks,
// and the configuration does not name that mode, it changes to the safe mode and returns a note for the user.
func (c *vendorSession) applySettings(ctx context.Context, s *Session) (left string, err error) {
	name := c.vendor.o.Name
	t := settings{name, s, s.Options()}
	mode := c.vendor.o.Mode
	if at, offered := t.mode(); mode == "" && slices.Contains(c.vendor.o.BypassModes, at) {
		if mode = c.vendor.o.SafeMode; !slices.Contains(offered, mode) {
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
	names := slices.SortedFunc(maps.Keys(c.vendor.o.Settings), func(a, b string) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), strings.Compare(a, b))
	})
	for _, name := range names {
		if err := t.set(ctx, name, c.vendor.o.Settings[name]); err != nil {
			return "", err
		}
	}
	return left, nil
}

// settings are the current settings of a session.
type settings struct {
	vendor  string
	session *Session
	all     []SessionConfigOption
}

// mode returns the current mode, or "" if there is none, and the modes that are offered.
func (t *settings) mode() (at string, offered []string) {
	if m := t.session.Modes(); m.CurrentModeID.OK {
		for _, mode := range m.AvailableModes.All {
			offered = append(offered, mode.ID)
		}
		return m.CurrentModeID.V, offered
	}
	if o := t.find(categoryMode); o != nil {
		return currentValue(*o), optionValues(o.Options)
	}
	return "", nil
}

func (t *settings) setMode(ctx context.Context, mode string) error {
	at, offered := t.mode()
	switch {
	case at == mode:
		return nil
	case !slices.Contains(offered, mode):
		return fmt.Errorf("%s has no mode %q; it has %s", t.vendor, mode, listText(offered))
	case t.session.Modes().CurrentModeID.OK:
		return t.session.SetMode(ctx, mode)
	}
	return t.set(ctx, categoryMode, mode)
}

// set changes the setting with that name or category.
func (t *settings) set(ctx context.Context, name, value string) error {
	o := t.find(name)
	if o == nil {
		var names []string
		for _, o := range t.all {
			names = append(names, o.ID)
		}
		return fmt.Errorf("%s has no setting %q; it has %s", t.vendor, name, listText(names))
	}
	if currentValue(*o) == value {
		return nil
	}
	if offered := optionValues(o.Options); !slices.Contains(offered, value) {
		return fmt.Errorf("%s has no %s %q; it has %s", t.vendor, name, value, listText(offered))
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

// find returns the setting with that id, else the first one of that category, or nil.
func (t *settings) find(name string) *SessionConfigOption {
	for _, is := range []func(o SessionConfigOption) bool{
		func(o SessionConfigOption) bool { return o.ID == name },
		func(o SessionConfigOption) bool { return o.Category.V == name },
		func(o SessionConfigOption) bool { return o.Category.V == categoryThought && name == effortSetting },
	} {
		if i := slices.IndexFunc(t.all, is); i >= 0 {
			return &t.all[i]
		}
	}
	return nil
}

func currentValue(o SessionConfigOption) (value string) {
	_ = json.Unmarshal(o.CurrentValue, &value) // a value that is no text is not among those offered
	return value
}

// optionValues returns all values that a setting may have, also those in groups.
func optionValues(of List[SessionConfigSelectOption]) (all []string) {
	for _, v := range of.All {
		if v.Options.OK {
			all = append(all, optionValues(v.Options)...)
			continue
		}
		all = append(all, v.Value)
	}
	return all
}

// listText returns a list for an error text.
func listText(names []string) string {
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
