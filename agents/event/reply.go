package event

import (
	"encoding/json"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools/validjson"
)

// longestName is how much of a tool's name is stored: no tool has a longer one.
const longestName = 100

// Reply collects the parts of a stream.
type Reply struct {
	blocks []block
	Calls  []history.Call
	Usage  llm.Usage
	Stop   *llm.Stop
	Noted  bool // some of it was saved while it streamed
	Before int  // bytes that the same request had output before, which are recorded
}

// block is a run of text or of thinking, or one call.
type block struct {
	index  int
	opaque string
	model  string
	text   *history.BlockText
	call   int // 1 + its index in Calls; 0: none
}

// Add takes the next part and returns the delta to show, if there is one.
func (r *Reply) Add(part llm.Part) (Delta, bool) {
	switch part := part.(type) {
	case llm.Text:
		b := r.block(part.Index, history.EntryText)
		upTo := b.text.Add(part.Text)
		return Delta{Block: len(r.blocks) - 1, Text: part.Text, Words: b.text, UpTo: upTo}, part.Text != ""
	case llm.Thinking:
		b := r.block(part.Index, history.EntryThinking)
		upTo := b.text.Add(part.Text)
		if part.Opaque != "" {
			b.opaque, b.model = part.Opaque, part.Model
		}
		return Delta{
			Block: len(r.blocks) - 1, Thinking: true, Text: part.Text, Words: b.text, UpTo: upTo,
		}, part.Text != ""
	case llm.ToolCall:
		args, _ := validjson.Make(part.Args) // the same arguments are shown, run, stored and sent again
		r.Calls = append(r.Calls, history.Call{ID: part.ID, Name: llm.Clip(part.Name, longestName), Args: args, Title: part.Title})
		r.blocks = append(r.blocks, block{call: len(r.Calls)})
	case llm.Usage:
		r.Usage = part
	case llm.Stop:
		r.Stop = &part
	}
	return Delta{}, false
}

// block returns the block the next piece belongs to: the last one, or a new one of that kind.
func (r *Reply) block(index int, kind history.EntryKind) *block {
	if n := len(r.blocks); n == 0 || r.blocks[n-1].index != index || !r.blocks[n-1].holds(kind) {
		r.blocks = append(r.blocks, block{index: index, text: &history.BlockText{Kind: kind}})
	}
	return &r.blocks[len(r.blocks)-1]
}

// holds reports whether the block is a run of text or of thinking, as kind says. A call is neither.
func (b *block) holds(kind history.EntryKind) bool { return b.text != nil && b.text.Kind == kind }

// Empty reports whether there are no words and no calls.
func (r *Reply) Empty() bool { return len(r.blocks) == 0 }

// Text returns the reply's text, without thinking and calls.
func (r *Reply) Text() string {
	var said []string
	for _, b := range r.blocks {
		if b.holds(history.EntryText) {
			said = append(said, b.text.String())
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n\n"))
}

// Len returns how many bytes of text, of thinking and of calls there are. Call it once the reply is over.
func (r *Reply) Len() (n int) {
	for _, b := range r.blocks {
		if b.text != nil {
			n += b.text.Size()
		}
	}
	for _, c := range r.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}

// Check refuses a reply with a call that can't be recorded.
func (r *Reply) Check(model string) error {
	for _, c := range r.Calls {
		if !json.Valid(c.Args) {
			return &llm.Error{Kind: llm.Protocol, Provider: model, Message: fmt.Sprintf(
				"The arguments of a call of %q are no JSON, so nothing of the reply ran. Try again.", c.Name)}
		}
	}
	return nil
}

// Claim gives a call whose id is empty or already used an id of its own, so that no result can answer two calls, and
// adds the ids to those in use.
func (r *Reply) Claim(used map[string]bool) {
	for i := range r.Calls {
		c := &r.Calls[i]
		base := llm.Clip(c.ID, longestName)
		if base == "" {
			base = "call"
		}
		for n := 1; c.ID == "" || used[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s-%d", base, n)
		}
		used[c.ID] = true
	}
}

// Short says why the reply is less than a full answer; "": it is one. The human sees this in the tab; an agent that
// dispatched the task must not take it for done.
func (r *Reply) Short() string {
	switch {
	case r.Stop == nil:
	case r.Stop.Reason == llm.Refusal:
		return strings.TrimSpace("the model refused to answer. " + r.Stop.Detail)
	case r.Stop.Reason == llm.Length:
		return "the answer was cut: it reached the model's token limit"
	case r.Stop.Reason == llm.Incomplete:
		return "the answer may be incomplete: the server ended it without saying that it is complete"
	}
	return ""
}

// amiss tells the model why calls of its reply did not run.
func (r *Reply) amiss() string {
	names := llm.Clip(strings.Join(r.Stop.Broken, ", "), longestName)
	if r.Stop.Reason == llm.Incomplete {
		return fmt.Sprintf("Your reply ended before the call of %s was complete; that call did not run. Make it again.", names)
	}
	if r.Stop.Reason == llm.Length {
		return fmt.Sprintf("Your reply reached its token limit before the call of %s was complete; "+
			"that call did not run. Go on in smaller pieces.", names)
	}
	return fmt.Sprintf("The arguments of your call of %s were not a JSON object; that call did not run. "+
		"Make it again, with one whole object.", names)
}

// Entries returns the entries that record the reply. It leaves out calls that must not run: r.Calls is empty then.
func (r *Reply) Entries(model string, title func(string, json.RawMessage) string) []history.Entry {
	var es []history.Entry
	said := false
	for _, b := range r.blocks {
		switch {
		case b.call > 0:
			if len(r.Calls) >= b.call {
				c := &r.Calls[b.call-1]
				if c.Title == "" {
					c.Title = title(c.Name, c.Args)
				}
				es = append(es, history.Entry{Kind: history.EntryCall, Call: c})
				said = true
			}
		case b.holds(history.EntryThinking):
			if b.text.Size() > 0 || b.opaque != "" {
				es = append(es, history.Entry{
					Kind: history.EntryThinking, Text: b.text.String(), Opaque: b.opaque, Model: b.model, Words: b.text,
				})
			}
		case b.text.Solid:
			es = append(es, history.Entry{Kind: history.EntryText, Text: b.text.String(), Model: model, Words: b.text})
			said = true
		}
	}
	if r.Stop == nil {
		return es
	}
	for _, text := range r.Stop.Told {
		es = append(es, history.Entry{Kind: history.EntryNotice, Text: text})
	}
	if r.Stop.Reason == llm.Incomplete {
		es = append(es, history.Entry{
			Kind: history.EntryNotice, Text: "The answer may be incomplete: the server ended it twice without saying that it is complete.",
		})
	}
	switch {
	case len(r.Stop.Broken) > 0:
		es = append(es, history.Entry{Kind: history.EntryHost, Text: r.amiss()})
	case r.Stop.Reason == llm.Length:
		es = append(es, history.Entry{
			Kind: history.EntryNotice, Text: "The answer was cut: it reached the model's token limit. Ask it to go on.",
		})
	case r.Stop.Reason == llm.Refusal:
		es = append(es, history.Entry{
			Kind: history.EntryNotice, Text: strings.TrimSpace("The model refused to answer. " + r.Stop.Detail),
		})
	case !said:
		es = append(es, history.Entry{Kind: history.EntryNotice, Text: "The model answered nothing."})
	}
	return es
}
