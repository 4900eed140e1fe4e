package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"fantail/store/config"
	"fantail/store/config/settings"
)

const (
	mostHooks   = 200      // of one source
	mostCommand = 16 << 10 // bytes of one
	mostTold    = 50       // places of one source that are told of
)

// ReadFile reads the hooks in the settings file of a source; one that is not there holds none. What else stands in it is
// for others to tell of.
func ReadFile(root string, s Source) Loaded {
	var data []byte
	var err error
	if s.Own {
		if data, err = settings.Read(s.Path); err != nil {
			return Loaded{} // the user's home may be anything
		}
	} else {
		data, err = settings.Open(root, s.Name)
	}
	switch {
	case err != nil:
		return Loaded{Faults: []Fault{{s.Name, err.Error()}}}
	case data == nil:
		return Loaded{}
	case strings.HasSuffix(s.Name, ".toml"):
		return readTOML(s, data)
	}
	return Read(s, data)
}

// readTOML reads the file of a repository that is written as the user's configuration is.
func readTOML(s Source, data []byte) (l Loaded) {
	of, err := config.ReadProject(data)
	if err != nil {
		return Loaded{Faults: []Fault{{fmt.Sprintf("%s:%d:%d", s.Name, max(1, of.Line), max(1, of.Column)), err.Error()}}}
	}
	return Configured(s, of.Hooks)
}

// Read reads the hooks in settings as Claude Code writes them. What is wrong with them is told with its place, and the
// rest holds.
func Read(s Source, data []byte) (l Loaded) {
	r := reader{source: s, doc: settings.Split(data), to: &l}
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
		l.Faults = append(l.Faults, Fault{fmt.Sprintf("%s:%d:%d", s.Name, w.Line, w.Column), w.Text})
	}
	return l
}

// reader reads one source.
type reader struct {
	source Source
	doc    *settings.Doc // nil: it is none
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

// wrong is what is wrong, and where.
type wrong struct {
	at   int
	text string
}

// fields are the fields of an object, in their order.
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

// items are the items of a list.
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

// line is the line of a place, from 1; 0: nobody knows.
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

func (r *reader) fault(at int, format string, args ...any) {
	if len(r.to.Faults) < mostTold {
		r.to.Faults = append(r.to.Faults, Fault{r.place(at), fmt.Sprintf(format, args...)})
	}
}

// ignore tells of an event that nothing here has.
func (r *reader) ignore(event string, at int) {
	if len(r.to.Ignored) < mostTold {
		r.to.Ignored = append(r.to.Ignored, Fault{r.place(at), fmt.Sprintf("hooks.%.40s never runs: nothing is told here by that name", event)})
	}
}

// hooks reads what stands below "hooks".
func (r *reader) hooks(v value) {
	events, bad := r.fields(v)
	if bad != nil {
		r.fault(bad.at, "hooks: %s", bad.text)
		return
	}
	for _, e := range events {
		if !slices.Contains(Events(), Event(e.key)) {
			r.ignore(e.key, e.at)
			continue
		}
		groups, bad := r.items(e.value)
		if bad != nil {
			r.fault(bad.at, "%s: %s", e.key, bad.text)
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
		r.fault(bad.at, "%s: %s", e, bad.text)
		return
	}
	matcher, hooks, at := "", value{}, v.at
	for _, f := range fields {
		switch f.key {
		case "matcher":
			if json.Unmarshal(f.data, &matcher) != nil {
				r.fault(f.at, "%s: a matcher is a text", e)
				return
			}
			at = f.at
		case "hooks":
			hooks = f.value
		}
	}
	if hooks.data == nil {
		r.fault(v.at, "%s: there is no list \"hooks\"", e)
		return
	}
	all, bad := r.items(hooks)
	if bad != nil {
		r.fault(bad.at, "%s: %s", e, bad.text)
		return
	}
	match, err := matching(matcher)
	if err != nil {
		r.fault(at, "%s: the matcher %.60q can't be used: %v", e, matcher, err)
		return
	}
	for _, h := range all {
		c := config.HookRow{}
		if err := json.Unmarshal(h.data, &c); err != nil {
			r.fault(h.at, "%s: %v", e, err)
			continue
		}
		r.add(Hook{Source: r.source, Event: e, Matcher: matcher, Line: r.line(h.at), match: match}, c, h.at)
	}
}

// add adds a hook as its row says it.
func (r *reader) add(h Hook, c config.HookRow, at int) {
	if why := h.fill(c); why != "" {
		r.fault(at, "%s: %s", h.Event, why)
		return
	}
	if len(r.to.Hooks) >= mostHooks {
		r.fault(at, "%s: there are more than %d hooks", h.Event, mostHooks)
		return
	}
	r.to.Hooks = append(r.to.Hooks, h)
}

// fill takes in what a row says; why says why it can't be.
func (h *Hook) fill(c config.HookRow) (why string) {
	switch {
	case c.Type == "http":
		return "a hook of the type \"http\" is not run: it would send what agents do and say to an address; a \"command\" can do that"
	case c.Type != "" && c.Type != "command":
		return fmt.Sprintf("a hook of the type %.40q is not run: only \"command\" is", c.Type)
	case strings.TrimSpace(c.Command) == "":
		return "there is no \"command\""
	case len(c.Command) > mostCommand:
		return fmt.Sprintf("the command has %d bytes, at most %d are run", len(c.Command), mostCommand)
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

// matching makes what a matcher matches: names as a whole; nil: all.
func matching(matcher string) (*regexp.Regexp, error) {
	if matcher == "" || matcher == "*" {
		return nil, nil
	}
	return regexp.Compile("^(?:" + matcher + ")$")
}

// Configured are the hooks of the user's configuration.
func Configured(s Source, rows map[string][]config.HookGroup) (l Loaded) {
	r := reader{source: s, to: &l}
	for _, e := range Events() {
		for _, g := range rows[string(e)] {
			match, err := matching(g.Matcher)
			if err != nil {
				r.fault(0, "hooks.%s: the matcher %.60q can't be used: %v", e, g.Matcher, err)
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
