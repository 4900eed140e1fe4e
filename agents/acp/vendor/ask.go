package vendor

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

	"fantail/agents/acp/schema"
	"fantail/agents/engine"
	"fantail/tools"
	"fantail/tools/content"
)

// asks has the human answer a question of the agent's. What it says meanwhile is heard.
func (c *chair) asks(ctx context.Context, q asked) {
	var what call
	if p, ok := q.ask.(schema.PermissionRequest); ok {
		what = c.reply.asked(p.Call)
		if once := c.ours(what.name, p.Choices.All); once != "" {
			q.reply <- schema.Outcome{Outcome: "selected", Choice: once}
			return
		}
	}
	c.asking.Add(1)
	n := c.news
	c.seat.Go("acp ask", func() {
		defer n.put(settled{})
		defer c.asking.Add(-1)
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
		switch ask := q.ask.(type) {
		case schema.PermissionRequest:
			q.reply <- answered(c.permits(ctx, what, ask))
		case schema.ElicitRequest:
			q.reply <- answered(c.elicits(ctx, ask))
		}
	})
}

// ours is the choice that lets a call of that name run this once, if it is one of the tools that this program gives the
// agent; "": it is not. Whether such a call may run is judged where it arrives.
func (c *chair) ours(name string, choices []schema.PermitWord) string {
	for _, server := range c.servers {
		tool, is := strings.CutPrefix(name, "mcp__"+server.Name+"__")
		if !is || !slices.ContainsFunc(c.seat.Tools(), func(s tools.Spec) bool { return s.Name == tool }) {
			continue
		}
		if i := slices.IndexFunc(choices, func(w schema.PermitWord) bool { return w.Kind.V == "allow_once" }); i >= 0 {
			return choices[i].ID
		}
	}
	return ""
}

func answered[A any](a A, err error) any {
	if err != nil {
		return err
	}
	return a
}

// asked is the call that a question is about, as it is now.
func (r *reply) asked(u schema.ToolCall) call {
	c := r.calls[u.ID]
	if c == nil || c.ended() {
		c = &call{id: u.ID, dir: r.dir}
		c.takes(u)
		return *c
	}
	status := c.status // it has not ended before its answer
	r.takes(c, u)
	c.status = status
	return *c
}

// permits asks whether a call may run, with the agent's own words to choose from.
func (c *chair) permits(ctx context.Context, what call, ask schema.PermissionRequest) (schema.Outcome, error) {
	title := what.called()
	text := c.v.o.Name + " asks: " + title
	if ask.Title != "" {
		title = tools.Line(ask.Title)
		text = c.v.o.Name + " asks: " + title
		if called := what.called(); what.id != "" && called != title {
			text += "\n\n" + called
		}
	}
	if ask.Text != "" {
		text += "\n\n" + ask.Text
	}
	if what.text != "" || what.diff != "" {
		text += "\n\n" + strings.TrimSpace(what.text+"\n"+what.diff)
	}
	if input := spelled(what.input); input != "" {
		text += "\n\n" + input
	}
	text = content.Middle(text, mostAsked)
	words := map[string]schema.PermitWord{}
	var options []tools.Option
	no := ""
	for _, w := range ask.Choices.All {
		label := tools.Line(cmp.Or(w.Name.V, w.Kind.V, w.ID))
		for base, n := label, 2; words[label].ID != ""; n++ {
			label = fmt.Sprintf("%s (%d)", base, n)
		}
		words[label] = w
		if len(options) < mostChoices {
			options = append(options, tools.Option{Label: label})
		}
		if no == "" && strings.HasPrefix(w.Kind.V, "reject") {
			no = w.ID
		}
	}
	answer, err := c.seat.Ask(ctx, what.id, title, tools.Question{Text: text, Options: options})
	if errors.Is(err, engine.ErrUnasked) && no != "" {
		return schema.Outcome{Outcome: "selected", Choice: no}, nil
	}
	if err != nil {
		return schema.Outcome{}, err
	}
	if w, ok := words[answer]; ok {
		c.refused.CompareAndSwap(false, strings.HasPrefix(w.Kind.V, "reject"))
		return schema.Outcome{Outcome: "selected", Choice: w.ID}, nil
	}
	c.refused.Store(true)
	c.seat.Later(fmt.Sprintf("You had asked: %s\n\nThe user said no, and: %s", title, answer)) // there is no place for words in its own no
	if no != "" {                                                                              // words of the human's own are no yes
		return schema.Outcome{Outcome: "selected", Choice: no}, nil
	}
	return schema.Outcome{}, errors.New("none of its choices was chosen")
}

