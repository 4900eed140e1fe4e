package panel

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"fantail/agents/event"
	rules "fantail/agents/permissions"
	"fantail/themes"
	"fantail/tools/permit"
	"fantail/tools/permit/toolrule"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/slash/permissions"
)

// ruleStock is the rules under which calls run, as a panel lists them, and the command lines that were tested on it.
type ruleStock struct {
	Env
	agent int64 // whose inbox and queue the keys open
	name  string

	rows   []ruleRow
	tested []rules.Test // the newest first
	lines  []string     // of them
	shown  ruleQuery
	any    bool // they were read
}

// ruleQuery is which rules the board shows.
type ruleQuery struct {
	lane   int
	search string
	tests  int
}

// ruleRow is a row of the board: a rule, what is wrong with a file, or a command line that was tested.
type ruleRow struct {
	id   int64
	lane int
	rules.Entry
	fault string
	test  *rules.Test
}

// The lanes of the rules.
const (
	laneOffered = iota
	laneDeny
	laneAsk
	laneAllow
	laneFaults
	laneTested
)

// mostTested is how many command lines that were tested are kept.
const mostTested = 20

var ruleVerbs = []dialog.Verb{
	{Key: "t", Name: "test", Hint: "tests a command", Help: "type a command line: which rule decides about it, in which mode, and why", Ask: "test› ", Bare: true},
	{Key: "y", Name: "accept", Hint: "lets hold", Help: "let hold what a file of this project wants allowed, as long as it says that word for word"},
	{Key: "n", Name: "refuse", Hint: "refuses", Help: "don't let it hold"},
	{Key: "d x delete", Name: "revoke", Hint: "takes back", Help: "take back a rule that you gave for the session or the project"},
	{Key: "f3 i", Name: "inbox", Help: "the inbox", Bare: true},
	{Key: "f4 Q", Name: "queue", Help: "the queue", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "alt+a f5", Name: "question", Help: "answer the oldest open question", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// Rules opens the panel of the rules under which calls run.
func Rules(e Env, agent int64, name string) *Panel {
	box := dialog.NewBoard(e.Theme, e.Now, "Permissions",
		"No rules: the mode alone decides (/mode). [permissions] in config.toml, and deny in a project's .claude/settings.json, make some. t tests a command.", ruleVerbs, false)
	s := &ruleStock{Env: e, agent: agent, name: name}
	_, lanes := ruleLines(nil, ruleQuery{})
	box.Lanes(lanes)
	return open(e, box, s)
}

func (s *ruleStock) recolour(t *themes.Theme) { s.Theme = t }

func (s *ruleStock) touched(e event.Event) bool {
	_, tally := e.(event.Tally) // follows each change of the mode, and each answer
	return tally
}

func (s *ruleStock) next(b *dialog.Board, stale staleness) read {
	want := ruleQuery{b.Lane(), b.Search(), len(s.tested)}
	if !bool(stale) && s.any && want == s.shown {
		return nil
	}
	room, tested, asked := s.Pool.Rules, slices.Clone(s.tested), slices.Clone(s.lines)
	return func(context.Context) (func(b *dialog.Board), error) {
		all, broken, ignored := room.List()
		rows := ruleRows(all, broken, ignored)
		for i := range tested {
			rows = append(rows, ruleRow{lane: laneTested, Entry: rules.Entry{Text: asked[i]}, test: &tested[i]})
		}
		name(rows)
		lines, lanes := ruleLines(rows, want)
		return func(b *dialog.Board) {
			s.rows, s.shown, s.any = rows, want, true
			b.Lanes(lanes)
			b.Show(lines, false, false)
		}, nil
	}
}

// ruleRows are the rows of rules, those that are offered first.
func ruleRows(all []rules.Entry, broken, ignored []string) (rows []ruleRow) {
	lanes := map[toolrule.List]int{toolrule.Deny: laneDeny, toolrule.Ask: laneAsk, toolrule.Allow: laneAllow}
	for _, e := range all {
		r := ruleRow{lane: lanes[e.List], Entry: e}
		if e.State == rules.Open || e.State == rules.Refused {
			r.lane = laneOffered
		}
		rows = append(rows, r)
	}
	for i, fs := range [][]string{broken, ignored} {
		for _, f := range fs {
			// FILE:LINE:COLUMN: what is wrong
			place, what, is := strings.Cut(f, ": ")
			if !is {
				place, what = "", f
			}
			rows = append(rows, ruleRow{lane: laneFaults, Entry: rules.Entry{Text: what, From: place}, fault: []string{"can't be read", "not obeyed"}[i]})
		}
	}
	slices.SortStableFunc(rows, func(x, y ruleRow) int { return x.lane - y.lane })
	return rows
}

// name gives each row an id that stays its own as long as it says the same.
func name(rows []ruleRow) {
	had := map[int64]bool{}
	for i, r := range rows {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00%t", r.List, r.Text, r.From, r.test != nil)
		id := int64(h.Sum64()>>1) | 1
		for ; had[id]; id += 2 {
		}
		had[id], rows[i].id = true, id
	}
}

// ruleLines are the rows as the board shows them, grouped if all show, and the counts.
func ruleLines(rows []ruleRow, want ruleQuery) ([]dialog.Line, []dialog.Lane) {
	lanes := []dialog.Lane{
		{Name: "Offered", Short: "Offer", Role: themes.Warn},
		{Name: "Deny", Short: "Deny", Role: themes.Bad},
		{Name: "Ask", Short: "Ask", Role: themes.Accent},
		{Name: "Allow", Short: "Allow", Role: themes.Good},
		{Name: "Faults", Short: "Bad", Role: themes.Bad},
		{Name: "Tested", Short: "Test", Role: themes.Text},
	}
	var lines []dialog.Line
	word, group := strings.ToLower(want.search), -1
	for _, r := range rows {
		lanes[r.lane].Count++
		switch {
		case word != "" && !strings.Contains(strings.ToLower(r.Text+" "+r.From), word):
			continue
		case want.lane >= 0 && want.lane != r.lane:
			continue
		case want.lane < 0 && group != r.lane:
			group = r.lane
			lines = append(lines, dialog.Line{Text: lanes[group].Name})
		}
		lines = append(lines, r.line())
	}
	return lines, lanes
}

// line is the row as the board shows it.
func (r ruleRow) line() dialog.Line {
	l := dialog.Line{ID: r.id, Lane: r.lane, Text: r.Text, Faint: r.Never}
	switch r.lane {
	case laneOffered:
		l.Sign, l.Role, l.Flags = "?", themes.Warn, "offered"
		if r.State == rules.Refused {
			l.Sign, l.Flags, l.Faint = "·", "refused", true
		}
	case laneDeny:
		l.Sign, l.Role = "✗", themes.Bad
	case laneAsk:
		l.Sign, l.Role = "?", themes.Accent
	case laneAllow:
		l.Sign, l.Role = "✓", themes.Good
		if r.State == rules.Accepted {
			l.Flags = "accepted"
		}
	case laneFaults:
		l.Sign, l.Role, l.Flags = "!", themes.Bad, r.fault
		l.Text = r.Text + " · " + r.From
		return l
	case laneTested:
		l.Sign, l.Role = "✗", themes.Bad
		switch r.test.Decision {
		case permit.Allow:
			l.Sign, l.Role = "✓", themes.Good
		case permit.AskHuman:
			l.Sign, l.Role = "?", themes.Accent
		}
		l.Text += " → " + permissions.Said(r.test.Decision)
		return l
	}
	if r.Never {
		l.Flags = strings.TrimSpace(l.Flags + " never")
	}
	if r.From != "" {
		l.Text += " · " + r.From
	}
	return l
}

func (s *ruleStock) row(id int64) (ruleRow, bool) {
	i := slices.IndexFunc(s.rows, func(r ruleRow) bool { return r.id == id })
	if i < 0 {
		return ruleRow{}, false
	}
	return s.rows[i], true
}

func (s *ruleStock) preview(id int64) func(ctx context.Context) (*preview, error) {
	r, ok := s.row(id)
	theme, now := s.Theme, s.Now
	return func(context.Context) (*preview, error) {
		p := newPreview(theme, now)
		if ok {
			p.rule(r)
		}
		return p, nil
	}
}

// rule is what is known of a row.
func (p *preview) rule(r ruleRow) {
	long := func(label, text string) {
		if text != "" {
			p.facts = append(p.facts, fact{label: label, text: text, role: themes.Text, most: 3})
		}
	}
	switch {
	case r.test != nil:
		p.facts = append(p.facts, fact{text: r.Text, role: themes.Accent, most: 4})
		p.plain("In mode " + string(r.test.Mode) + ", which holds:\n" + strings.Join(permissions.Tested(*r.test), "\n"))
		return
	case r.fault != "":
		p.facts = append(p.facts, fact{text: r.fault, role: themes.Bad})
		long("from", r.From)
		p.plain(r.Text)
		return
	}
	p.facts = append(p.facts, fact{text: string(r.List) + " " + r.Text, role: themes.Accent, most: 4})
	long("from", r.From)
	long("here", r.Here)
	var text []string
	if r.Note != "" {
		text = append(text, strings.ToUpper(r.Note[:1])+r.Note[1:]+".")
	}
	switch {
	case r.State == rules.Open && r.Never:
		text = append(text, "A file of this project wants it allowed.")
	case r.State == rules.Open:
		text = append(text, "A file of this project wants it allowed. It holds only if you say so: y lets it hold here, as long as the file says it word for word; n refuses it.")
	case r.State == rules.Refused:
		text = append(text, "You refused it; y lets it hold.")
	case r.State == rules.Accepted:
		text = append(text, "You let it hold, as long as the file says it word for word; n takes that back.")
	case r.Given:
		text = append(text, "You gave it; d takes it back.")
	case r.List == toolrule.Deny:
		text = append(text, "What it speaks of does not run, in any mode, whatever else allows it.")
	case r.List == toolrule.Ask:
		text = append(text, "What it speaks of asks each time, in any mode, whatever else allows it.")
	}
	p.plain(strings.Join(text, "\n\n"))
}

func (s *ruleStock) do(p *Panel, w dialog.Wish) intent.Intent {
	switch w.Verb {
	case "inbox":
		return intent.Inbox{Agent: s.agent, Name: s.name}
	case "queue":
		return intent.Queue{Agent: s.agent, Name: s.name}
	case "test":
		return s.test(p, w)
	}
	r, ok := s.row(w.ID)
	if !ok {
		return nil
	}
	room := s.Pool.Rules
	switch {
	case (w.Verb == "accept" || w.Verb == "refuse") && r.Offer == 0:
		p.box.Fail("no file of this project offers it")
	case w.Verb == "accept":
		return p.wish(w, func(ctx context.Context) (string, error) {
			text, err := room.Answer(ctx, r.Offer, r.Text, rules.Accepted)
			return "It holds, as long as the file says it word for word: " + text, err
		}, nil)
	case w.Verb == "refuse", w.Verb == "revoke" && r.State == rules.Accepted:
		return p.wish(w, func(ctx context.Context) (string, error) {
			text, err := room.Answer(ctx, r.Offer, r.Text, rules.Refused)
			return "Refused: " + text, err
		}, nil)
	case r.test != nil:
		s.forget(r.Text)
	case r.Given:
		return p.wish(w, func(ctx context.Context) (string, error) {
			return "Taken back: " + r.Text, room.Revoke(ctx, r.Text)
		}, nil)
	case r.From != "":
		p.box.Fail("it is none that you gave: it stands in " + r.From)
	}
	return nil
}

// test has a command line tested, and shows it as a row.
func (s *ruleStock) test(p *Panel, w dialog.Wish) intent.Intent {
	room := s.Pool.Rules
	return intent.Run{F: func(context.Context) intent.Intent {
		t, err := room.Test(w.Text)
		return intent.Call(func() intent.Intent {
			if err != nil {
				return p.wished(w, "", err)
			}
			s.forget(w.Text)
			s.tested, s.lines = slices.Insert(s.tested, 0, t), slices.Insert(s.lines, 0, w.Text)
			if len(s.tested) > mostTested {
				s.tested, s.lines = s.tested[:mostTested], s.lines[:mostTested]
			}
			one := []ruleRow{{lane: laneTested, Entry: rules.Entry{Text: w.Text}, test: &t}}
			name(one)
			p.box.Stand(one[0].id)
			return p.wished(w, permissions.Tested(t)[0], nil)
		})
	}}
}

// forget takes a command line that was tested from the board.
func (s *ruleStock) forget(line string) {
	if i := slices.Index(s.lines, line); i >= 0 {
		s.tested, s.lines = slices.Delete(s.tested, i, i+1), slices.Delete(s.lines, i, i+1)
		s.any = false
	}
}
