package instructions

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// BriefLine is one file that an agent follows, or will.
type BriefLine struct {
	Name   string
	How    string // how it came to the agent: start, import, touched, changed, new, next, waits or gone
	By     string // what imports it, or the patterns it waits for
	Tokens int    // about
}

// BriefReport is what an agent is told about instruction files.
type BriefReport struct {
	Follows bool // it is told about any
	Lines   []BriefLine
	Tokens  int // about, of all it was told
	Start   int // of these, in its system prompt
	Notes   []Note
	Allowed []string // outside of the workspace
}

// BriefReports reports what agents are told, and lets files be imported.
type BriefReports struct {
	*Briefs
	DB *store.DB
}

// Report returns what an agent was told, and what it was not.
func (b BriefReports) Report(ctx context.Context, i event.Info) (BriefReport, error) {
	r := b.Briefs
	if r == nil || !follows(i) {
		return BriefReport{}, nil
	}
	had, later, err := briefed(ctx, b.DB, i.ID)
	if err != nil {
		return BriefReport{}, err
	}
	fit, notes := Fit(r.base.Files, room(i.Window))
	p := BriefReport{Follows: true, Notes: append(r.notes(), notes...)}
	if len(fit) > 0 {
		p.Start = history.Tokens(Render(fit))
	}
	p.Tokens = p.Start + later
	add := func(l BriefLine) { p.Lines = append(p.Lines, l) }
	for _, f := range fit {
		how := "start"
		if f.By != "" {
			how = "import"
		}
		add(BriefLine{f.Name, how, f.By, history.Tokens(f.Text)})
	}
	for _, b := range had {
		add(BriefLine{Name: b.Name, How: b.Why, Tokens: history.TokensOf(b.Bytes)})
	}
	now := r.Now()
	for _, f := range now.Files { // files that changed since the program started, and of which this agent will be told
		if !holds(r.base.Files, had, f) {
			add(BriefLine{Name: f.Name, How: "next", Tokens: history.Tokens(f.Text)})
		}
	}
	for _, f := range slices.Concat(now.Rules, r.more(i, nil)) {
		if !slices.ContainsFunc(had, func(b history.Brief) bool { return b.Path == f.Path }) {
			add(BriefLine{f.Name, "waits", strings.Join(f.Paths, ", "), history.Tokens(f.Text)})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range r.place.Allowed {
		p.Allowed = append(p.Allowed, r.place.Name(path))
	}
	return p, nil
}

// holds reports whether an agent was told the present text of a file.
func holds(base []File, had []history.Brief, f File) bool {
	if n := slices.IndexFunc(had, func(b history.Brief) bool { return b.Path == f.Path }); n >= 0 {
		return had[n].Hash == f.Hash
	}
	return slices.ContainsFunc(base, func(g File) bool { return g.Path == f.Path && g.Hash == f.Hash })
}
