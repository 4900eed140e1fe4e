package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fantail/agents/hooks"
	"fantail/agents/mcpconfig"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
	"fantail/ui/format"
	"fantail/ui/workspace"
)

// ServersFor has the servers that are configured for the workspace root, absolute and resolved, and for this process's user.
func ServersFor(root string, agreed *hooks.TrustStore, keys *secret.Keys, rows func() []config.Server) *mcpconfig.Servers {
	return mcpconfig.New(mcpconfig.Settings{Root: root, Home: Home(), Trust: agreed, Config: rows, Env: os.LookupEnv, Keys: keys})
}

// Home is the user's directory, resolved; "": there is none.
func Home() string {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	if is, err := filepath.EvalSymlinks(home); err == nil {
		return is
	}
	return filepath.Clean(home)
}

// Watch watches the workspace's file in which servers are configured. The user's own are looked at whenever servers are
// needed: another program writes in theirs all the time.
func Watch(root string) (*workspace.Dirs, error) { return workspace.NewDirs(root, mcpconfig.Matters) }

// ServerLine is a server as JSON. What variables hold does not stand in it.
type ServerLine struct {
	Name    string   `json:"name"`
	Place   string   `json:"place"`
	Own     bool     `json:"own"`
	Used    bool     `json:"used"`
	Trusted bool     `json:"trusted"`
	Status  string   `json:"status"`
	Why     string   `json:"why,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
	Reads   []string `json:"variables,omitempty"`
}

// ServerLineOf is a row as JSON.
func ServerLineOf(r format.ServerRow) ServerLine {
	l := ServerLine{
		Name: r.Name, Place: r.Place, Own: r.Source.Own, Used: r.Used(), Trusted: r.Trusted(), Status: r.Is(), Why: r.Says(),
		Command: r.Written.Command, Args: r.Written.Args, URL: r.Written.URL, Reads: r.Reads,
	}
	if l.Used && l.Trusted {
		l.Status = "configured" // whether it runs, the host knows
	}
	return l
}

// TriedServer is what a server showed.
type TriedServer struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Error    string   `json:"error,omitempty"`
	Program  string   `json:"program,omitempty"`
	Protocol string   `json:"protocol,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Took     int64    `json:"took_ms,omitempty"`
	Notes    string   `json:"notes,omitempty"`
	Stderr   string   `json:"stderr,omitempty"`
}

// TryServer is how a server is tried.
type TryServer struct {
	Config *mcpconfig.Servers
	Root   string
	Keys   *secret.Keys
	Go     func(name string, f func())
	Box    func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) // nil: there is none

	// Carries is what [Carries] returns; nil: requests carry no logins.
	Carries func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error)
	Leave   func() // to be called in the end
}

// named is the server of that name, if it may be tried.
func (t TryServer) named(name string) (format.ServerRow, error) {
	r, err := format.Servers{Config: t.Config}.Find(name)
	switch {
	case err != nil:
		return r, err
	case !r.Used():
		return r, fmt.Errorf("%s is not used: %s", r.Name, r.Out)
	case !r.Trusted():
		return r, fmt.Errorf("%s is %s: fantail shows it and asks with /trust", r.Name, r.Is())
	}
	return r, nil
}

// Test starts the server of that name, looks at it and ends it. The error is that it is not there to be tried.
func (t TryServer) Test(ctx context.Context, name string) (TriedServer, error) {
	r, err := t.named(name)
	if err != nil {
		return TriedServer{}, err
	}
	live := mcp.New(mcp.Options{
		Root: t.Root, Servers: t.Config.Servers, Allowed: t.Config.Allowed, Environ: proc.Clean(os.Environ(), t.Keys), Keys: t.Keys,
		Box: t.Box, Login: t.Carries, Now: time.Now, Go: t.Go,
	})
	defer live.Close(context.WithoutCancel(ctx))
	is, err := live.Test(ctx, r.Name)
	tried := TriedServer{Name: r.Name, OK: err == nil, Program: is.Program, Protocol: is.Protocol, Tools: is.Tools, Took: is.Took.Milliseconds(), Notes: is.Notes, Stderr: is.Stderr}
	if err != nil {
		tried.Error = err.Error()
	}
	return tried, nil
}

// Text is what was found, for people.
func (t TriedServer) Text() string {
	var b strings.Builder
	if t.OK {
		fmt.Fprintf(&b, "%s is there after %d ms: %s, protocol %s\n", t.Name, t.Took, strings.TrimSpace(t.Program), t.Protocol)
		fmt.Fprintf(&b, "%d tools: %s\n", len(t.Tools), strings.Join(t.Tools, ", "))
	} else {
		fmt.Fprintf(&b, "%s is not there: %s\n", t.Name, t.Error)
	}
	for _, part := range []struct{ head, text string }{{"What was noted:", t.Notes}, {"It wrote to its standard error:", t.Stderr}} {
		if text := strings.TrimSpace(part.text); text != "" {
			b.WriteString(part.head + "\n")
			for line := range strings.Lines(text) {
				b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	return b.String()
}

// DoctorServers is what is configured, broken, shadowed, not trusted or not found.
func DoctorServers(servers *mcpconfig.Servers, root string) (all []Finding) {
	rows, faults := format.Servers{Config: servers}.Rows()
	if len(rows) == 0 && len(faults) == 0 {
		return nil
	}
	used, waits, out := 0, 0, 0
	for _, r := range rows {
		switch {
		case !r.Used():
			out++
		case r.Trusted():
			used++
		default:
			waits++
		}
	}
	all = append(all, Finding{What: "MCP servers", Says: fmt.Sprintf("in use: %d, not trusted: %d, not used: %d; /mcp shows how they are", used, waits, out)})
	said := map[string]bool{}
	for _, f := range servers.List().Faults {
		said[f.Text] = true
		all = append(all, Finding{What: "MCP server", Bad: true, Says: f.String()})
	}
	for _, r := range rows {
		switch {
		case !r.Used():
			if !said[r.Name+": "+r.Out] {
				all = append(all, Finding{What: "MCP server not used", Says: r.Place + ": " + r.Name + ": " + r.Out})
			}
		case r.Trusted(): // what is not, is told of with all else that a repository runs
			if r.Command == "" {
				continue
			}
			if _, err := r.Program(root, proc.Clean(os.Environ(), nil)); err != nil {
				all = append(all, Finding{What: "MCP server", Bad: true, Says: r.Place + ": " + r.Name + " can't start: " + err.Error()})
			}
		}
	}
	for _, f := range servers.List().Ignored {
		all = append(all, Finding{What: "ignored", Says: f.String()})
	}
	return all
}
