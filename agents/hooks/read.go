package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/store/config"
)

const (
	maxHooks   = 200      // of one source
	maxCommand = 16 << 10 // bytes of one
	maxTold    = 50       // reported places of one source
)

// ReadFile reads the hooks in the settings file of a source; a missing file has none. It does not report the file's
// other settings.
func ReadFile(root string, s Source) Loaded {
	var data []byte
	var err error
	if s.Own {
		if data, err = config.ReadSettings(s.Path); err != nil {
			return Loaded{} // the user's home may hold any kind of file
		}
	} else {
		data, err = config.OpenSettings(root, s.Name)
	}
	switch {
	case err != nil:
		return Loaded{Faults: []Fault{{Place: s.Name, Text: err.Error()}}}
	case data == nil:
		return Loaded{}
	case strings.HasSuffix(s.Name, ".toml"):
		return readTOML(s, data)
	}
	return Read(s, data)
}

// readTOML reads a repository's file in the format of the user's configuration.
func readTOML(s Source, data []byte) (l Loaded) {
	of, err := config.ReadProject(data)
	if err != nil {
		return Loaded{Faults: []Fault{{fmt.Sprintf("%s:%d:%d", s.Name, max(1, of.Line), max(1, of.Column)), err.Error(), true}}}
	}
	if of.Odd != nil { // its line is not known, only its name
		r := reader{source: s, to: &l}
		r.hooks(value{of.Odd, 0})
		return l
	}
	return Configured(s, of.Hooks)
}

// Read reads the hooks in settings as Claude Code writes them. It reports mistakes with their place, and reads the
// rest.
func Read(s Source, data []byte) (l Loaded) {
	r := reader{source: s, doc: config.SplitSettings(data), to: &l}
	for _, f := range r.doc.Sections {
		switch {
		case f.Cut:
		case f.Key == "hooks":
			r.hooks(value{f.Value, f.At})
		case f.Key == "disableAllHooks" && string(f.Value) == "true":
			return Loaded{Off: s.Own}
		}
	}
	if w := r.doc.Fault; w != nil {
		l.Faults = append(l.Faults, Fault{Place: fmt.Sprintf("%s:%d:%d", s.Name, w.Line, w.Column), Text: w.Text})
	}
	return l
}

// reader reads one source.
type reader struct {
	source Source
	doc    *config.Settings // nil: it is none
	to     *Loaded
}

// value is a part of the text, and where it begins.
type value struct {
	data []byte
	at   int
}

type field struct {
	key string
	value
}

// wrong is a mistake and its place.
type wrong struct {
	at   int
	text string
}

// fields returns the fields of an object, in their order.
func (r *reader) fields(v value) (all []field, bad *wrong) {
	bad = r.walk(v, '{', func(dec *json.Decoder) error {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		raw := json.RawMessage{}
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		all = append(all, field{fmt.Sprint(key), value{raw, v.at + int(dec.InputOffset()) - len(raw)}})
		return nil
	})
	return all, bad
}

// items returns the items of a list.
func (r *reader) items(v value) (all []value, bad *wrong) {
	bad = r.walk(v, '[', func(dec *json.Decoder) error {
		raw := json.RawMessage{}
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		all = append(all, value{raw, v.at + int(dec.InputOffset()) - len(raw)})
		return nil
	})
	return all, bad
}

