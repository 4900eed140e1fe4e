package mcpconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/secret"
)

const (
	maxProject = 1 << 20  // bytes of a workspace's file
	maxClaude  = 64 << 20 // of Claude Code's, most of which are its own affairs
	maxBlock   = 1 << 20  // of the servers in it
	maxServers = 200      // of one source
	maxText    = 16 << 10 // bytes of one text of a server
	maxFaults  = 50       // that are reported of one source
)

// reader reads one source.
type reader struct {
	source Source
	from   spot   // where data begins
	data   []byte // what holds the servers
	to     *Listing
	told   int

	env  func(name string) (string, bool)
	keys *secret.Keys
}

// refused are the keys of a server that other tools' files may have but that have no effect here, and why.
var refused = map[string]string{
	"headersHelper": "it names a program that hands out headers", "cwd": "a server is started in the workspace", "envFile": "files of variables are not read",
	"alwaysAllow": "what its tools may do is asked", "autoApprove": "what its tools may do is asked", "trust": "what its tools may do is asked", "tools": "what its tools may do is asked",
	"honest": "whether it says the truth of its tools is the user's to say, in ~/.config/fantail/config.toml", "sampling": "whether it may ask your model is yours to say, in ~/.config/fantail/config.toml",
	"timeout": "how long its calls may take is the user's to say",
}

// switches are the top-level keys of a workspace's file that would start servers unasked.
var switches = []string{"enableAllProjectMcpServers", "enabledMcpjsonServers"}

// read reads the source's file from the beginning of r.
func (d *reader) read(r io.Reader) {
	source := d.source
	if !source.Own {
		data, err := io.ReadAll(r)
		if err != nil {
			d.fault(spot{1, 1}, "%v", err)
			return
		}
		data = config.BareJSON(data)
		if len(bytes.TrimSpace(data)) == 0 {
			return
		}
		if at, err := invalid(data); err != nil {
			d.fault(at, "this is no JSON, so nothing of it is used: %v", err)
			return
		}
		r = bytes.NewReader(data)
	}
	all, at, err := scan(r, "mcpServers", maxBlock)
	seen := false
	for n := len(all) - 1; n >= 0; n-- { // the last value counts, as usual with JSON
		m := all[n]
		switch {
		case m.data == nil && !source.Own && slices.Contains(switches, m.key):
			d.ignored(m.at, m.key+" is not taken from a repository: it would start servers unasked")
		case m.data == nil:
		case seen:
			d.fault(m.at, "mcpServers stands here twice: only the last counts")
		default:
			seen = true
			d.from, d.data = m.from, m.data
			d.servers()
		}
	}
	if err != nil {
		d.fault(at, "%v", err)
	}
}

// invalid says where a text is no JSON.
func invalid(data []byte) (spot, error) {
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	if err == nil {
		return spot{}, nil
	}
	at := len(data)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = max(0, int(syntax.Offset)-1)
	}
	return in(data, at, spot{1, 1}), err
}

// in returns the place of an offset in data, which begins at from.
func in(data []byte, at int, from spot) spot {
	before := data[:min(at, len(data))]
	if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
		return spot{from.line + bytes.Count(before, []byte("\n")), len(before) - n}
	}
	return spot{from.line, from.column + len(before)}
}

func (d *reader) fault(at spot, format string, args ...any) {
	if d.told++; d.told <= maxFaults {
		d.to.Faults = append(d.to.Faults, Fault{put(d.source.Name, at.line, at.column), fmt.Sprintf(format, args...)})
	}
}

func (d *reader) ignored(at spot, text string) {
	if d.told++; d.told <= maxFaults {
		d.to.Ignored = append(d.to.Ignored, Fault{put(d.source.Name, at.line, at.column), text})
	}
}

func (d *reader) spot(at int) spot { return in(d.data, at, d.from) }

// field is a member of an object: its name, its value and where both begin.
type field struct {
	key       string
	at, value int
	data      []byte
}

