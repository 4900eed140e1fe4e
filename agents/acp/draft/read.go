package draft

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"
	"sync"

	"fantail/agents/acp/schema"
)

// The bounds of what is kept over several updates.
const (
	mostMessages  = 1000 // of which how far they were told
	mostTerminals = 1000 // of which whose they are
)

// Reader reads what an agent says of its session. It is safe for concurrent use.
type Reader struct {
	mu        sync.Mutex
	told      map[message]*told
	order     []message // of told, the oldest first
	terminals map[string]terminal
	booleans  map[string]bool // settings that are on or off
}

// message names one: those of each voice have names of their own.
type message struct {
	of schema.Voice
	id string
}

// told is how far a message was told.
type told struct {
	size int
	sum  hash.Hash64
	next int // how often it was told anew
}

// terminal is one of the agent's.
type terminal struct {
	call  string
	wrote bool
}

// News is what one update says.
type News struct {
	Session string
	Updates []schema.Update
	State   *State // nil: it says nothing of that
	Came    string // the message of the user's that is in its place; "": none is
}

// Read reads the parameters of a session/update. It never fails: what can't be read is an [schema.Unknown].
func (r *Reader) Read(params json.RawMessage) (n News) {
	var p struct {
		Session schema.Maybe[string] `json:"sessionId"`
		Update  json.RawMessage      `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return News{Updates: []schema.Update{schema.Unknown{Kind: "?", Why: err.Error()}}}
	}
	n.Session = p.Session.V
	var k struct {
		Kind schema.Maybe[string] `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(p.Update, &k)
	switch read, changed := readers[k.Kind.V]; {
	case !k.Kind.OK:
		n.Updates = []schema.Update{schema.Unknown{Kind: "?", Why: "it does not say what it is"}}
	case changed:
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := read(r, p.Update, &n); err != nil {
			n.Updates = []schema.Update{schema.Unknown{Kind: k.Kind.V, Why: err.Error()}}
		}
	case k.Kind.V == "config_option_update":
		var s Settings
		_ = json.Unmarshal(p.Update, &s)
		n.Updates = []schema.Update{schema.Options{All: schema.List[schema.Option]{All: r.Listed(s.Options), OK: s.Options.OK}}}
	case same[k.Kind.V]:
		_, u := schema.ReadUpdate(params)
		n.Updates = []schema.Update{u}
	default:
		n.Updates = []schema.Update{schema.Unknown{Kind: k.Kind.V}}
	}
	return n
}

// same are the kinds of updates that are as in version 1.
var same = map[string]bool{
	"usage_update": true, "session_info_update": true, "notice": true, "compaction_update": true, "available_commands_update": true,
}

// readers read those that are not.
var readers = map[string]func(r *Reader, text json.RawMessage, n *News) error{
	"agent_message_chunk":      piece(schema.Answer),
	"agent_thought_chunk":      piece(schema.Thought),
	"user_message_chunk":       piece(schema.Heard),
	"agent_message":            whole(schema.Answer),
	"agent_thought":            whole(schema.Thought),
	"user_message":             whole(schema.Heard),
	"state_update":             state,
	"tool_call_update":         call,
	"tool_call_content_chunk":  part,
	"terminal_update":          shows,
	"terminal_output_chunk":    writes,
	"plan_update":              plan,
	"compaction_summary_chunk": func(*Reader, json.RawMessage, *News) error { return nil }, // that it was compacted is told
}

var (
	errNoContent = errors.New("it has no content")
	errNoID      = errors.New("it has no id")
	errLongID    = errors.New("its id is too long")
)

// named checks an id.
func named(id string) error {
	switch n := len(id); {
	case n == 0:
		return errNoID
	case n > schema.MostID:
		return errLongID
	}
	return nil
}

// of returns how far a message was told.
func (r *Reader) of(m message) *told {
	if t := r.told[m]; t != nil {
		return t
	}
	if r.told == nil {
		r.told = map[message]*told{}
	}
	if len(r.order) >= mostMessages {
		delete(r.told, r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, m)
	r.told[m] = &told{sum: fnv.New64a()}
	return r.told[m]
}

func (t *told) takes(text string) {
	_, _ = t.sum.Write([]byte(text))
	t.size += len(text)
}

// chunk is a piece of a message.
func (t *told) chunk(m message, block schema.Block) schema.Chunk {
	id := m.id
	if t.next > 0 {
		id = fmt.Sprintf("%s (%d)", id, t.next+1)
	}
	return schema.Chunk{Of: m.of, Message: id, Block: block}
}

func piece(of schema.Voice) func(*Reader, json.RawMessage, *News) error {
	return func(r *Reader, text json.RawMessage, n *News) error {
		var c struct {
			ID      string        `json:"messageId"`
			Content *schema.Block `json:"content"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		if err := named(c.ID); err != nil {
			return err
		}
		if c.Content == nil || c.Content.Type == "" {
			return errNoContent
		}
		m := message{of, c.ID}
		t := r.of(m)
		t.takes(c.Content.Words())
		n.Updates = []schema.Update{t.chunk(m, *c.Content)}
		if of == schema.Heard {
			n.Came = c.ID
		}
		return nil
	}
}

// whole reads a message that comes whole, of which pieces may have come. What was not told of it is; what it says in place of
// what was told is told anew, as another message: what was said can't be taken back.
func whole(of schema.Voice) func(*Reader, json.RawMessage, *News) error {
	return func(r *Reader, text json.RawMessage, n *News) error {
		var c struct {
			ID      string                    `json:"messageId"`
			Content schema.List[schema.Block] `json:"content"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		if err := named(c.ID); err != nil {
			return err
		}
		var b strings.Builder
		for _, block := range c.Content.All {
			b.WriteString(block.Words())
		}
		m, all := message{of, c.ID}, b.String()
		if of == schema.Heard {
			n.Came = c.ID
		}
		t := r.of(m)
		if t.size > len(all) {
			return nil
		}
		begins := fnv.New64a()
		_, _ = begins.Write([]byte(all[:t.size]))
		if begins.Sum64() != t.sum.Sum64() {
			t.next++
			t.size, t.sum = 0, fnv.New64a()
		}
		rest := all[t.size:]
		t.takes(rest)
		if rest != "" || of == schema.Heard {
			n.Updates = []schema.Update{t.chunk(m, schema.Block{Type: "text", Text: rest})}
		}
		return nil
	}
}

func state(_ *Reader, text json.RawMessage, n *News) error {
	var s struct {
		State string               `json:"state"`
		Stop  schema.Maybe[string] `json:"stopReason"`
		Error schema.Maybe[struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}] `json:"error"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	n.State = &State{Busy: s.State != "idle"} // one that is unknown is not idle
	if !n.State.Busy {
		n.State.Stop, n.State.Code, n.State.Why = s.Stop.V, s.Error.V.Code, s.Error.V.Message
	}
	return nil
}

// field is one that may be null, which is more than that it is not there.
type field struct {
	schema.Maybe[string]
	null bool
}

func (f *field) UnmarshalJSON(text []byte) error {
	f.null = string(text) == "null"
	return f.Maybe.UnmarshalJSON(text)
}

// or is the field, where null means that.
func (f field) or(def string) schema.Maybe[string] {
	if f.null {
		return schema.Maybe[string]{V: def, OK: true}
	}
	return f.Maybe
}

// content is what a call made.
type content struct {
	schema.Content
	terminal string
}

// change is what was done to a file.
type change struct {
	What string               `json:"operation"`
	Path string               `json:"path"`
	Old  schema.Maybe[string] `json:"oldPath"`
}

func (c *content) UnmarshalJSON(text []byte) error {
	var d struct {
		Type     string              `json:"type"`
		Block    schema.Block        `json:"content"`
		Terminal string              `json:"terminalId"`
		Changes  schema.List[change] `json:"changes"`
		Patch    schema.Maybe[struct {
			Format string `json:"format"`
			Text   string `json:"text"`
		}] `json:"patch"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	c.Type, c.Block, c.terminal = d.Type, d.Block, d.Terminal
	if d.Type != "diff" {
		return nil
	}
	var did []string
	for _, x := range d.Changes.All {
		what := x.What + " " + x.Path
		if x.Old.OK {
			what = x.What + " " + x.Old.V + " to " + x.Path
		}
		did = append(did, what)
		if c.Path == "" {
			c.Path = x.Path
		}
	}
	if c.Patch = patched(d.Patch.V.Text); d.Patch.V.Format != "git_patch" || c.Patch == "" {
		c.Type, c.Patch = "content", ""
		c.Block = schema.Block{Type: "text", Text: strings.Join(did, "\n")}
	}
	return nil
}

// patched is a patch as git writes it without the lines that only git reads.
func patched(text string) string {
	var b strings.Builder
	left := false // what comes is no line of a file
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			left = true
		case strings.HasPrefix(line, "@@"):
			left = false
			b.WriteString(line)
		case !left, strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "rename "),
			strings.HasPrefix(line, "copy "), strings.HasPrefix(line, "Binary "):
			b.WriteString(line)
		}
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// contents are what a call made, as version 1 says it. Terminals are kept as the call's.
func (r *Reader) contents(call string, of []content) (all []schema.Content) {
	for _, c := range of {
		if c.Type == "terminal" && len(c.terminal) <= schema.MostID && (len(r.terminals) < mostTerminals || r.terminals[c.terminal].call != "") {
			if r.terminals == nil {
				r.terminals = map[string]terminal{}
			}
			r.terminals[c.terminal] = terminal{call, r.terminals[c.terminal].wrote}
		}
		all = append(all, c.Content)
	}
	return all
}

// statuses are those that version 1 has not, as it would say them.
var statuses = map[string]string{"pending": "pending", "completed": "completed", "failed": "failed", "cancelled": "failed"}

// update is a call's.
type update struct {
	ID        string                       `json:"toolCallId"`
	Name      field                        `json:"name"`
	Title     field                        `json:"title"`
	Kind      field                        `json:"kind"`
	Status    field                        `json:"status"`
	Content   json.RawMessage              `json:"content"`
	Locations schema.List[schema.Location] `json:"locations"`
	Input     json.RawMessage              `json:"rawInput"`
	Output    json.RawMessage              `json:"rawOutput"`
}

// readCall reads a call, or what changed of it.
func readCall(text json.RawMessage) (schema.ToolCall, error) { return new(Reader).call(text) }

func (r *Reader) call(text json.RawMessage) (schema.ToolCall, error) {
	var u update
	if err := json.Unmarshal(text, &u); err != nil {
		return schema.ToolCall{}, err
	}
	if err := named(u.ID); err != nil {
		return schema.ToolCall{}, err
	}
	c := schema.ToolCall{
		ID: u.ID, Name: u.Name.or(""), Title: u.Title.or(""), Kind: u.Kind.or("other"), Status: u.Status.or("pending"), Locations: u.Locations,
	}
	if c.Status.OK {
		if c.Status.V = statuses[c.Status.V]; c.Status.V == "" { // one that is unknown goes on
			c.Status.V = "in_progress"
		}
	}
	if len(u.Content) > 0 {
		var made schema.List[content]
		if json.Unmarshal(u.Content, &made) == nil && (made.OK || string(u.Content) == "null") {
			c.Content = schema.List[schema.Content]{All: r.contents(u.ID, made.All), OK: true}
		}
	}
	for _, raw := range []struct {
		from json.RawMessage
		to   *json.RawMessage
	}{{u.Input, &c.Input}, {u.Output, &c.Output}} {
		if string(raw.from) != "null" {
			*raw.to = raw.from
		}
	}
	return c, nil
}

func call(r *Reader, text json.RawMessage, n *News) error {
	c, err := r.call(text)
	n.Updates = []schema.Update{c}
	return err
}

// part reads one thing more that a call has made.
func part(r *Reader, text json.RawMessage, n *News) error {
	var p struct {
		ID      string   `json:"toolCallId"`
		Content *content `json:"content"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if err := named(p.ID); err != nil {
		return err
	}
	if p.Content == nil || p.Content.Type == "" {
		return errNoContent
	}
	made := schema.List[schema.Content]{All: r.contents(p.ID, []content{*p.Content}), OK: true}
	n.Updates = []schema.Update{schema.ToolCall{ID: p.ID, Content: made, More: true}}
	return nil
}

// wrote is that a call's command has written something.
func wrote(call, text string) schema.ToolCall {
	c := schema.ToolCall{ID: call}
	c.Meta.OK, c.Meta.V.Output.OK, c.Meta.V.Output.V.Data = true, true, text
	return c
}

// writes reads what a terminal shows next. One that is no call's has nobody to show it.
func writes(r *Reader, text json.RawMessage, n *News) error {
	var t struct {
		ID   string `json:"terminalId"`
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	if of, known := r.terminals[t.ID]; known {
		r.terminals[t.ID] = terminal{of.call, true}
		n.Updates = []schema.Update{wrote(of.call, string(t.Data))}
	}
	return nil
}

// shows reads what is new of a terminal: what it shows, if nothing of that came in pieces, and how its command has ended.
func shows(r *Reader, text json.RawMessage, n *News) error {
	var t struct {
		ID     string `json:"terminalId"`
		Output schema.Maybe[struct {
			Data string `json:"data"`
		}] `json:"output"`
		Exit schema.Maybe[struct {
			Code schema.Maybe[int] `json:"exitCode"`
		}] `json:"exitStatus"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	of, known := r.terminals[t.ID]
	if !known {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(t.Output.V.Data)
	if err != nil {
		return err
	}
	if len(data) > 0 && !of.wrote {
		r.terminals[t.ID] = terminal{of.call, true}
		n.Updates = append(n.Updates, wrote(of.call, string(data)))
	}
	if code := t.Exit.V.Code; code.OK {
		n.Updates = append(n.Updates, schema.ToolCall{ID: of.call, Output: json.RawMessage(fmt.Sprintf(`{"exit_code":%d}`, code.V))})
	}
	return nil
}

func plan(_ *Reader, text json.RawMessage, n *News) error {
	var p struct {
		Plan struct {
			Type string `json:"type"`
			schema.Plan
		} `json:"plan"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if p.Plan.Type != "items" {
		return errors.New("its form is not known: " + p.Plan.Type)
	}
	n.Updates = []schema.Update{p.Plan.Plan}
	return nil
}