func (r *reader) walk(v value, opens rune, each func(dec *json.Decoder) error) *wrong {
	dec := json.NewDecoder(bytes.NewReader(v.data))
	t, err := dec.Token()
	if err == nil && t == nil { // null is nothing
		return nil
	}
	if err == nil && t != json.Delim(opens) {
		what := map[rune]string{'{': "an object { }", '[': "a list [ ]"}[opens]
		return &wrong{v.at, "here stands " + what + " otherwise"}
	}
	for err == nil && dec.More() {
		err = each(dec)
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err == nil {
		return nil
	}
	return &wrong{v.at + int(dec.InputOffset()), "this is no JSON: " + err.Error()}
}

// line returns the line of a place, from 1; 0: unknown.
func (r *reader) line(at int) (line int) {
	if r.doc != nil {
		line, _ = r.doc.Place(at)
	}
	return line
}

func (r *reader) place(at int) string {
	if r.doc == nil {
		return r.source.Name
	}
	line, column := r.doc.Place(at)
	return fmt.Sprintf("%s:%d:%d", r.source.Name, line, column)
}

// fault reports a mistake in the hooks of an event; "": of any event.
func (r *reader) fault(e Event, at int, format string, args ...any) {
	guards := e == "" || e == PreToolUse
	if len(r.to.Faults) < maxTold {
		r.to.Faults = append(r.to.Faults, Fault{r.place(at), fmt.Sprintf(format, args...), guards})
	} else if guards {
		r.to.Faults[maxTold-1].Guards = true
	}
}

// ignore reports an event that this program does not have.
func (r *reader) ignore(event string, at int) {
	if len(r.to.Ignored) < maxTold {
		r.to.Ignored = append(r.to.Ignored, Fault{Place: r.place(at), Text: fmt.Sprintf("hooks.%.40s never runs: nothing is told here by that name", event)})
	}
}

// hooks reads the value of "hooks".
func (r *reader) hooks(v value) {
	events, bad := r.fields(v)
	if bad != nil {
		r.fault("", bad.at, "hooks: %s", bad.text)
		return
	}
	for _, e := range events {
		if !slices.Contains(Events(), Event(e.key)) {
			r.ignore(e.key, e.at)
			continue
		}
		groups, bad := r.items(e.value)
		if bad != nil {
			r.fault(Event(e.key), bad.at, "%s: %s", e.key, bad.text)
			continue
		}
		for _, g := range groups {
			r.group(Event(e.key), g)
		}
	}
}

// group reads the hooks of one matcher.
func (r *reader) group(e Event, v value) {
	fields, bad := r.fields(v)
	if bad != nil {
		r.fault(e, bad.at, "%s: %s", e, bad.text)
		return
	}
	matcher, hooks, at := "", value{}, v.at
	for _, f := range fields {
		switch f.key {
		case "matcher":
			if json.Unmarshal(f.data, &matcher) != nil {
				r.fault(e, f.at, "%s: a matcher is a text", e)
				return
			}
			at = f.at
		case "hooks":
			hooks = f.value
		}
	}
	if hooks.data == nil {
		r.fault(e, v.at, "%s: there is no list \"hooks\"", e)
		return
	}
	all, bad := r.items(hooks)
	if bad != nil {
		r.fault(e, bad.at, "%s: %s", e, bad.text)
		return
	}
	match, err := matching(matcher)
	if err != nil {
		r.fault(e, at, "%s: the matcher %.60q can't be used: %v", e, matcher, err)
		return
	}
	for _, h := range all {
		if c, bad := r.row(e, h); bad != nil {
			r.fault(e, bad.at, "%s: %s", e, bad.text)
		} else {
			r.add(Hook{Source: r.source, Event: e, Matcher: matcher, Line: r.line(h.at), match: match}, c, h.at)
		}
	}
}

// row reads a hook. If its timeout is missing or can't be read, the hook gets the default one.
func (r *reader) row(e Event, v value) (c config.HookRow, bad *wrong) {
	fields, bad := r.fields(v)
	for _, f := range fields {
		var err error
		switch key := strings.ToLower(f.key); key {
		case "type":
			err = json.Unmarshal(f.data, &c.Type)
		case "command":
			err = json.Unmarshal(f.data, &c.Command)
		case "timeout":
			text := strings.Trim(string(f.data), `"`)
			if c.Timeout, err = strconv.ParseFloat(text, 64); text != "null" && (err != nil || c.Timeout < 0 || math.IsNaN(c.Timeout)) {
				r.fault(Notification, f.at, "%s: the timeout of %.60q is no number of seconds: it is %v", e, c.Command, lasts)
				c.Timeout = 0
			}
			err = nil
		}
		if err != nil && bad == nil {
			bad = &wrong{f.at, f.key + ": a text was expected"}
		}
	}
	return c, bad
}

// add adds a hook as its row says it.
func (r *reader) add(h Hook, c config.HookRow, at int) {
	if why := h.fill(c); why != "" {
		of := h.Event
		if c.Type != "" && c.Type != "command" {
			of = Notification // it was parsed: the report says that it never runs
		}
		r.fault(of, at, "%s: %s", h.Event, why)
		return
	}
	if len(r.to.Hooks) >= maxHooks {
		r.fault(h.Event, at, "%s: there are more than %d hooks", h.Event, maxHooks)
		return
	}
	r.to.Hooks = append(r.to.Hooks, h)
}

// fill sets the hook from a row; why says why it can't.
func (h *Hook) fill(c config.HookRow) (why string) {
	switch {
	case c.Type == "http":
		return "a hook of the type \"http\" is not run: it would send what agents do and say to an address; a \"command\" can do that"
	case c.Type != "" && c.Type != "command":
		return fmt.Sprintf("a hook of the type %.40q is not run: only \"command\" is", c.Type)
	case strings.TrimSpace(c.Command) == "":
		return "there is no \"command\""
	case len(c.Command) > maxCommand:
		return fmt.Sprintf("the command has %d bytes, at most %d are run", len(c.Command), maxCommand)
	case strings.ContainsRune(c.Command, 0):
		return "the command holds a NUL byte"
	case c.Timeout < 0:
		return "the timeout is less than nothing"
	}
	h.Command, h.Timeout = c.Command, lasts
	if c.Timeout > 0 {
		h.Timeout = time.Duration(min(c.Timeout, longest.Seconds()) * float64(time.Second))
	}
	return ""
}

// matching compiles a matcher, which matches whole names; nil: all.
func matching(matcher string) (*regexp.Regexp, error) {
	if matcher == "" || matcher == "*" {
		return nil, nil
	}
	return regexp.Compile("^(?:" + matcher + ")$")
}

// Configured returns the hooks of the user's configuration.
func Configured(s Source, rows map[string][]config.HookGroup) (l Loaded) {
	r := reader{source: s, to: &l}
	for _, e := range Events() {
		for _, g := range rows[string(e)] {
			match, err := matching(g.Matcher)
			if err != nil {
				r.fault(e, 0, "hooks.%s: the matcher %.60q can't be used: %v", e, g.Matcher, err)
				continue
			}
			for _, c := range g.Hooks {
				r.add(Hook{Source: s, Event: e, Matcher: g.Matcher, match: match}, c, 0)
			}
		}
	}
	for name := range rows {
		if !slices.Contains(Events(), Event(name)) {
			r.ignore(name, 0)
		}
	}
	return l
}