// fields returns the members of the object at that offset, in their order. Of two with one name the last counts.
func (d *reader) fields(data []byte, offset int) (all []field, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	t, err := dec.Token()
	if err == nil && t != json.Delim('{') {
		d.fault(d.spot(offset), "an object { } was expected")
		return nil, false
	}
	for err == nil && dec.More() {
		f := field{at: int(dec.InputOffset())}
		for f.at < len(data) && data[f.at] != '"' {
			f.at++
		}
		f.at += offset
		if t, err = dec.Token(); err != nil {
			break
		}
		f.key, _ = t.(string)
		raw := json.RawMessage{}
		if err = dec.Decode(&raw); err != nil {
			break
		}
		f.value, f.data = offset+int(dec.InputOffset())-len(raw), raw
		if n := slices.IndexFunc(all, func(o field) bool { return o.key == f.key }); n >= 0 {
			d.fault(d.spot(all[n].at), "%s stands here twice: only the last counts", plain(cut(f.key)))
			all = slices.Delete(all, n, n+1)
		}
		all = append(all, f)
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err != nil {
		d.fault(d.spot(offset+int(dec.InputOffset())), "this is no JSON: %v", err)
		return nil, false
	}
	return all, true
}

// servers reads the value of mcpServers.
func (d *reader) servers() {
	all, ok := d.fields(d.data, 0)
	if !ok {
		return
	}
	if len(all) > maxServers {
		d.fault(d.spot(all[maxServers].at), "there are more than %d servers", maxServers)
		all = all[:maxServers]
	}
	for _, f := range all {
		d.server(f)
	}
}

// server reads one server.
func (d *reader) server(f field) {
	at := d.spot(f.at)
	f.key = strings.TrimSpace(f.key)
	if err := config.ServerName(f.key); err != nil {
		d.fault(at, "%s: %v", plain(cut(f.key)), err)
		return
	}
	e := Entry{Source: d.source, Written: mcp.Server{Name: f.key, Own: d.source.Own, Place: put(d.source.Name, at.line, at.column)}}
	e.Server = e.Written
	bad := func(offset int, format string, args ...any) {
		if e.Out == "" {
			e.Out = fmt.Sprintf(format, args...)
			d.fault(d.spot(offset), "%s: %s", f.key, e.Out)
		}
	}
	fields, ok := d.fields(f.data, f.value)
	if !ok {
		e.Out = "it can't be read"
		d.to.Entries = append(d.to.Entries, e)
		return
	}
	of := one{Entry: &e, bad: bad, at: f.at, places: map[string]int{}, ignored: func(offset int, key, why string) {
		d.ignored(d.spot(offset), f.key+": "+key+" is not used: "+why)
	}}
	for _, x := range fields {
		of.field(d, x)
	}
	of.suits()
	if e.Used() {
		if wrong := e.fill(d.env, d.keys); wrong != nil {
			bad(of.place(wrong.key), "%s: %v", wrong.key, wrong.err)
		}
	}
	d.to.Entries = append(d.to.Entries, e)
}

// one is a server that is being read.
type one struct {
	*Entry
	bad      func(offset int, format string, args ...any)
	ignored  func(offset int, key, why string)
	at       int
	kind     string
	disabled bool
	places   map[string]int // of its texts
	odd      []string       // command, url: not a text
}

// place returns where one of its texts begins.
func (o *one) place(key string) int {
	if at, known := o.places[key]; known {
		return at
	}
	return o.at
}

// field reads one of its fields.
func (o *one) field(d *reader, f field) {
	if empty(f.data) { // as if it were missing
		return
	}
	o.places[f.key] = f.value
	w := &o.Written
	switch f.key {
	case "type", "transport":
		if json.Unmarshal(f.data, &o.kind) != nil {
			o.ignored(f.at, f.key, "it is no text")
		}
	case "command":
		words, is := list(f.data)
		switch {
		case json.Unmarshal(f.data, &w.Command) == nil:
		case is && len(words) > 0: // the whole command line
			w.Command, w.Args = words[0], append(words[1:], w.Args...)
		default:
			o.odd = append(o.odd, f.key)
		}
	case "url":
		if json.Unmarshal(f.data, &w.URL) != nil {
			o.odd = append(o.odd, f.key)
		}
	case "args":
		if words, is := list(f.data); is {
			w.Args = append(w.Args, words...)
		} else {
			o.bad(f.value, "args: a list of texts was expected")
		}
	case "env":
		w.Env = o.texts(d, f)
	case "headers":
		w.Headers = o.texts(d, f)
	case "disabled":
		if text, _ := scalar(f.data); slices.Contains([]string{"true", "1"}, text) {
			o.disabled = true
		} else if !slices.Contains([]string{"false", "0"}, text) { // it may be meant to be off
			o.bad(f.value, "disabled: true or false was expected")
		}
	case "timeout":
		o.timeout(f)
	case "oauth":
		o.oauth(d, f)
	default:
		if why := refused[f.key]; why != "" {
			o.ignored(f.at, f.key, why)
		}
	}
}

// empty reports whether a value is empty.
func empty(data []byte) bool {
	if text := string(data); text == "null" || text == `""` {
		return true
	}
	inside := bytes.TrimSpace(data[1 : max(2, len(data))-1])
	return len(inside) == 0 && (data[0] == '[' || data[0] == '{')
}

// scalar returns a text, or a number or a truth as it is written.
func scalar(data []byte) (text string, is bool) {
	if json.Unmarshal(data, &text) == nil {
		return text, string(data) != "null"
	}
	return string(data), !strings.ContainsRune(`[{"`, rune(data[0]))
}

// list parses a list of texts. It skips null elements.
func list(data []byte) (words []string, is bool) {
	var all []json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil, false
	}
	for _, one := range all {
		if string(one) == "null" {
			continue
		}
		text, is := scalar(one)
		if !is {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// timeout parses how long a call may take, in milliseconds, from a file of the user's.
func (o *one) timeout(f field) {
	ms := 0.0
	switch {
	case !o.Source.Own:
		o.ignored(f.at, f.key, refused[f.key])
	case json.Unmarshal(f.data, &ms) != nil || ms < 1000 || ms > float64(time.Hour.Milliseconds()):
		o.ignored(f.at, f.key, "it is no number of milliseconds from a second to an hour")
	default:
		o.Written.Timeout = time.Duration(ms) * time.Millisecond
	}
}

// oauth reads the client that was registered for us.
func (o *one) oauth(d *reader, f field) {
	if f.data[0] != '{' {
		o.ignored(f.at, f.key, "an object { } was expected")
		return
	}
	below, _ := d.fields(f.data, f.value)
	for _, x := range below {
		switch x.key {
		case "clientId":
			if json.Unmarshal(x.data, &o.Written.Client) != nil {
				o.ignored(x.at, "oauth.clientId", "it is no text")
			}
		case "callbackPort":
			if n := &o.Written.Port; json.Unmarshal(x.data, n) != nil || !config.Port(*n) {
				*n = 0
				o.ignored(x.at, "oauth.callbackPort", "it is no port from 1024 to 65535")
			}
		}
	}
}

// texts are texts by their names.
func (o *one) texts(d *reader, f field) map[string]string {
	if f.data[0] != '{' {
		o.bad(f.value, "%s: an object { } of texts was expected", f.key)
		return nil
	}
	below, _ := d.fields(f.data, f.value)
	all := map[string]string{}
	for _, x := range below {
		o.places[f.key+"."+x.key] = x.value
		text, is := scalar(x.data)
		switch {
		case is:
			all[x.key] = text
		case string(x.data) != "null":
			o.bad(x.value, "%s.%s: a text was expected", f.key, plain(cut(x.key)))
		}
	}
	return all
}

// suits checks whether the fields fit together.
func (o *one) suits() {
	w := &o.Written
	kind := strings.ToLower(o.kind)
	for _, key := range o.odd {
		if w.Command == "" && w.URL == "" {
			o.bad(o.places[key], "%s: a text was expected", key)
		} else {
			o.ignored(o.places[key], key, "it is no text")
		}
	}
	switch {
	case o.disabled:
		if o.Out == "" {
			o.Out = "it is switched off there"
		}
		return
	case kind == "sse":
		o.bad(o.places["type"], "type \"sse\" is not spoken: the protocol has streamable HTTP in its place since 2025-03-26; ask its vendor for that address, and say \"type\": \"http\"")
	case !slices.Contains([]string{"", "stdio", "http", "streamable-http", "streamablehttp", "streamable_http"}, kind):
		o.bad(o.places["type"], "type %s is not spoken: stdio and http are", plain(cut(o.kind)))
	case w.Command == "" && w.URL == "":
		o.bad(o.at, "there is neither a command nor a url")
	case w.Command != "" && w.URL != "":
		o.bad(o.places["url"], "command and url exclude each other")
	case kind == "stdio" && w.Command == "":
		o.bad(o.at, "there is no command")
	case kind != "" && kind != "stdio" && w.URL == "":
		o.bad(o.at, "there is no url")
	case w.URL == "":
		w.Headers = nil
	default:
		w.Args, w.Env = nil, nil
	}
	o.small("command", w.Command)
	o.small("url", w.URL)
	for _, a := range w.Args {
		o.small("args", a)
	}
	for _, k := range sorted(w.Env) {
		if o.small("env."+k, w.Env[k]); !config.VariableName(k) {
			o.bad(o.places["env."+k], "env: %s is no name of a variable", plain(cut(k)))
		}
	}
	for _, k := range sorted(w.Headers) {
		o.small("headers."+k, w.Headers[k])
		if err := config.Header(k, w.Headers[k]); err != nil {
			o.bad(o.places["headers."+k], "headers: %s: %v", plain(cut(k)), err)
		}
	}
}

// small checks whether a text can be passed to a program.
func (o *one) small(key, text string) {
	switch {
	case len(text) > maxText:
		o.bad(o.places[key], "%s: it has %d bytes, at most %d are used", key, len(text), maxText)
	case strings.ContainsRune(text, 0), key == "command" && strings.ContainsFunc(text, unicode.IsControl):
		o.bad(o.places[key], "%s: it holds what no program's name or argument holds", key)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
