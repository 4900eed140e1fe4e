package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/mcp/address"
	"fantail/tools/mcp/form"
)

const (
	mostAsks   = 4    // questions of one server that are open at once
	mostFields = 30   // of a form
	mostText   = 2000 // bytes of what a server says in one
)

// asks puts a server's question to the human.
func (v *live) asks(ctx context.Context, q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if q.Params == nil || !v.calls.asking() {
		return &mcp.ElicitResult{Action: string(form.Decline)}, nil
	}
	defer v.calls.answered()
	e, err := elicitation(q.Params)
	if err != nil {
		return nil, err
	}
	var a form.Answer
	switch one := v.calls.newest(); {
	case one == nil || one.ask == nil: // it asks out of the blue, or nobody is there
		a = form.Answer{Action: form.Decline}
	default:
		within, cancel := context.WithCancel(one.ctx)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		a, err = form.Fill(within, one.ask, v.l.server.Name, e)
	}
	if err != nil {
		return nil, err
	}
	if a.Action != form.Accept || e.URL != "" {
		a.Content = nil
	}
	return &mcp.ElicitResult{Action: string(cmp.Or(a.Action, form.Cancel)), Content: a.Content}, nil
}

// elicitation is a question in a form that people can answer.
func elicitation(p *mcp.ElicitParams) (e form.Elicitation, err error) {
	e.Message = short(p.Message)
	if p.URL != "" {
		u, err := address.Visit(p.URL)
		if err != nil {
			return e, err
		}
		e.URL, e.Host = p.URL, u.Host
		return e, nil
	}
	b, err := json.Marshal(p.RequestedSchema)
	var schema *jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(b, &schema)
	}
	if err != nil || schema == nil {
		return e, err
	}
	if len(schema.Properties) > mostFields {
		return e, fmt.Errorf("a form has at most %d fields, this one %d", mostFields, len(schema.Properties))
	}
	order := schema.PropertyOrder
	for name := range schema.Properties {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	if len(schema.PropertyOrder) == 0 {
		slices.Sort(order)
	}
	for _, name := range order {
		if is := schema.Properties[name]; is != nil {
			f := field(name, is)
			f.Required = slices.Contains(schema.Required, name)
			e.Fields = append(e.Fields, f)
		}
	}
	slices.SortStableFunc(e.Fields, func(a, b form.Field) int { // what must be filled in comes first
		switch {
		case a.Required && !b.Required:
			return -1
		case b.Required && !a.Required:
			return 1
		}
		return 0
	})
	return e, nil
}

// field is one line of a form.
func field(name string, is *jsonschema.Schema) form.Field {
	f := form.Field{
		Name: short(name), Title: short(is.Title), About: short(is.Description), Type: cmp.Or(is.Type, "string"),
		Format: is.Format, Pattern: short(is.Pattern), Min: is.Minimum, Max: is.Maximum,
	}
	if is.MinLength != nil {
		n := float64(*is.MinLength)
		f.Min = &n
	}
	if is.MaxLength != nil {
		n := float64(*is.MaxLength)
		f.Max = &n
	}
	if len(is.Default) > 0 {
		_ = json.Unmarshal(is.Default, &f.Default)
	}
	options := is
	if is.Type == "array" && is.Items != nil {
		f.Type, options = "several", is.Items
	}
	for _, o := range options.Enum {
		if text, is := o.(string); is {
			f.Options = append(f.Options, short(text))
		}
	}
	for _, o := range append(slices.Clone(options.OneOf), options.AnyOf...) {
		if o != nil && o.Const != nil {
			if text, is := (*o.Const).(string); is {
				f.Options, f.Labels = append(f.Options, short(text)), append(f.Labels, short(cmp.Or(o.Title, text)))
			}
		}
	}
	return f
}

// short is a server's text, as a terminal shows it.
func short(s string) string { return cut(s, mostText) }

// cut is such a text with at most so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return plain(s)
	}
	return plain(strings.ToValidUTF8(s[:most], "")) + "…"
}
