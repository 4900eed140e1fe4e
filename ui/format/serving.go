package format

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"fantail/agents/hooks"
	"fantail/agents/mcpconfig"
	"fantail/tools/mcp"
	"fantail/ui/cells"
)

// LiveServers are the running servers that agents use.
type LiveServers interface {
	States() []mcp.State
	Log(name string) string
	Tools(name string) []mcp.ToolInfo
	Reconnect(ctx context.Context, name string) error
	Login(ctx context.Context, name string, w mcp.LoginWaiter) error
}

// Servers shows the MCP servers to people.
type Servers struct {
	Config *mcpconfig.Servers
	Live   LiveServers // nil: no servers run here
}

// ServersOf returns the Servers of a pool.
func ServersOf(s mcpconfig.Served) Servers {
	d := Servers{Config: s.Servers}
	if s.MCP != nil {
		d.Live = s.MCP
	}
	return d
}

// ServerRow is a server in a list.
type ServerRow struct {
	mcpconfig.Entry
	Standing hooks.TrustState // for the workspace's servers
	State    mcp.State        // for a server that is used; Phase "": unknown
}

// ID identifies a row.
func (r ServerRow) ID() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Source.Name + "\x00" + r.Name))
	return int64(h.Sum64()>>1) | 1
}

// Trusted reports whether the server may start.
func (r ServerRow) Trusted() bool { return r.Source.Own || r.Standing == hooks.Agreed }

// Starts returns why the server may not start; nil: it may.
func (r ServerRow) Starts() error {
	if r.Used() && r.Trusted() {
		return nil
	}
	return fmt.Errorf("the MCP server %s does not start: %s; %s", r.Name, r.Is(), r.Says())
}

