package agents

import (
	"context"
	"fmt"

	"fantail/agents/llm"
	"fantail/store"
)

// Context is what an agent's next request would consist of. The numbers of Parts
// and Mail are estimates.
type Context struct {
	Model      string
	Used       int // tokens of the last request and its reply; 0: unknown
	Window     int // tokens the model reads; 0: unknown
	Parts      []ContextPart
	Mail       int // messages that were taken into it
	MailTokens int // what they cost
}

// ContextPart is a kind of thing in a context.
type ContextPart struct {
	What   string
	Items  int
	Tokens int
}

// Context takes apart what an agent is sent.
func (p *Pool) Context(ctx context.Context, agent int64) (Context, error) {
	a, err := p.agent(agent)
	if err != nil {
		return Context{}, err
	}
	var entries []Entry
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		after, err := begins(rx, agent)
		if err != nil {
			return err
		}
		rows, err := rx.EntriesAfter(agent, after, 0)
		for _, e := range decodeAll(rows) {
			entries = e.extend(entries)
		}
		return err
	})
	if err != nil {
		return Context{}, fmt.Errorf("read the conversation: %w", err)
	}
	p.mu.Lock()
	c := Context{Model: a.info.Model, Used: a.info.Context, Window: a.info.Window}
	p.mu.Unlock()
	empty := a.requestOf(nil)
	parts := map[string]*ContextPart{}
	add := func(what string, items, tokens int) {
		if parts[what] == nil {
			parts[what] = &ContextPart{What: what}
		}
		parts[what].Items += items
		parts[what].Tokens += tokens
	}
	add("system prompt", 1, tokens(empty.System))
	add("tools", len(empty.Tools), weigh(empty)-tokens(empty.System))
	gone := withdrawn(entries)
	for _, e := range entries {
		what := contextKind(e)
		if what == "" || gone[e.Seq] {
			continue
		}
		if c.Mail += len(e.Messages); len(e.Messages) > 0 {
			c.MailTokens += e.Tokens
		}
		add(what, max(1, len(e.Messages)), heft(e))
	}
	for _, what := range []string{
		"system prompt", "tools", "summary", "prompts", "answers", "tool calls", "tool results", "mail", "memory documents", "your own commands", "notes of the program",
	} {
		if x := parts[what]; x != nil {
			c.Parts = append(c.Parts, *x)
		}
	}
	return c, nil
}

// contextKind says what an entry is in a context; "": nothing.
func contextKind(e Entry) string {
	switch {
	case e.Kind == EntryMessage && e.Text == "": // the human alone reads it
		return ""
	case len(e.Messages) > 0:
		return "mail"
	case e.Kind == EntryResult:
		return "tool results"
	}
	return map[EntryKind]string{
		EntrySummary: "summary", EntryPrompt: "prompts", EntryText: "answers", EntryCall: "tool calls", EntryMessage: "mail", EntryMemory: "memory documents",
		EntryShell: "your own commands", EntryHost: "notes of the program", EntrySnapshot: "notes of the program",
	}[e.Kind]
}

// heft estimates the tokens of an entry in a request.
func heft(e Entry) int {
	n := weigh(&llm.Request{Messages: messages([]Entry{e}, "")})
	switch {
	case e.Kind == EntryResult && e.Result != nil: // a result without its call is not sent
		n = tokens(e.Result.Text)
	case e.Kind == EntryCall && e.Call != nil: // a call without its result gets one
		n = tokens(e.Call.Name + string(e.Call.Args))
	}
	return n
}
