package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/history"
	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/tools/mcp"
	"fantail/ui/cells"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// CustomCommands are the commands, skills and prompts from files and MCP servers. The zero value
// has none.
type CustomCommands struct {
	Skills *skills.Catalog
	Served *mcp.Servers
}

// Has reports whether /NAME is a command from a file or a prompt of a server.
func (r CustomCommands) Has(name string) bool {
	return r.Skills != nil && r.Skills.Now().Slash(name) != nil || r.serves(name)
}

// serves reports whether /NAME is a prompt of a server.
func (r CustomCommands) serves(name string) bool {
	return strings.HasPrefix(name, tools.LentName) && slices.ContainsFunc(r.Served.Prompts(), func(p mcp.Prompt) bool { return p.Name == name })
}

// maxResources limits the resources that completion offers.
const maxResources = 50

// Resources returns the candidates for @SERVER:URI.
func (r CustomCommands) Resources(word string) (items []composer.Item) {
	for _, name := range r.Served.Resources(word, maxResources) {
		items = append(items, composer.Item{Insert: name, Help: "a resource of an MCP server"})
	}
	return items
}

// Candidates returns the commands for completion.
func (r CustomCommands) Candidates() (items []composer.Item) {
	for _, row := range r.Rows() {
		name, args, _ := strings.Cut(row.Left, " ")
		items = append(items, composer.Item{Insert: name[1:], Label: name, Help: row.Right, Args: args})
	}
	return items
}

// Rows returns the commands for the help, with what they do and where they come from.
func (r CustomCommands) Rows() (rows []dialog.Row) {
	if r.Skills != nil {
		for _, i := range r.Skills.Now().Typed() {
			rows = append(rows, dialog.Row{Left: strings.TrimSpace("/" + i.Slash + " " + i.Hint), Right: brief(i.About, 90) + " · " + i.Source})
		}
	}
	for _, p := range r.Served.Prompts() {
		rows = append(rows, dialog.Row{Left: strings.TrimSpace("/" + p.Name + " " + p.Hint()), Right: brief(p.About, 90) + " · MCP server " + p.From})
	}
	return rows
}

// Agents returns the candidates for agent=.
func (r CustomCommands) Agents() (items []composer.Item) {
	if r.Skills == nil {
		return nil
	}
	for _, i := range r.Skills.Now().Items {
		if i.Kind == skills.Agent && i.Out == "" {
			items = append(items, composer.Item{Insert: "agent=" + i.Name, Help: brief(i.About, 90) + " · " + i.Source})
		}
	}
	return items
}

// CustomCall is a typed command from a file. It is expanded when it enters a conversation.
type CustomCall struct {
	Name, Args string
	Prompt     func(ctx context.Context, text string) error                // sends a prompt
	Push       func(ctx context.Context, t tools.Task) (tasks.Task, error) // queues a task
	Queued     func(t tasks.Task) string                                   // the message about a queued task
	Said       string                                                      // the message about a sent prompt
}

// served returns the prompt for the text of an MCP server. The text does not come first, where it
// could name a command.
func (t CustomCall) served(words string) string {
	return strings.TrimSpace("/"+t.Name+" "+t.Args) + "\n\nWhat /" + t.Name + ", from its MCP server:\n\n" + words
}

// Run returns a function that sends the command's prompt or starts an agent for it.
func (r CustomCommands) Run(t CustomCall) func(ctx context.Context) (intent.Intent, error) {
	return func(ctx context.Context) (intent.Intent, error) {
		if r.serves(t.Name) {
			text, err := r.Served.Prompt(ctx, t.Name, t.Args)
			if err != nil {
				return nil, err
			}
			return intent.Said{Text: t.Said}, t.Prompt(ctx, t.served(text))
		}
		item, text := r.Skills.Now().Slash(t.Name), strings.TrimSpace("/"+t.Name+" "+t.Args)
		switch {
		case item == nil:
			return nil, fmt.Errorf("the command /%s is gone", t.Name)
		case !item.Fork:
			return intent.Said{Text: t.Said}, t.Prompt(ctx, text)
		}
		row, err := t.Push(ctx, tools.Task{Prompt: text, Start: true})
		if err != nil {
			return nil, err
		}
		return intent.Said{Text: t.Queued(row)}, nil
	}
}