// spelled is what a call is made with, a line for each of its arguments.
func spelled(input json.RawMessage) string {
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
	mostAsked   = 16 << 10 // bytes of its text
	mostChoices = 50       // answers to choose from
	mostFields  = 50       // values of a form
)

const (
	yes  = "Yes"
	no   = "No"
	skip = "Leave it out"
)

// elicits asks for the values of a form one after the other, or that an address be opened.
func (c *chair) elicits(ctx context.Context, q schema.ElicitRequest) (schema.ElicitResponse, error) {
	if q.Mode == "url" || q.URL.OK && !q.Schema.OK {
		const done = "I have done that"
		answer, err := c.seat.Ask(ctx, "", tools.Line(q.Message), tools.Question{
			Text: fmt.Sprintf("%s asks: %s\n\nIt wants you to open this address in a browser of yours: %s",
				c.v.o.Name, content.Middle(q.Message, mostAsked), tools.Line(q.URL.V)),
			Options: []tools.Option{{Label: done}, {Label: no}},
		})
		if err != nil || answer != done {
			return schema.ElicitResponse{Action: "decline"}, err
		}
		return schema.ElicitResponse{Action: "accept"}, nil
	}
	form := q.Schema.V
	names := slices.SortedFunc(maps.Keys(form.Properties), func(a, b string) int {
		order := func(name string) int {
			return (slices.Index(form.Required.All, name) + len(form.Required.All) + 1) % (len(form.Required.All) + 1)
		}
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b))
	})
	if n := len(names); n > mostFields {
		return schema.ElicitResponse{}, fmt.Errorf("it asks for %d values, at most %d are asked for", n, mostFields)
	}
	values := map[string]any{}
	for _, name := range names {
		var f schema.Field
		if json.Unmarshal(form.Properties[name], &f) != nil {
			continue
		}
		v, given, err := c.field(ctx, q, name, f)
		if err != nil {
			return schema.ElicitResponse{}, err
		}
		if given {
			values[name] = v
		}
	}
	return schema.ElicitResponse{Action: "accept", Content: values}, nil
}

// field asks for one value. given is false if it was left out.
func (c *chair) field(ctx context.Context, q schema.ElicitRequest, name string, f schema.Field) (v any, given bool, err error) {
	text := c.v.o.Name + " asks: " + q.Message
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
	if !slices.Contains(q.Schema.V.Required.All, name) {
		offer(skip, nil)
	}
	text = content.Middle(text, mostAsked)
	if n := len(ask.Options); n > mostChoices {
		text += fmt.Sprintf("\n\nThere are %d more answers, which can be typed.", n-mostChoices)
		ask.Options = append(ask.Options[:mostChoices-1], ask.Options[n-1]) // the last may be to leave it out
	}
	for problem := ""; ; {
		ask.Text = strings.TrimSpace(text + "\n\n" + problem)
		answer, err := c.seat.Ask(ctx, "", tools.Line(q.Message), ask)
		if err != nil {
			return nil, false, err
		}
		if v, given, problem = read(answer, f, values); problem == "" {
			return v, given, nil
		}
	}
}

// read reads an answer as the value of a field, or says what is wrong with it.
func read(answer string, f schema.Field, values map[string]any) (v any, given bool, problem string) {
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
		return several(answer, values)
	}
	if len(values) > 1 || len(values) == 1 && values[skip] == nil && f.Enum.OK {
		return nil, false, fmt.Sprintf("%q is none of what is offered.", answer)
	}
	return answer, true, ""
}

// several reads the labels that were chosen, which stand one after the other.
func several(answer string, values map[string]any) (v any, given bool, problem string) {
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
