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

// ServersFor returns the servers configured for the workspace root and for this process's user.
// root is absolute and resolved.
func ServersFor(root string, agreed *hooks.TrustStore, keys *secret.Keys, rows func() []config.Server) *mcpconfig.Servers {
	return mcpconfig.New(mcpconfig.Settings{Root: root, Home: Home(), Trust: agreed, Config: rows, Env: os.LookupEnv, Keys: keys})
}

// Home returns the user's home directory, resolved; "": none.
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

// Watch watches the workspace's file that configures servers. The user's own files are read
// whenever servers are needed, because another program writes to them all the time.
func Watch(root string) (*workspace.Dirs, error) { return workspace.NewDirs(root, mcpconfig.Matters) }

// ServerLine is a server in JSON. It does not contain the values of variables.
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

// ServerLineOf returns a row in JSON.
func ServerLineOf(r format.ServerRow) ServerLine {
	l := ServerLine{
		Name: r.Name, Place: r.Place, Own: r.Source.Own, Used: r.Used(), Trusted: r.Trusted(), Status: r.Is(), Why: r.Says(),
		Command: r.Written.Command, Args: r.Written.Args, URL: r.Written.URL, Reads: r.Reads,
	}
	if l.Used && l.Trusted {
		l.Status = "configured" // only the host knows whether it runs
	}
	return l
}

// TriedServer is the result of trying a server.
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

// TryServer tries servers.
type TryServer struct {
	Config *mcpconfig.Servers
	Root   string
	Keys   *secret.Keys
	Go     func(name string, f func())
	Box    func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) // nil: no sandbox

	// Carries is the result of [Carries]; nil: requests carry no logins.
	Carries func(s mcp.Server, base http.RoundTripper) (http.RoundTripper, error)
	Leave   func() // the caller calls it at the end
}

// named returns the server of that name if it may be tried.
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

// Test starts the server of that name, asks for its tools and ends it. The error means that it may
// not be tried.
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

// Text returns the result for people.
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

// DoctorServers reports servers that are configured, broken, shadowed, not trusted or not found.
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
		case r.Trusted(): // untrusted ones are reported with all else that a repository runs
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
