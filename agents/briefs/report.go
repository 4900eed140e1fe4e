package briefs

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/instructions"
	"fantail/store"
)

// Line is one file that an agent follows, or will.
type Line struct {
	Name   string
	How    string // it came to the agent: start, import, touched, changed, new, next, waits or gone
	By     string // what imports it, or the patterns it waits for
	Tokens int    // about
}

// Report is what an agent is told of files.
type Report struct {
	Follows bool // it is told of any
	Lines   []Line
	Tokens  int // about, of all it was told
	Start   int // of these, in its system prompt
	Notes   []instructions.Note
	Allowed []string // outside of the workspace
}

// Book answers what agents are told, and lets files be imported.
type Book struct {
	*Room
	DB *store.DB
}

// Report says what an agent was told, and what not.
func (b Book) Report(ctx context.Context, i event.Info) (Report, error) {
	r := b.Room
	if r == nil || !follows(i) {
		return Report{}, nil
	}
	had, later, err := briefed(ctx, b.DB, i.ID)
	if err != nil {
		return Report{}, err
	}
	fit, notes := instructions.Fit(r.base.Files, room(i.Window))
	p := Report{Follows: true, Notes: append(r.notes(), notes...)}
	if len(fit) > 0 {
		p.Start = history.Tokens(instructions.Render(fit))
	}
	p.Tokens = p.Start + later
	add := func(l Line) { p.Lines = append(p.Lines, l) }
	for _, f := range fit {
		how := "start"
		if f.By != "" {
			how = "import"
		}
		add(Line{f.Name, how, f.By, history.Tokens(f.Text)})
	}
	for _, b := range had {
		add(Line{Name: b.Name, How: b.Why, Tokens: history.TokensOf(b.Bytes)})
	}
	now := r.Now()
	for _, f := range now.Files { // what came since the program started, and this agent will hear of
		if !holds(r.base.Files, had, f) {
			add(Line{Name: f.Name, How: "next", Tokens: history.Tokens(f.Text)})
		}
	}
	for _, f := range slices.Concat(now.Rules, r.more(i, nil)) {
		if !slices.ContainsFunc(had, func(b history.Brief) bool { return b.Path == f.Path }) {
			add(Line{f.Name, "waits", strings.Join(f.Paths, ", "), history.Tokens(f.Text)})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range r.place.Allowed {
		p.Allowed = append(p.Allowed, r.place.Name(path))
	}
	return p, nil
}

// holds reports whether an agent was told what a file says now.
func holds(base []instructions.File, had []history.Brief, f instructions.File) bool {
	if n := slices.IndexFunc(had, func(b history.Brief) bool { return b.Path == f.Path }); n >= 0 {
		return had[n].Hash == f.Hash
	}
	return slices.ContainsFunc(base, func(g instructions.File) bool { return g.Path == f.Path && g.Hash == f.Hash })
}
