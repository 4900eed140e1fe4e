package vendor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/acp/schema"
	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/content"
)

// The bounds of what is kept, whatever an agent says.
const (
	mostNotes = 100     // of a turn, for the human
	mostNote  = 8 << 10 // bytes of one
	mostPlan  = 50      // lines of a plan
	mostTail  = 4 << 10 // bytes of what the screen shows of a call while it runs
)

// reply collects what an agent says.
type reply struct {
	dir     string // where it works
	index   int    // of the block that goes on
	voice   string // whose it is, and of which message; "": none goes on
	spoke   bool   // it has words
	calls   map[string]*call
	begun   []*call // those that nobody was told of
	kept    int     // bytes of what is kept of calls that have not ended
	done    []engine.Done
	notes   []string
	noted   int             // how many there were in this turn
	strange map[string]bool // what this program does not know, and has noted
	plan    string
	stop    schema.PromptResponse
	broken  bool   // it says that its turn has failed
	failed  string // what it has said since, the beginning
}

func newReply(dir string) *reply {
	return &reply{dir: dir, calls: map[string]*call{}, strange: map[string]bool{}}
}

// note is for the human. Of very many in a turn the rest is only counted.
func (r *reply) note(text string) {
	if r.noted++; r.noted <= mostNotes {
		r.notes = append(r.notes, content.Middle(text, mostNote))
	}
}

// over says that a turn has ended.
func (r *reply) over() {
	if more := r.noted - mostNotes; more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("It said %d more things in this turn that are not shown.", more))
	}
	r.voice, r.calls, r.kept, r.plan, r.noted = "", map[string]*call{}, 0, "", 0
	r.broken, r.failed = false, ""
	r.stop = schema.PromptResponse{}
}

// parts reports whether an event shows that what has begun is complete: it is about something else.
func (r *reply) parts(e event) bool {
	if len(r.begun) == 0 || e == nil {
		return false
	}
	if q, ok := e.(asked); ok { // which tells more of a call than what began it
		if p, is := q.ask.(schema.PermissionRequest); is {
			r.asked(p.Call)
		}
	}
	if u, ok := e.(schema.ToolCall); ok {
		if known := r.calls[u.ID]; known == nil || !known.told && !ended(u.Status.V) {
			return false
		}
	}
	switch e.(type) {
	case schema.Usage, schema.Commands, schema.Info, schema.Options, schema.Modes, schema.Alone, steered, settled:
		return false
	}
	return true
}

// begin returns the calls that have begun, which count as told from now on.
func (r *reply) begin() (calls []llm.ToolCall) {
	for _, c := range r.begun {
		c.told = true
		calls = append(calls, c.begins())
		if c.ended() {
			r.lets(c)
		}
	}
	r.begun = nil
	return calls
}

// ends answers the calls that did not end, as the turn has.
func (r *reply) ends(ctx context.Context) {
	how := "It did not say how this ended."
	if ctx.Err() != nil {
		how = "(stopped)"
	}
	for _, id := range slices.Sorted(maps.Keys(r.calls)) {
		if c := r.calls[id]; !c.ended() {
			text := how
			if said := c.said(); said != "" {
				text = content.Middle(said, mostText) + "\n" + how
			}
			c.status = "failed"
			r.done = append(r.done, engine.Done{Call: id, Result: tools.Result{Text: text, Error: true}, Cut: true})
		}
	}
}

// hear takes an update, and reports whether it is of the turn: the agent has what it was sent.
func (r *reply) hear(u schema.Update, tell func(llm.Part), output func(call, tail string)) bool {
	switch u := u.(type) {
	case schema.Chunk:
		r.says(u, tell)
	case schema.ToolCall:
		r.calling(u, output)
	case schema.Plan:
		if text := planned(u); text != r.plan {
			r.plan = text
			r.note(text)
		}
	case schema.Notice:
		r.note(strings.TrimSpace(tools.Line(u.Title + " " + u.Description.V)))
	case schema.Compaction:
		if u.Status == "completed" || u.Error.OK {
			r.note(cmp.Or(tools.Line(u.Error.V), "It has compacted its conversation."))
		}
	case schema.Info:
		if broken, known := u.Broken(); known {
			r.broken, r.failed = broken, ""
		}
		return false
	case schema.Unknown:
		if kind := tools.Line(u.Kind); !r.strange[kind] && len(r.strange) < mostNotes {
			r.strange[kind] = true
			r.note("It says something that this program can't show: " + kind)
		}
		return false
	default:
		return false
	}
	return true
}

// says takes a piece of a text.
func (r *reply) says(u schema.Chunk, tell func(llm.Part)) {
	if u.Of == schema.Heard {
		return
	}
	voice := "answer " + u.Message
	if u.Of == schema.Thought {
		voice = "thought " + u.Message
	}
	if voice != r.voice {
		r.index++
		r.voice, r.spoke = voice, false
	}
	text := u.Block.Words()
	if r.broken && u.Of == schema.Answer && len(r.failed) < mostTail {
		r.failed += text
	}
	if !r.spoke { // some begin with an empty line
		text = strings.TrimLeft(text, "\n")
		r.spoke = text != ""
	}
	if text == "" {
		return
	}
	if u.Of == schema.Thought {
		tell(llm.Thinking{Text: text, Index: r.index})
		return
	}
	tell(llm.Text{Text: text, From: llm.FromModel, Index: r.index})
}

// calling takes what is new of a call.
func (r *reply) calling(u schema.ToolCall, output func(call, tail string)) {
	r.voice = ""
	c := r.calls[u.ID]
	switch {
	case c == nil:
		c = &call{id: u.ID, dir: r.dir}
		r.calls[u.ID] = c
		r.begun = append(r.begun, c)
	case c.ended():
		return
	}
	r.takes(c, u)
	switch {
	case c.ended():
		r.done = append(r.done, engine.Done{Call: c.id, Result: c.result()})
		r.lets(c)
	case c.told && (u.Content.OK || u.Written() != "") && c.said() != "":
		output(c.id, c.tail())
	}
}

// takes takes the fields that an update of a call has. Where too much is kept of all of them, what this one makes is not.
func (r *reply) takes(c *call, u schema.ToolCall) {
	r.kept -= c.size()
	c.takes(u)
	if r.kept += c.size(); r.kept > mostKept {
		r.kept -= c.size()
		c.input, c.text, c.diff, c.written, c.output = nil, "(not kept: it was too much at once)", "", "", ""
		r.kept += c.size()
	}
}

// lets lets go of all of a call but that it has ended. One that has not been told of keeps what it was called with.
func (r *reply) lets(c *call) {
	r.kept -= c.size()
	c.text, c.diff, c.written, c.output = "", "", "", ""
	if c.told {
		c.input = nil
	}
	r.kept += c.size()
}

// planned is a plan as lines for people.
func planned(p schema.Plan) string {
	marks := map[string]string{"completed": "✓", "in_progress": "▸"}
	lines := []string{"Its plan:"}
	for i, e := range p.Entries.All {
		if i == mostPlan {
			lines = append(lines, fmt.Sprintf("and %d more", len(p.Entries.All)-i))
			break
		}
		lines = append(lines, cmp.Or(marks[e.Status.V], "○")+" "+tools.Line(e.Content))
	}
	return strings.Join(lines, "\n")
}
