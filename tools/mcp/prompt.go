package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
)

const (
	maxPrompts  = 200       // of one server
	maxPrompt   = 256 << 10 // bytes of a prompt with its arguments
	maxURI      = 2000      // bytes of a URI
	listTimeout = 10 * time.Second
)

// Prompt is a prompt that a server offers.
type Prompt struct {
	Name string `json:"name"` // as typed after the slash
	From string `json:"-"`    // name of the server
	Own  string `json:"own"`  // its name on the server

	About string `json:"about,omitempty"`
	Args  []Arg  `json:"args,omitempty"`
}

// Arg is an argument of a prompt.
type Arg struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
}

// Hint returns the arguments as "<issue> [tone]".
func (p Prompt) Hint() string {
	var all []string
	for _, a := range p.Args {
		if a.Required {
			all = append(all, "<"+a.Name+">")
		} else {
			all = append(all, "["+a.Name+"]")
		}
	}
	return strings.Join(all, " ")
}

// listPrompts lists the server's prompts. On an error it returns those that it could read.
func (v *runningServer) listPrompts(ctx context.Context) (all []Prompt) {
	if v.capabilities().Prompts == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var own []string
	taken := map[string]bool{}
	found, err := readPages(maxPrompts, func(cursor string) ([]*mcp.Prompt, string, error) {
		res, err := v.session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Prompts, res.NextCursor, nil
	})
	if err != nil {
		v.managed.logLine("its prompts can't be read: " + err.Error())
	}
	for _, p := range found {
		if p.Name == "" {
			v.managed.logLine("one of its prompts has no name, and is left out")
			continue
		}
		q := Prompt{Own: p.Name, About: tools.Line(p.Description)}
		for _, a := range p.Arguments {
			if a != nil {
				q.Args = append(q.Args, Arg{tools.Line(a.Name), a.Required})
			}
		}
		if !taken[q.Own] {
			taken[q.Own] = true
			all, own = append(all, q), append(own, q.Own)
		}
	}
	for n, name := range toolNames(v.managed.server, own) {
		all[n].Name = name
	}
	return all
}

// cachedServers returns the servers of the last sync, without reading the configuration, because it
// is called for each frame of the screen. The first call starts a sync in the background.
func (r *Servers) cachedServers() []*managedServer {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.synced && r.order == nil && !r.closed {
		r.synced = true
		r.o.Go("look at the MCP servers", func() { r.sync() })
	}
	return r.order
}

// Prompts returns the known prompts. It starts and reads nothing.
func (r *Servers) Prompts() (all []Prompt) {
	links := r.cachedServers()
	if links == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		if k := r.records[l.server.Name]; k != nil && k.Fingerprint == l.fingerprint && l.phase != Blocked {
			for _, p := range k.Prompts {
				p.From = l.server.Name
				all = append(all, p)
			}
		}
	}
	return all
}

// Prompt gets a prompt from its server. typed is the text after the prompt's name: one word for
// each argument, and the rest for the last one.
func (r *Servers) Prompt(ctx context.Context, name, typed string) (string, error) {
	r.sync()
	all := r.Prompts()
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.Name == name })
	if i < 0 {
		return "", fmt.Errorf("no MCP server offers the prompt %s", name)
	}
	p := all[i]
	args, err := p.fill(typed)
	if err != nil {
		return "", err
	}
	l, err := r.find(p.From)
	if err != nil {
		return "", err
	}
	v, err := l.ensureRunning(ctx)
	if err != nil {
		return "", err
	}
	bound := l.server.Timeout
	if bound <= 0 {
		bound = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	res, err := v.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Own, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("the MCP server %s does not fill in %s: %s", p.From, p.Own, errorText(l.server, err))
	}
	var parts []string
	for _, m := range res.Messages {
		if m != nil {
			parts = append(parts, resultText(&mcp.CallToolResult{Content: []mcp.Content{m.Content}}, describeBinary))
		}
	}
	text := strings.TrimSpace(plainText(r.o.Keys.Text(strings.Join(parts, "\n\n"))))
	switch {
	case text == "":
		return "", fmt.Errorf("the prompt %s of the MCP server %s is empty", p.Own, p.From)
	case len(text) > maxPrompt:
		return "", fmt.Errorf("the prompt %s of the MCP server %s has %d bytes, at most %d are sent", p.Own, p.From, len(text), maxPrompt)
	}
	return text, nil
}

// fill assigns the words of typed to the arguments.
func (p Prompt) fill(typed string) (map[string]string, error) {
	args := map[string]string{}
	rest := strings.TrimSpace(typed)
	for n, a := range p.Args {
		word := rest
		if at := strings.IndexAny(rest, " \t\n"); n < len(p.Args)-1 && at >= 0 {
			word = rest[:at]
		}
		rest = strings.TrimSpace(rest[len(word):])
		if word == "" && a.Required {
			return nil, fmt.Errorf("/%s %s: %s is missing", p.Name, p.Hint(), a.Name)
		}
		if word != "" {
			args[a.Name] = word
		}
	}
	if rest != "" {
		return nil, fmt.Errorf("/%s takes no %q", p.Name, rest)
	}
	return args, nil
}

// Resources returns the resources of the running servers as "server:uri" whose names contain match,
// at most `most`.
func (r *Servers) Resources(match string, most int) (all []string) {
	links := r.cachedServers()
	if links == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		if l.running == nil {
			continue
		}
		for _, uri := range l.running.resourceURIs {
			if name := l.server.Word() + ":" + uri; len(all) < most && strings.Contains(strings.ToLower(name), strings.ToLower(match)) {
				all = append(all, name)
			}
		}
	}
	return all
}

// listResourceURIs returns the URIs of the server's resources.
func (v *runningServer) listResourceURIs(ctx context.Context) (all []string) {
	if v.capabilities().Resources == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	found, _ := v.listResources(ctx, maxResources) // after an error the known ones are offered
	for _, r := range found {
		if uri := plainText(r.URI); !strings.ContainsAny(uri, " \t\n") && len(uri) < maxURI {
			all = append(all, uri)
		}
	}
	return all
}
