package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
	"fantail/tools/mcp/paging"
	"fantail/tools/permit"
)

const (
	readResource  = "read_resource"
	mostResources = 500 // of one list
)

// resources describes the tool that reads a server's resources.
func resources(server string) described {
	return described{
		Name: readResource,
		About: "Read a resource of the MCP server " + server + ", by its URI. The user names one as @" + server + ":URI. " +
			"Without a URI it lists the resources that there are.",
		Schema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"The URI; default: list them"}},"additionalProperties":false}`),
	}
}

// parseResource is a call of that tool.
func (l *link) parseResource(env *tools.Env, id, name string, args json.RawMessage) (*tools.Call, error) {
	var a struct {
		URI string `json:"uri"`
	}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, errors.New("say in uri which resource is to be read, or nothing to list them")
		}
	}
	a.URI = strings.TrimPrefix(strings.TrimSpace(a.URI), "@"+l.server.Name+":")
	act := permit.Action{Tool: name, Kind: permit.Foreign, Dir: env.Root, Input: input(args), Reads: l.server.Honest}
	beside := ""
	if act.Reads {
		beside = "read"
	}
	return &tools.Call{Action: act, Beside: beside, Run: func(ctx context.Context) tools.Result {
		return l.work(ctx, env, id, nil, func(ctx context.Context, v *live, _ string) (tools.Result, error) {
			text, err, k := "", error(nil), &keeps{env: env, id: id}
			if a.URI == "" {
				text, err = v.resources(ctx)
			} else {
				text, err = v.resource(ctx, a.URI, k.keep)
			}
			if err != nil {
				return tools.Result{}, err
			}
			r := l.long(env, id, text)
			r.Shows = k.shows
			return r, nil
		})
	}}, nil
}

// resources lists the resources of a server, and the patterns of further ones.
func (v *live) resources(ctx context.Context) (string, error) {
	var b strings.Builder
	found, err := v.listed(ctx, mostResources+1)
	if err != nil {
		return "", err
	}
	for n, r := range found {
		if n == mostResources {
			b.WriteString("… and more\n")
			break
		}
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s  %s  %s", r.URI, r.Name, tools.Line(r.Description))))
	}
	patterns, _ := paging.Read(mostResources, func(cursor string) ([]*mcp.ResourceTemplate, string, error) { // many servers have none, and say that with an error
		res, err := v.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.ResourceTemplates, res.NextCursor, nil
	})
	for _, r := range patterns {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s  %s  %s", r.URITemplate, r.Name, tools.Line(r.Description))))
	}
	if b.Len() == 0 {
		return "There are no resources.", nil
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// listed are the resources of a server, at most so many.
func (v *live) listed(ctx context.Context, most int) ([]*mcp.Resource, error) {
	return paging.Read(most, func(cursor string) ([]*mcp.Resource, string, error) {
		res, err := v.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Resources, res.NextCursor, nil
	})
}

// resource reads one.
func (v *live) resource(ctx context.Context, uri string, keep keeper) (string, error) {
	res, err := v.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	var all []string
	for _, c := range res.Contents {
		all = append(all, embedded(c, keep))
	}
	if len(all) == 0 {
		return "[it is empty]", nil
	}
	return strings.Join(all, "\n"), nil
}
