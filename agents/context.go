package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
	"fantail/tools"
)

// served names the tools of MCP servers in a breakdown of a request.
const served = "tools of MCP servers"

// Context breaks down an agent's next request. The tokens of Parts and of the mail are estimates.
type Context struct {
	Model      string
	Abroad     bool // another vendor's agent keeps the conversation; Parts hold only what this program sent and received
	Used       int  // tokens of the last request and its reply; 0: unknown
	Window     int  // in tokens; 0: unknown
	Parts      []ContextPart
	Mail       int // number of messages in the context
	MailTokens int // tokens of those messages
}

// ContextPart is one kind of content in a context.
type ContextPart struct {
	What   string
	Items  int
	Tokens int
}

// Context breaks an agent's next request down by kind of content.
func (l *Records) Context(ctx context.Context, agent int64) (Context, error) {
	i, empty, err := l.pool.preamble(agent)
	if err != nil {
		return Context{}, err
	}
	room := 0
	if empty != nil {
		room = history.Room(i.Window)
	}
	var talk history.Talk
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		newest, err := rx.NewestSeq()
		if err != nil {
			return err
		}
		return talk.Read(rx, agent, newest, room)
	})
	if err != nil {
		return Context{}, fmt.Errorf("read the conversation: %w", err)
	}
	entries := talk.Entries
	c := Context{Model: i.Model, Abroad: empty == nil, Used: i.Context, Window: i.Window}
	parts := map[string]*ContextPart{}
	order := []string{"system prompt"}
	add := func(what string, items, tokens int) {
		if parts[what] == nil {
			parts[what] = &ContextPart{What: what}
		}
		parts[what].Items += items
		parts[what].Tokens += tokens
	}
	if empty != nil {
		all := history.Tokens(empty.System)
		own := *empty
		own.Tools = slices.DeleteFunc(slices.Clone(empty.Tools), func(t llm.Tool) bool { return strings.HasPrefix(t.Name, tools.LentName) || t.Name == tools.FindTool })
		add("tools", len(own.Tools), history.Estimate(&own)-all)
		if n := len(empty.Tools) - len(own.Tools); n > 0 {
			add(served, n, history.Estimate(empty)-history.Estimate(&own))
		}
		if l.Carries != nil {
			for _, c := range l.Carries(i) {
				if n := history.Tokens(c.Text); n > 0 && n <= all && strings.Contains(empty.System, c.Text) {
					add(c.What, c.Items, n)
					order = append(order, c.What)
					all -= n
				}
			}
		}
		add("system prompt", 1, all) // the remainder, so that the parts add up to what is sent
	}
	gone := history.Withdrawn(entries)
	for _, e := range entries {
		what := history.KindOf(e)
		if what == "" || gone[e.Seq] {
			continue
		}
		if c.Mail += len(e.Messages); len(e.Messages) > 0 {
			c.MailTokens += e.Tokens
		}
		add(what, max(1, len(e.Messages)), history.Weight(e))
	}
	order = append(order, "tools", served, "summary", "prompts", "answers", "tool calls", "tool results", "mail",
		"memory documents", "instruction files", "your own commands", "notes of the program")
	for _, what := range order {
		if x := parts[what]; x != nil {
			c.Parts = append(c.Parts, *x)
		}
	}
	return c, nil
}

// preamble returns an agent's Info and its request before anything was said: the system prompt and
// the tools. The request is nil if another vendor's agent carries out its turns.
func (p *Pool) preamble(agent int64) (event.Info, *llm.Request, error) {
	l, err := p.loops.Of(agent)
	if err != nil {
		return event.Info{}, nil, err
	}
	return l.Agent.Known(), l.Preamble(), nil
}
