// Package serving is what people read of MCP servers.
//
// Does: bring together where servers are configured, whether they are trusted and how they are; list them, and tell all of
// one, for a board, for /mcp list and for fantail mcp list.
//
// Does not: start or end a server, decide anything, know a screen.
//
// Imports: agents/brought, agents/servers, agents/trust, tools/mcp, tools/mcp/signin, ui/frame.
package serving

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"fantail/agents/brought"
	"fantail/agents/servers"
	"fantail/agents/trust"
	"fantail/tools/mcp"
	"fantail/tools/mcp/signin"
	"fantail/ui/frame"
)

// Live has the servers that agents use.
type Live interface {
	States() []mcp.State
	Log(name string) string
	Tools(name string) []mcp.About
	Reconnect(ctx context.Context, name string) error
	Login(ctx context.Context, name string, w signin.Waiter) error
}

// Desk is where people look at servers.
type Desk struct {
	Room *servers.Room
	Live Live // nil: nothing runs here
}

// Of is the desk of a pool's servers.
func Of(s brought.Served) Desk {
	d := Desk{Room: s.Servers}
	if s.MCP != nil {
		d.Live = s.MCP
	}
	return d
}

// Row is a server as it is listed.
type Row struct {
	servers.Entry
	Standing trust.Standing // of the workspace's
	State    mcp.State      // of one that is used; Phase "": not known
}

// ID tells a row from others.
func (r Row) ID() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Source.Name + "\x00" + r.Name))
	return int64(h.Sum64()>>1) | 1
}

// Trusted reports whether the server may start.
func (r Row) Trusted() bool { return r.Source.Own || r.Standing == trust.Agreed }

// Starts says why the server may not start; nil: it may.
func (r Row) Starts() error {
	if r.Used() && r.Trusted() {
		return nil
	}
	return fmt.Errorf("the MCP server %s does not start: %s; %s", r.Name, r.Is(), r.Says())
}

// Is says in few words how the server is.
func (r Row) Is() string {
	switch {
	case !r.Used():
		return "not used"
	case !r.Trusted():
		return r.Standing.String()
	case r.State.Phase == "" || r.State.Phase == mcp.Idle:
		return "not started yet"
	}
	return string(r.State.Phase)
}

// Says is why it is so, or what to do about it; "": nothing to say.
func (r Row) Says() string {
	switch {
	case !r.Used():
		return r.Out
	case !r.Trusted():
		return "/trust shows it and asks"
	}
	if r.State.Phase == mcp.Locked {
		return "a or /mcp login " + r.Name + " logs in"
	}
	return strings.TrimPrefix(r.State.Says, "the MCP server "+r.Name+" does not start: ") // the row names it
}

// Count is how many tools it has; "": not known.
func (r Row) Count() string {
	if !r.Used() || r.State.Tools == 0 {
		return ""
	}
	return count(r.State.Tools)
}

// Rows are all servers, and what is wrong with what configures them. It reads files.
func (d Desk) Rows() (rows []Row, faults []servers.Fault) {
	l := d.Room.List()
	states := map[string]mcp.State{}
	if d.Live != nil {
		for _, s := range d.Live.States() {
			states[s.Name] = s
		}
	}
	for _, e := range l.Entries {
		r := Row{Entry: e}
		if e.Used() {
			r.State = states[e.Name]
			r.Standing = d.Room.Standing(e)
		}
		rows = append(rows, r)
	}
	return rows, append(l.Faults, l.Ignored...)
}

// Empty says where servers are configured.
const Empty = "No MCP server is configured. They stand in .mcp.json of the workspace, as [mcp.NAME] in config.toml, or in ~/.claude.json"

// List lists all servers in lines.
func List(rows []Row, faults []servers.Fault) string {
	if len(rows) == 0 && len(faults) == 0 {
		return Empty + "."
	}
	var b strings.Builder
	b.WriteString("MCP servers:")
	for _, r := range rows {
		b.WriteString("\n  " + r.Line())
	}
	for _, f := range faults {
		b.WriteString("\n  ! " + frame.CleanLine(f.String()))
	}
	return b.String()
}

