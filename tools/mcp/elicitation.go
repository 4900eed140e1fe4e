package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/files"
)

const (
	maxFields = 30   // of a form
	maxText   = 2000 // bytes of each text of a server
)

// ReadElicitation converts an elicitation request into a form.
func ReadElicitation(p *mcp.ElicitParams) (e Elicitation, err error) {
	e.Message = shortFormText(p.Message)
	if p.URL != "" {
		u, err := BrowserURL(p.URL)
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
	if len(schema.Properties) > maxFields {
		return e, fmt.Errorf("a form has at most %d fields, this one %d", maxFields, len(schema.Properties))
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
	slices.SortStableFunc(e.Fields, func(a, b FormField) int { // required fields come first
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

// field converts a property of the schema into a field of the form.
func field(name string, is *jsonschema.Schema) FormField {
	f := FormField{
		Name: shortFormText(name), Title: shortFormText(is.Title), About: shortFormText(is.Description), Type: cmp.Or(is.Type, "string"),
		Format: is.Format, Pattern: shortFormText(is.Pattern), Min: is.Minimum, Max: is.Maximum,
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
			f.Options = append(f.Options, shortFormText(text))
		}
	}
	for _, o := range append(slices.Clone(options.OneOf), options.AnyOf...) {
		if o != nil && o.Const != nil {
			if text, is := (*o.Const).(string); is {
				f.Options, f.Labels = append(f.Options, shortFormText(text)), append(f.Labels, shortFormText(cmp.Or(o.Title, text)))
			}
		}
	}
	return f
}

// shortFormText returns a server's text, shortened and safe for a terminal.
func shortFormText(s string) string { return files.ShortText(s, maxText) }
