package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fantail/agents/engine"
	"fantail/tools"
	"fantail/tools/files"
)

// askUser asks the user a question of the agent. Meanwhile the events of the agent are read.
func (c *vendorSession) askUser(ctx context.Context, q question) {
	var what vendorCall
	if p, ok := q.request.(RequestPermissionRequest); ok {
		what = c.turn.permissionCall(p.ToolCall)
		if once := c.ownToolOption(what.name, p.Options.All); once != "" {
			q.reply <- RequestPermissionOutcome{Outcome: "selected", OptionID: once}
			return
		}
	}
	c.openQuestions.Add(1)
	n := c.events
	c.opts.Go("acp ask", func() {
		defer n.add(questionClosed{})
		defer c.openQuestions.Add(-1)
		turn := ctx
		ctx, cancel := context.WithCancelCause(turn)
		defer cancel(nil)
		defer context.AfterFunc(q.ctx, func() {
			// What it takes back is not asked any more; what its program has not outlived is, as long as the turn goes on. One
			// that it takes back because its turn is ended here ends for the reason of that, which it may come before.
			if why := context.Cause(q.ctx); errors.Is(why, context.Canceled) && turn.Err() == nil {
				cancel(why)
			}
		})()
		switch ask := q.request.(type) {
		case RequestPermissionRequest:
			q.reply <- valueOrError(c.requestPermission(ctx, what, ask.Options.All))
		case CreateElicitationRequest:
			q.reply <- valueOrError(c.elicit(ctx, ask))
		}
	})
}

// ownToolOption returns the id of the option "allow once" if the call is one of the tools that this program serves to the
// agent, else "". Permission for such a call is checked when it arrives here.
func (c *vendorSession) ownToolOption(name string, choices []PermissionOption) string {
	for _, server := range c.mcpServers {
		tool, is := strings.CutPrefix(name, "mcp__"+server.Name+"__")
		if !is || !slices.ContainsFunc(c.opts.Tools(), func(s tools.Spec) bool { return s.Name == tool }) {
			continue
		}
		if i := slices.IndexFunc(choices, func(w PermissionOption) bool { return w.Kind.V == "allow_once" }); i >= 0 {
			return choices[i].OptionID
		}
	}
	return ""
}

func valueOrError[A any](a A, err error) any {
	if err != nil {
		return err
	}
	return a
}

// permissionCall returns the call that a permission request is about, as it is now.
func (r *turn) permissionCall(u ToolCallUpdate) vendorCall {
	c := r.calls[u.ToolCallID]
	if c == nil || c.ended() {
		c = &vendorCall{id: u.ToolCallID, dir: r.dir}
		c.update(u)
		return *c
	}
	status := c.status // it has not ended before its answer
	r.updateCall(c, u)
	c.status = status
	return *c
}

// requestPermission asks the user whether a call may run, with the agent's own options.
func (c *vendorSession) requestPermission(ctx context.Context, what vendorCall, choices []PermissionOption) (RequestPermissionOutcome, error) {
	title := what.displayName()
	text := c.vendor.o.Name + " asks: " + title
	if what.text != "" || what.diff != "" {
		text += "\n\n" + strings.TrimSpace(what.text+"\n"+what.diff)
	}
	if input := inputLines(what.input); input != "" {
		text += "\n\n" + input
	}
	text = files.Middle(text, maxQuestion)
	words := map[string]PermissionOption{}
	var options []tools.Option
	no := ""
	for _, w := range choices {
		label := tools.Line(cmp.Or(w.Name.V, w.Kind.V, w.OptionID))
		for base, n := label, 2; words[label].OptionID != ""; n++ {
			label = fmt.Sprintf("%s (%d)", base, n)
		}
		words[label] = w
		if len(options) < maxChoices {
			options = append(options, tools.Option{Label: label})
		}
		if no == "" && strings.HasPrefix(w.Kind.V, "reject") {
			no = w.OptionID
		}
	}
	answer, err := c.opts.Ask(ctx, what.id, title, tools.Question{Text: text, Options: options})
	if errors.Is(err, engine.ErrUnasked) && no != "" {
		return RequestPermissionOutcome{Outcome: "selected", OptionID: no}, nil
	}
	if err != nil {
		return RequestPermissionOutcome{}, err
	}
	if w, ok := words[answer]; ok {
		c.userRefused.CompareAndSwap(false, strings.HasPrefix(w.Kind.V, "reject"))
		return RequestPermissionOutcome{Outcome: "selected", OptionID: w.OptionID}, nil
	}
	c.userRefused.Store(true)
	c.opts.Later(fmt.Sprintf("You had asked: %s\n\nThe user said no, and: %s", title, answer)) // there is no place for words in its own no
	if no != "" {                                                                              // words of the human's own are no yes
		return RequestPermissionOutcome{Outcome: "selected", OptionID: no}, nil
	}
	return RequestPermissionOutcome{}, errors.New("none of its choices was chosen")
}

// inputLines returns the input of a call, one argument a line.
func inputLines(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch v := args[name].(type) {
		case string:
			lines = append(lines, tools.Line(name)+": "+v)
		case float64, bool:
			lines = append(lines, fmt.Sprintf("%s: %v", tools.Line(name), v))
		}
	}
	return strings.Join(lines, "\n")
}

// The bounds of a question.
const (
	maxQuestion = 16 << 10 // bytes of its text
	maxChoices  = 50       // answers to choose from
	maxFields   = 50       // values of a form
)

const (
	yes  = "Yes"
	no   = "No"
	skip = "Leave it out"
)

