package history

import (
	"fantail/agents/llm"
	"fantail/inbox"
)

const (
	ItemTokens = 16_000  // of one message in a take that was asked for
	SomeWindow = 128_000 // assumed for a model whose window is unknown
)

// Tokens estimates how many tokens s takes, erring on the high side.
func Tokens(s string) int { return TokensOf(len(s)) }

// TokensOf is Tokens of a text of that many bytes.
func TokensOf(bytes int) int { return (2*bytes + 6) / 7 }

// BytesOf returns the length of a text of n tokens.
func BytesOf(n int) int { return n * 7 / 2 }

// MessageTokens estimates how many tokens m takes when a model reads it. For a message from a list its size is enough.
func MessageTokens(m inbox.Message) int {
	size := max(m.Size-len(m.Subject), len(m.Text()))
	m.Subject, m.Body = llm.Clip(m.Subject, priced), llm.Clip(m.Body, priced)
	m.Error, m.Partial = llm.Clip(m.Error, priced), llm.Clip(m.Partial, priced)
	r := inbox.NewRendering(m.Created, 0)
	around := len(r.Fired([]inbox.Message{m})) - len(m.Text())
	return (2*(around+min(size, BytesOf(ItemTokens))) + 6) / 7
}

// priced is how much of each text is rendered to measure the envelope around it.
const priced = 512

// KindOf returns what an entry counts as in a context; "": nothing.
func KindOf(e Entry) string {
	switch {
	case e.Kind == EntryMessage && e.Text == "": // only the human reads it
		return ""
	case len(e.Messages) > 0:
		return "mail"
	case e.Kind == EntryResult:
		return "tool results"
	}
	return map[EntryKind]string{
		EntrySummary: "summary", EntryPrompt: "prompts", EntryText: "answers", EntryCall: "tool calls",
		EntryMessage: "mail", EntryMemory: "memory documents", EntryShell: "your own commands",
		EntryBriefed: "instruction files", EntryHost: "notes of the program", EntrySnapshot: "notes of the program",
	}[e.Kind]
}

// Weight estimates the tokens of an entry in a request.
func Weight(e Entry) int {
	n := Estimate(&llm.Request{Messages: Request([]Entry{e}, "")})
	switch {
	case e.Kind == EntryResult && e.Result != nil: // a result without its call is not sent
		n = Tokens(e.Result.Text)
		for _, p := range e.Result.Shows {
			n += p.Tokens()
		}
	case e.Kind == EntryCall && e.Call != nil: // a call without its result gets one
		n = Tokens(e.Call.Name + string(e.Call.Args))
	}
	return n
}

// Estimate estimates the tokens of a request.
func Estimate(req *llm.Request) int {
	n := Tokens(req.System)
	for _, t := range req.Tools {
		n += Tokens(t.Name + t.Description + string(t.Schema))
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += Tokens(p.Text)
			case llm.Thinking:
				n += Tokens(p.Text + p.Opaque)
			case llm.ToolCall:
				n += Tokens(p.Name + string(p.Args))
			case llm.ToolResult:
				n += Tokens(p.Text)
				for _, i := range p.Images {
					n += i.Tokens
				}
			}
		}
	}
	return n
}

// TakeRoom returns how much of a model's window one take of mail may fill, in tokens; window 0: unknown.
func TakeRoom(window int) int {
	if window == 0 {
		window = SomeWindow
	}
	return window / 4
}