// Line is a row in a line.
func (r Row) Line() string {
	parts := []string{r.Is()}
	for _, s := range []string{r.Count(), r.Says()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return frame.CleanLine(fmt.Sprintf("%s (%s): %s · %s", r.Name, r.Place, strings.Join(parts, ", "), r.Entry.Line()))
}

// Fact is one thing about a server.
type Fact struct{ Label, Text string }

// Facts tell all of a server that is known without asking it.
func Facts(r Row, now time.Time) (all []Fact) {
	add := func(label, text string) {
		if text != "" {
			all = append(all, Fact{label, text})
		}
	}
	is := r.Is()
	if s := r.State; r.Used() && s.PID != 0 {
		is += fmt.Sprintf(", process %d", s.PID)
	}
	if s := r.State; r.Used() && !s.Since.IsZero() && s.Phase != mcp.Idle {
		is += ", since " + s.Since.In(now.Location()).Format("15:04:05")
	}
	add("is", is)
	add("says", r.Says())
	if r.Used() && r.State.Tries > 0 {
		add("failed", fmt.Sprintf("%d times since it last worked", r.State.Tries))
	}
	if r.Written.URL != "" {
		add("is at", r.Entry.Line())
	} else {
		add("runs", r.Entry.Line())
	}
	whose := "yours"
	if !r.Source.Own {
		whose = "the repository's"
	}
	add("from", r.Place+", "+whose)
	add("reads", strings.Join(r.Reads, ", "))
	if r.Honest {
		add("trusted", "to say which of its tools only read (honest)")
	}
	if r.Source.Own && r.Sampling {
		add("asks", "a model, each time with your yes (sampling)")
	}
	return all
}

// tools are those of a server, as far as it was ever asked.
func (d Desk) tools(r Row) []mcp.About {
	if d.Live == nil || !r.Used() {
		return nil
	}
	return d.Live.Tools(r.Name)
}

// bytesOfToken is how many bytes of a description are about one token.
const bytesOfToken = 4

// Brief names the tools of a server, and says what they cost.
func (d Desk) Brief(r Row) string {
	all := d.tools(r)
	switch {
	case !r.Used() || !r.Trusted():
		return ""
	case len(all) == 0:
		return "Its tools are known once it ran. r starts it."
	}
	size := 0
	var names []string
	for _, t := range all {
		size += t.Size
		name := t.Name
		if t.Changed {
			name += " (what is said of it has changed: it asks)"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%s, about %d tokens of each request: %s", count(len(all)), size/bytesOfToken, strings.Join(names, ", "))
}

func count(n int) string {
	if n == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", n)
}

// Tools tell of themselves. What is said there comes from the server.
func (d Desk) Tools(r Row) string {
	all := d.tools(r)
	if len(all) == 0 {
		return "Nobody knows its tools before it ran."
	}
	var b strings.Builder
	b.WriteString("What follows is what the server says of itself. A call asks you, unless a rule or an answer of yours lets the tool run.\n")
	for _, t := range all {
		fmt.Fprintf(&b, "\n%s\n", frame.CleanLine(t.As))
		switch {
		case t.Reads && r.Honest:
			b.WriteString("  only reads, as you trust the server to say\n")
		case t.Reads:
			b.WriteString("  only reads, it says\n")
		}
		if t.Changed {
			b.WriteString("  what it says has changed since you agreed to it: the next call asks, and shows how\n")
		}
		for line := range strings.Lines(frame.Clean(t.Says)) {
			b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Log is what the server wrote to its standard error, and what became of it.
func (d Desk) Log(r Row) string {
	text := ""
	if d.Live != nil && r.Used() {
		text = d.Live.Log(r.Name)
	}
	if strings.TrimSpace(text) == "" {
		return "It wrote nothing."
	}
	return frame.Clean(text)
}

// Reconnect ends a server if it runs, and starts it.
func (d Desk) Reconnect(ctx context.Context, name string) (string, error) {
	if d.Live == nil {
		return "", errors.New("no server runs here")
	}
	if err := d.Live.Reconnect(ctx, name); err != nil {
		return "", err
	}
	return d.there(name, name+" is there"), nil
}

// Login has the human log in to a server, and starts it.
func (d Desk) Login(ctx context.Context, name string, w signin.Waiter) (string, error) {
	if d.Live == nil {
		return "", errors.New("no server runs here")
	}
	r, err := d.Find(name)
	if err != nil {
		return "", err
	}
	if err := r.Starts(); err != nil {
		return "", err
	}
	if err := d.Live.Login(ctx, r.Name, w); err != nil {
		return "", err
	}
	return d.there(r.Name, "you are logged in to "+r.Name), nil
}

// there adds to text how many tools a server has.
func (d Desk) there(name, text string) string {
	for _, s := range d.Live.States() {
		if s.Name == name && s.Tools > 0 {
			text += ", with " + count(s.Tools)
		}
	}
	return text
}

// Args are the arguments of /mcp.
const Args = "[list | login NAME | reconnect NAME | log NAME | tools NAME]"

// Verbs are their first words.
func Verbs() []string { return []string{"list", "login", "reconnect", "log", "tools"} }

// Run carries out what stands behind /mcp; false: it is not understood.
func (d Desk) Run(args string) (do func(ctx context.Context) (string, error), ok bool) {
	words := strings.Fields(args)
	if len(words) == 1 && words[0] == "list" {
		return func(context.Context) (string, error) { return List(d.Rows()), nil }, true
	}
	if len(words) != 2 {
		return nil, false
	}
	of := map[string]func(r Row) string{"log": d.Log, "tools": d.Tools}[words[0]]
	if of == nil && words[0] != "reconnect" {
		return nil, false
	}
	return func(ctx context.Context) (string, error) {
		r, err := d.Find(words[1])
		switch {
		case err != nil:
			return "", err
		case of != nil:
			return of(r), nil
		}
		if err := r.Starts(); err != nil {
			return "", err
		}
		return d.Reconnect(ctx, r.Name)
	}, true
}

// Find finds the server of that name that is used, or else the first.
func (d Desk) Find(name string) (Row, error) {
	rows, _ := d.Rows()
	at := -1
	for n, r := range rows {
		if r.Name == name && (at < 0 || r.Used()) {
			at = n
		}
	}
	if at < 0 {
		return Row{}, fmt.Errorf("there is no MCP server %s; /mcp lists those that are configured", frame.CleanLine(name))
	}
	return rows[at], nil
}