// Is returns the server's state in a few words.
func (r ServerRow) Is() string {
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

// Says returns the reason of the state, or what to do about it; "": none.
func (r ServerRow) Says() string {
	switch {
	case !r.Used():
		return r.Out
	case !r.Trusted():
		return "/trust to review it"
	}
	if r.State.Phase == mcp.NeedsLogin {
		return "/mcp login " + r.Word() + " logs in"
	}
	return strings.TrimPrefix(r.State.Says, "the MCP server "+r.Name+" does not start: ") // the row already names the server
}

// Count returns the number of its tools; "": unknown.
func (r ServerRow) Count() string {
	if !r.Used() || r.State.Tools == 0 {
		return ""
	}
	return Count(r.State.Tools, "tool")
}

// Rows returns all servers, and the faults in the files that configure them. It reads files.
func (d Servers) Rows() (rows []ServerRow, faults []mcpconfig.Fault) {
	l := d.Config.List()
	states := map[string]mcp.State{}
	if d.Live != nil {
		for _, s := range d.Live.States() {
			states[s.Name] = s
		}
	}
	for _, e := range l.Entries {
		r := ServerRow{Entry: e}
		if e.Used() {
			r.State = states[e.Name]
			r.Standing = d.Config.Standing(e)
		}
		rows = append(rows, r)
	}
	return rows, append(l.Faults, l.Ignored...)
}

// NoServers says where servers are configured.
const NoServers = "No MCP servers yet. Add one to the workspace's .mcp.json, ~/.config/fantail/config.toml ([mcp.NAME]) or ~/.claude.json"

// ListServers lists all servers, one a line.
func ListServers(rows []ServerRow, faults []mcpconfig.Fault) string {
	if len(rows) == 0 && len(faults) == 0 {
		return NoServers + "."
	}
	var b strings.Builder
	b.WriteString("MCP servers:")
	for _, r := range rows {
		b.WriteString("\n  " + r.Line())
	}
	for _, f := range faults {
		b.WriteString("\n  ! " + cells.CleanLine(f.String()))
	}
	return b.String()
}

// Line returns a row as a line of text.
func (r ServerRow) Line() string {
	return cells.CleanLine(fmt.Sprintf("%s (%s): %s · %s", r.Name, r.Place, r.Status(", "), r.Entry.Line()))
}

// Status returns the server's state, the number of its tools and the reason, as far as known.
func (r ServerRow) Status(between string) string {
	parts := slices.DeleteFunc([]string{r.Is(), r.Count(), r.Says()}, func(s string) bool { return s == "" })
	return strings.Join(parts, between)
}

// ServerFields returns all that is known of a server without asking it.
func ServerFields(r ServerRow, now time.Time) (fs Fields) {
	add := func(name, text string) { fs.long(name, text, 3) }
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
	if r.Clean != "" {
		add("tools", "are called mcp__"+r.Clean+"__…")
	}
	add("from", r.Place+", "+whose)
	add("reads", strings.Join(r.Reads, ", "))
	if r.Honest {
		add("trusted", "about which of its tools only read (honest)")
	}
	if r.Source.Own && r.Sampling {
		add("asks", "a model, each time with your yes (sampling)")
	}
	return fs
}

// tools returns the known tools of a server.
func (d Servers) tools(r ServerRow) []mcp.ToolInfo {
	if d.Live == nil || !r.Used() {
		return nil
	}
	return d.Live.Tools(r.Name)
}

// bytesOfToken is roughly how many bytes of a description make one token.
const bytesOfToken = 4

// Brief names the tools of a server and what they cost.
func (d Servers) Brief(r ServerRow) string {
	all := d.tools(r)
	switch {
	case !r.Used() || !r.Trusted():
		return ""
	case len(all) == 0:
		return "Its tools show once it has run. r to start it."
	}
	size := 0
	var names []string
	for _, t := range all {
		size += t.Size
		name := t.Name
		if t.Changed {
			name += " (its description changed: it asks)"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%s, about %d tokens of each request: %s", Count(len(all), "tool"), size/bytesOfToken, strings.Join(names, ", "))
}

// Tools describes the tools of a server. The descriptions come from the server.
func (d Servers) Tools(r ServerRow) string {
	all := d.tools(r)
	if len(all) == 0 {
		return "Its tools are unknown until it has run."
	}
	var b strings.Builder
	b.WriteString("The server describes its tools like this. Each call asks you, unless a rule or an answer of yours allows the tool.\n")
	for _, t := range all {
		fmt.Fprintf(&b, "\n%s\n", cells.CleanLine(t.LentName))
		switch {
		case t.Reads && r.Honest:
			b.WriteString("  only reads (you trust the server's word)\n")
		case t.Reads:
			b.WriteString("  only reads, says the server\n")
		}
		if t.Changed {
			b.WriteString("  its description changed since you agreed: the next call asks and shows the change\n")
		}
		for line := range strings.Lines(cells.Clean(t.Description)) {
			b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Log returns the server's log and its standard error.
func (d Servers) Log(r ServerRow) string {
	text := ""
	if d.Live != nil && r.Used() {
		text = d.Live.Log(r.Name)
	}
	if strings.TrimSpace(text) == "" {
		return "The log is empty."
	}
	return cells.Clean(text)
}

// Reconnect stops a server if it runs, and starts it.
func (d Servers) Reconnect(ctx context.Context, name string) (string, error) {
	if d.Live == nil {
		return "", errors.New("no server runs here")
	}
	if err := d.Live.Reconnect(ctx, name); err != nil {
		return "", err
	}
	return d.there(name, name+" is there"), nil
}

// Login has the human log in to a server, and starts it.
func (d Servers) Login(ctx context.Context, name string, w mcp.LoginWaiter) (string, error) {
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

// there appends the number of a server's tools to text.
func (d Servers) there(name, text string) string {
	for _, s := range d.Live.States() {
		if s.Name == name && s.Tools > 0 {
			text += ", with " + Count(s.Tools, "tool")
		}
	}
	return text
}

// ServerArgs are the arguments of /mcp.
const ServerArgs = "[list | login NAME | reconnect NAME | log NAME | tools NAME]"

// ServerVerbs returns the first words of the arguments.
func ServerVerbs() []string { return []string{"list", "login", "reconnect", "log", "tools"} }

// NamedServer splits the arguments of /mcp into the verb and the name of a server, which may
// contain blanks.
func NamedServer(args string) (verb, name string) {
	verb, name, _ = strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	if n := len(name); n > 1 && strings.ContainsRune(`"'`, rune(name[0])) && name[n-1] == name[0] {
		name = name[1 : n-1]
	}
	return verb, name
}

// Run parses the arguments of /mcp. ok is false if they are not understood.
func (d Servers) Run(args string) (do func(ctx context.Context) (string, error), ok bool) {
	verb, name := NamedServer(args)
	if verb == "list" && name == "" {
		return func(context.Context) (string, error) { return ListServers(d.Rows()), nil }, true
	}
	of := map[string]func(r ServerRow) string{"log": d.Log, "tools": d.Tools}[verb]
	if name == "" || of == nil && verb != "reconnect" {
		return nil, false
	}
	return func(ctx context.Context) (string, error) {
		r, err := d.Find(name)
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

// Find returns the server with that name or word that is used, else the first one.
func (d Servers) Find(name string) (ServerRow, error) {
	rows, _ := d.Rows()
	if e, is := d.Config.List().Find(name); is {
		for _, r := range rows {
			if r.Source == e.Source && r.Place == e.Place && r.Name == e.Name {
				return r, nil
			}
		}
	}
	return ServerRow{}, fmt.Errorf("there is no MCP server %s. /mcp to list them", cells.CleanLine(name))
}
