package servers

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
	mostProject = 1 << 20  // bytes of a workspace's file
	mostClaude  = 64 << 20 // of Claude Code's, most of which are its own affairs
	mostBlock   = 1 << 20  // of the servers in it
	mostServers = 200      // of one source
	mostText    = 16 << 10 // bytes of one text of a server
	mostFaults  = 50       // that are told of one source
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

// refused are the keys of a server that some file of another tool has and no file sets here, and why.
var refused = map[string]string{
	"headersHelper": "it names a program that hands out headers", "cwd": "a server is started in the workspace", "envFile": "files of variables are not read",
	"alwaysAllow": "what its tools may do is asked", "autoApprove": "what its tools may do is asked", "trust": "what its tools may do is asked", "tools": "what its tools may do is asked",
	"honest": "whether it says the truth of its tools is the user's to say, in config.toml", "sampling": "whether it may ask your model is yours to say, in config.toml",
	"timeout": "how long its calls may take is the user's to say",
}

// switches are the keys at the top of a workspace's file that would start servers unasked.
var switches = []string{"enableAllProjectMcpServers", "enabledMcpjsonServers"}

// read reads what the file of the source holds, which r has from its beginning.
func (d *reader) read(r io.Reader) {
	source := d.source
	if !source.Own {
		data, err := io.ReadAll(r)
		if err != nil {
			d.fault(spot{1, 1}, "%v", err)
			return
		}
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		if len(bytes.TrimSpace(data)) == 0 {
			return
		}
		if at, err := invalid(data); err != nil {
			d.fault(at, "this is no JSON, so nothing of it is used: %v", err)
			return
		}
		r = bytes.NewReader(data)
	}
	all, at, err := scan(r, "mcpServers", mostBlock)
	seen := false
	for n := len(all) - 1; n >= 0; n-- { // what is said last holds, as everywhere with JSON
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
		if at < len(data) && data[at] == '/' {
			err = errors.New("comments are not part of it")
		}
	}
	return in(data, at, spot{1, 1}), err
}

// in is the place of an offset in data, which begins at from.
func in(data []byte, at int, from spot) spot {
	before := data[:min(at, len(data))]
	if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
		return spot{from.line + bytes.Count(before, []byte("\n")), len(before) - n}
	}
	return spot{from.line, from.column + len(before)}
}

func (d *reader) fault(at spot, format string, args ...any) {
	if d.told++; d.told <= mostFaults {
		d.to.Faults = append(d.to.Faults, Fault{put(d.source.Name, at.line, at.column), fmt.Sprintf(format, args...)})
	}
}

func (d *reader) ignored(at spot, text string) {
	if d.told++; d.told <= mostFaults {
		d.to.Ignored = append(d.to.Ignored, Fault{put(d.source.Name, at.line, at.column), text})
	}
}

func (d *reader) spot(at int) spot { return in(d.data, at, d.from) }

// field is a field of an object: its name, its value and where both begin.
type field struct {
	key       string
	at, value int
	data      []byte
}

// fields are the fields of the object that stands at that offset, in their order. Of two with one name the last counts.
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

// servers reads what stands below mcpServers.
func (d *reader) servers() {
	all, ok := d.fields(d.data, 0)
	if !ok {
		return
	}
	if len(all) > mostServers {
		d.fault(d.spot(all[mostServers].at), "there are more than %d servers", mostServers)
		all = all[:mostServers]
	}
	for _, f := range all {
		d.server(f)
	}
}

// server reads one server.
func (d *reader) server(f field) {
	at := d.spot(f.at)
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
}

// place is where one of its texts begins.
func (o *one) place(key string) int {
	if at, known := o.places[key]; known {
		return at
	}
	return o.at
}

// field takes in one of its fields.
func (o *one) field(d *reader, f field) {
	o.places[f.key] = f.value
	w := &o.Written
	switch f.key {
	case "type", "transport":
		o.text(f, &o.kind)
	case "command":
		o.text(f, &w.Command)
	case "url":
		o.text(f, &w.URL)
	case "args":
		if json.Unmarshal(f.data, &w.Args) != nil || string(f.data) == "null" {
			o.bad(f.value, "args: a list of texts was expected")
		}
	case "env":
		w.Env = o.texts(d, f)
	case "headers":
		w.Headers = o.texts(d, f)
	case "disabled":
		if json.Unmarshal(f.data, &o.disabled) != nil {
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

// timeout takes in how long a call may take, in milliseconds, from a file of the user's.
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

// oauth takes in the client that was registered for us.
func (o *one) oauth(d *reader, f field) {
	below, ok := d.fields(f.data, f.value)
	if !ok {
		return
	}
	for _, x := range below {
		switch x.key {
		case "clientId":
			o.text(x, &o.Written.Client)
		case "callbackPort":
			if n := &o.Written.Port; json.Unmarshal(x.data, n) != nil || !config.Port(*n) {
				*n = 0
				o.ignored(x.at, "oauth.callbackPort", "it is no port from 1024 to 65535")
			}
		}
	}
}

// text takes in a text.
func (o *one) text(f field, to *string) {
	if json.Unmarshal(f.data, to) != nil || string(f.data) == "null" {
		o.bad(f.value, "%s: a text was expected", f.key)
	}
}

// texts are texts by their names.
func (o *one) texts(d *reader, f field) map[string]string {
	below, ok := d.fields(f.data, f.value)
	if !ok {
		o.bad(f.value, "%s: an object { } of texts was expected", f.key)
		return nil
	}
	all := map[string]string{}
	for _, x := range below {
		text := ""
		o.places[f.key+"."+x.key] = x.value
		if json.Unmarshal(x.data, &text) != nil || string(x.data) == "null" {
			o.bad(x.value, "%s.%s: a text was expected", f.key, plain(cut(x.key)))
		}
		all[x.key] = text
	}
	return all
}

// suits looks whether what was read goes together.
func (o *one) suits() {
	w := &o.Written
	kind := strings.ToLower(o.kind)
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

// small looks whether a text is one that a program can be given.
func (o *one) small(key, text string) {
	switch {
	case len(text) > mostText:
		o.bad(o.places[key], "%s: it has %d bytes, at most %d are used", key, len(text), mostText)
	case strings.ContainsRune(text, 0), key == "command" && strings.ContainsFunc(text, unicode.IsControl):
		o.bad(o.places[key], "%s: it holds what no program's name or argument holds", key)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