// elicit asks the user for the values of a form one after the other, or to open a URL.
func (c *vendorSession) elicit(ctx context.Context, q CreateElicitationRequest) (CreateElicitationResponse, error) {
	if q.Mode == "url" || q.URL.OK && !q.RequestedSchema.OK {
		const done = "I have done that"
		answer, err := c.opts.Ask(ctx, "", tools.Line(q.Message), tools.Question{
			Text: fmt.Sprintf("%s asks: %s\n\nIt wants you to open this address in a browser of yours: %s",
				c.vendor.o.Name, files.Middle(q.Message, maxQuestion), tools.Line(q.URL.V)),
			Options: []tools.Option{{Label: done}, {Label: no}},
		})
		if err != nil || answer != done {
			return CreateElicitationResponse{Action: "decline"}, err
		}
		return CreateElicitationResponse{Action: "accept"}, nil
	}
	form := q.RequestedSchema.V
	names := slices.SortedFunc(maps.Keys(form.Properties), func(a, b string) int {
		order := func(name string) int {
			return (slices.Index(form.Required.All, name) + len(form.Required.All) + 1) % (len(form.Required.All) + 1)
		}
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b))
	})
	if n := len(names); n > maxFields {
		return CreateElicitationResponse{}, fmt.Errorf("it asks for %d values, at most %d are asked for", n, maxFields)
	}
	values := map[string]any{}
	for _, name := range names {
		var f ElicitationField
		if json.Unmarshal(form.Properties[name], &f) != nil {
			continue
		}
		v, given, err := c.elicitField(ctx, q, name, f)
		if err != nil {
			return CreateElicitationResponse{}, err
		}
		if given {
			values[name] = v
		}
	}
	return CreateElicitationResponse{Action: "accept", Content: values}, nil
}

// elicitField asks for one value. given is false if the user left it out.
func (c *vendorSession) elicitField(ctx context.Context, q CreateElicitationRequest, name string, f ElicitationField) (v any, given bool, err error) {
	text := c.vendor.o.Name + " asks: " + q.Message
	if label := cmp.Or(f.Title.V, name); label != q.Message {
		text += "\n\n" + label
	}
	if f.Description.V != "" {
		text += "\n" + f.Description.V
	}
	ask := tools.Question{Multiple: f.Type == "array"}
	values := map[string]any{}
	offer := func(label string, v any) {
		label = tools.Line(label)
		if _, taken := values[label]; !taken {
			values[label] = v
			ask.Options = append(ask.Options, tools.Option{Label: label})
		}
	}
	for _, v := range slices.Concat(f.Enum.All, f.Items.V.Enum.All) {
		offer(v, v)
	}
	for _, v := range slices.Concat(f.OneOf.All, f.Items.V.AnyOf.All) {
		offer(cmp.Or(v.Title.V, v.Const), v.Const)
	}
	if f.Type == "boolean" {
		offer(yes, true)
		offer(no, false)
	}
	if !slices.Contains(q.RequestedSchema.V.Required.All, name) {
		offer(skip, nil)
	}
	text = files.Middle(text, maxQuestion)
	if n := len(ask.Options); n > maxChoices {
		text += fmt.Sprintf("\n\nThere are %d more answers, which can be typed.", n-maxChoices)
		ask.Options = append(ask.Options[:maxChoices-1], ask.Options[n-1]) // the last may be to leave it out
	}
	for problem := ""; ; {
		ask.Text = strings.TrimSpace(text + "\n\n" + problem)
		answer, err := c.opts.Ask(ctx, "", tools.Line(q.Message), ask)
		if err != nil {
			return nil, false, err
		}
		if v, given, problem = parseAnswer(answer, f, values); problem == "" {
			return v, given, nil
		}
	}
}

// parseAnswer parses an answer as the value of a field. problem says why it is invalid.
func parseAnswer(answer string, f ElicitationField, values map[string]any) (v any, given bool, problem string) {
	if v, chosen := values[answer]; chosen && f.Type != "array" {
		return v, v != nil, ""
	}
	switch f.Type {
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(answer), 10, 64)
		if err != nil {
			return nil, false, fmt.Sprintf("%q is no whole number.", answer)
		}
		return n, true, ""
	case "number":
		n, err := strconv.ParseFloat(strings.TrimSpace(answer), 64)
		if err != nil {
			return nil, false, fmt.Sprintf("%q is no number.", answer)
		}
		return n, true, ""
	case "boolean":
		return nil, false, fmt.Sprintf("%q is neither yes nor no.", answer)
	case "array":
		return parseMultiple(answer, values)
	}
	if len(values) > 1 || len(values) == 1 && values[skip] == nil && f.Enum.OK {
		return nil, false, fmt.Sprintf("%q is none of what is offered.", answer)
	}
	return answer, true, ""
}

// parseMultiple reads the chosen labels, which are separated by ", ".
func parseMultiple(answer string, values map[string]any) (v any, given bool, problem string) {
	all := []any{}
	for rest := answer; rest != ""; {
		best := ""
		for label := range values {
			if (rest == label || strings.HasPrefix(rest, label+", ")) && len(label) > len(best) {
				best = label
			}
		}
		if best == "" {
			return nil, false, fmt.Sprintf("%q is none of what is offered.", rest)
		}
		if values[best] == nil {
			return nil, false, ""
		}
		all = append(all, values[best])
		rest = strings.TrimPrefix(rest[len(best):], ", ")
	}
	return all, len(all) > 0, ""
}