// List lists everything found: first what is used, then what is not used and why.
func (r CustomCommands) List() string {
	if r.Skills == nil {
		return "no files with skills, commands or agents are known here"
	}
	l := r.Skills.Now()
	var b strings.Builder
	for _, k := range []skills.Kind{skills.Skill, skills.Command, skills.Agent} {
		r.list(&b, l, k)
	}
	for _, i := range l.Items {
		if i.Typed != "" {
			fmt.Fprintf(&b, "\n! %s: %s; models use it as the skill %s", i.Source, i.Typed, i.Name)
		}
		if i.Out != "" {
			fmt.Fprintf(&b, "\n! %s: %s %s is %s", i.Source, i.Kind, i.Name, i.Out)
			continue
		}
		for _, n := range i.Notes {
			b.WriteString("\n! " + n)
		}
	}
	for _, n := range l.Broken {
		b.WriteString("\n✗ " + n)
	}
	return cells.Clean(strings.TrimPrefix(b.String(), "\n"))
}

// list lists the items of a kind that are used.
func (r CustomCommands) list(b *strings.Builder, l *skills.List, k skills.Kind) {
	is := slices.DeleteFunc(slices.Clone(l.Items), func(i *skills.Item) bool { return i.Kind != k || i.Out != "" })
	if len(is) == 0 {
		return
	}
	b.WriteString("\n" + strings.ToUpper(string(k[:1])) + string(k[1:]) + "s" + told(r.Skills.Offer(), k, len(is)) + ":")
	wide := 0
	for _, i := range is {
		wide = min(30, max(wide, len(i.Name)))
	}
	for n, i := range is {
		if n == most {
			fmt.Fprintf(b, "\n  and %d more", len(is)-n)
			break
		}
		fmt.Fprintf(b, "\n  %-*s  %s", wide, i.Name, strings.Join(r.facts(i), " · "))
	}
}

// most limits the items of a kind that are listed.
const most = 100

// told says how much of a kind, of which there are all items, each request tells models.
func told(o *skills.Offer, k skills.Kind, all int) string {
	text, of := o.Agents, ""
	switch k {
	case skills.Command:
		return ""
	case skills.Agent:
		if o.Working < all {
			of = fmt.Sprintf("%d of them", o.Working)
		}
	case skills.Skill:
		text = o.Skills
		if o.Listed > 0 {
			of = fmt.Sprintf("%d of them", o.Listed)
		}
		if o.Short > 0 {
			of += fmt.Sprintf(", %d shortened", o.Short)
		}
		if o.Left > 0 {
			of += fmt.Sprintf(", %d left out", o.Left)
		}
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (models are told of %s: about %d tokens of each request)", strings.TrimSpace(strings.TrimPrefix(of+" ", ", ")+orAll(of)), history.Tokens(text))
}

func orAll(of string) string {
	if of == "" {
		return "all"
	}
	return ""
}

// facts returns what the list shows of an item.
func (r CustomCommands) facts(i *skills.Item) []string {
	fs := []string{brief(i.About, 60), i.Source, fmt.Sprintf("~%d tokens", history.TokensOf(int(i.Bytes)))}
	switch {
	case i.Kind == skills.Agent:
		fs = append(fs, role(i.Role)...)
	case i.Kind == skills.Skill && i.Manual:
		fs = append(fs, "you only: /"+i.Slash)
	}
	if rule := r.Skills.Denied(i); rule != "" {
		fs = append(fs, "denied to models by the rule "+rule)
	}
	if i.Fork {
		fs = append(fs, "runs in a new agent")
	}
	if n := len(i.Lines()); n > 0 {
		fs = append(fs, fmt.Sprintf("command lines that run where it is used: %d", n))
	}
	if i.Below != "" && !i.Manual {
		fs = append(fs, "told once a tool touched "+i.Below)
	}
	if i.Paths != nil {
		fs = append(fs, "for "+strings.Join(i.Paths, ", "))
	}
	return slices.DeleteFunc(fs, func(s string) bool { return s == "" })
}

// role returns what the list shows of an agent's role.
func role(r *skills.Role) (fs []string) {
	if r.Tools != nil {
		fs = append(fs, "tools "+strings.Join(r.Tools, ", "))
	}
	if r.Not != nil {
		fs = append(fs, "without "+strings.Join(r.Not, ", "))
	}
	if r.Mode != "" {
		fs = append(fs, "mode "+string(r.Mode))
	}
	if r.Model != "" {
		fs = append(fs, r.Model)
	}
	if r.Background {
		fs = append(fs, "runs in the background")
	}
	if r.Steps > 0 {
		fs = append(fs, fmt.Sprintf("at most %d requests", r.Steps))
	}
	return fs
}

// brief returns the beginning of a text.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := strings.LastIndexByte(s[:most], ' ')
	if cut < most/2 {
		cut = most
	}
	return strings.ToValidUTF8(s[:cut], "") + "…"
}
