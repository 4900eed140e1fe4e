package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
)

const (
	readResource = "read_resource"
	maxResources = 500 // of one list
)

// resourceDescription describes the tool that reads resources.
func resourceDescription(server string) toolDescription {
	return toolDescription{
		Name: readResource,
		Description: "Read a resource of the MCP server " + server + ", by its URI. The user names one as @" + server + ":URI. " +
			"Without a URI it lists the resources that there are.",
		Schema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"The URI; default: list them"}},"additionalProperties":false}`),
	}
}

// parseReadResource returns a call of that tool.
func (l *managedServer) parseReadResource(env *tools.Runtime, id string, t tools.Lent, args json.RawMessage) (*tools.Call, error) {
	var a struct {
		URI string `json:"uri"`
	}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, errors.New("say in uri which resource is to be read, or nothing to list them")
		}
	}
	a.URI = strings.TrimSpace(a.URI)
	for _, name := range []string{l.server.Word(), l.server.Name} {
		a.URI = strings.TrimPrefix(a.URI, "@"+name+":")
	}
	act := toolAction(t, env, args)
	act.Reads = l.server.Honest
	beside := ""
	if act.Reads {
		beside = "read"
	}
	return &tools.Call{Action: act, Beside: beside, Run: func(ctx context.Context) tools.Result {
		return l.callWithLogin(ctx, env, id, nil, func(ctx context.Context, v *runningServer, _ string) (tools.Result, error) {
			text, err, k := "", error(nil), &binaryFiles{env: env, id: id}
			if a.URI == "" {
				text, err = v.resourcesText(ctx)
			} else {
				text, err = v.readResource(ctx, a.URI, k.save)
			}
			if err != nil {
				return tools.Result{}, err
			}
			r := l.truncated(env, id, text)
			r.Shows = k.pictures
			return r, nil
		})
	}}, nil
}

// resourcesText lists a server's resources and resource templates.
func (v *runningServer) resourcesText(ctx context.Context) (string, error) {
	var b strings.Builder
	found, err := v.listResources(ctx, maxResources+1)
	if err != nil && len(found) == 0 {
		return "", err
	}
	for n, r := range found {
		if n == maxResources {
			b.WriteString("… and more\n")
			break
		}
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s  %s  %s", r.URI, r.Name, tools.Line(r.Description))))
	}
	patterns, _ := readPages(maxResources, func(cursor string) ([]*mcp.ResourceTemplate, string, error) { // many servers have none and return an error
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

// listResources lists a server's resources, at most `most`.
func (v *runningServer) listResources(ctx context.Context, most int) ([]*mcp.Resource, error) {
	return readPages(most, func(cursor string) ([]*mcp.Resource, string, error) {
		res, err := v.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Resources, res.NextCursor, nil
	})
}

// readResource reads a resource.
func (v *runningServer) readResource(ctx context.Context, uri string, keep binarySaver) (string, error) {
	res, err := v.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	var all []string
	for _, c := range res.Contents {
		all = append(all, resourceText(c, keep))
	}
	if len(all) == 0 {
		return "[it is empty]", nil
	}
	return strings.Join(all, "\n"), nil
}
