package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
	"fantail/tools/mcp/paging"
)

const (
	mostPrompts = 200       // of one server
	mostPrompt  = 256 << 10 // bytes of one, filled in
	mostURI     = 2000      // bytes of one
	asides      = 10 * time.Second
)

// Prompt is a prompt that a server offers to people.
type Prompt struct {
	Name string `json:"name"` // as it is typed, after the slash
	From string `json:"-"`    // the server
	Own  string `json:"own"`  // its name there

	About string `json:"about,omitempty"`
	Args  []Arg  `json:"args,omitempty"`
}

// Arg is an argument of a prompt.
type Arg struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
}

// Hint shows the arguments: "<issue> [tone]".
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

// prompts reads which prompts the server offers. What it does not tell there are none of.
func (v *live) prompts(ctx context.Context) (all []Prompt) {
	if v.has().Prompts == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, asides)
	defer cancel()
	taken := map[string]bool{}
	found, err := paging.Read(mostPrompts, func(cursor string) ([]*mcp.Prompt, string, error) {
		res, err := v.session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Prompts, res.NextCursor, nil
	})
	if err != nil {
		v.l.noted("its prompts can't be read: " + err.Error())
	}
	for _, p := range found {
		q := Prompt{Name: toolName(v.l.server.Name, p.Name), Own: p.Name, About: tools.Line(p.Description)}
		for _, a := range p.Arguments {
			if a != nil {
				q.Args = append(q.Args, Arg{tools.Line(a.Name), a.Required})
			}
		}
		if !taken[q.Name] {
			taken[q.Name] = true
			all = append(all, q)
		}
	}
	return all
}

// glance returns the links as they were last brought in line. It reads nothing: who shows something calls it. The first
// time that is done beside.
func (r *Room) glance() []*link {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.glanced && r.order == nil && !r.closed {
		r.glanced = true
		r.o.Go("look at the MCP servers", func() { r.sync() })
	}
	return r.order
}

// Prompts are the prompts that servers offer, as far as is known without starting or reading anything.
func (r *Room) Prompts() (all []Prompt) {
	links := r.glance()
	if links == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		if k := r.kept[l.server.Name]; k != nil && k.Mark == l.mark && l.phase != Withheld {
			for _, p := range k.Prompts {
				p.From = l.server.Name
				all = append(all, p)
			}
		}
	}
	return all
}

// Prompt has a server fill in a prompt with what was typed after its name: a word for each argument, and the rest for
// the last one.
func (r *Room) Prompt(ctx context.Context, name, typed string) (string, error) {
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
	v, err := l.ready(ctx)
	if err != nil {
		return "", err
	}
	bound := l.server.Timeout
	if bound <= 0 {
		bound = usual
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	res, err := v.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Own, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("the MCP server %s does not fill in %s: %s", p.From, p.Own, explain(l.server, err))
	}
	var parts []string
	for _, m := range res.Messages {
		if m != nil {
			parts = append(parts, said(&mcp.CallToolResult{Content: []mcp.Content{m.Content}}, named))
		}
	}
	text := strings.TrimSpace(plain(r.o.Keys.Text(strings.Join(parts, "\n\n"))))
	switch {
	case text == "":
		return "", fmt.Errorf("the prompt %s of the MCP server %s is empty", p.Own, p.From)
	case len(text) > mostPrompt:
		return "", fmt.Errorf("the prompt %s of the MCP server %s has %d bytes, at most %d are sent", p.Own, p.From, len(text), mostPrompt)
	}
	return text, nil
}

// fill gives the arguments what was typed.
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

// Resources are those of the servers that run, as they are named in a prompt: "@server:uri". match is a part of the name.
func (r *Room) Resources(match string, most int) (all []string) {
	links := r.glance()
	if links == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		if l.live == nil {
			continue
		}
		for _, uri := range l.live.uris {
			if name := l.server.Name + ":" + uri; len(all) < most && strings.Contains(strings.ToLower(name), strings.ToLower(match)) {
				all = append(all, name)
			}
		}
	}
	return all
}

// named are the URIs of the server's resources.
func (v *live) named(ctx context.Context) (all []string) {
	if v.has().Resources == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, asides)
	defer cancel()
	found, _ := v.listed(ctx, mostResources) // what is known of them is offered
	for _, r := range found {
		if uri := plain(r.URI); !strings.ContainsAny(uri, " \t\n") && len(uri) < mostURI {
			all = append(all, uri)
		}
	}
	return all
}
