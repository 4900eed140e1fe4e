package panel

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"fantail/agents/approval"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// ruleList lists the permission rules, and the command lines that were tested.
type ruleList struct {
	*Panel
	rows   []ruleRow
	tested []approval.RuleTest // newest first
	lines  []string            // their texts
}

// ruleRow is a row of the board: a rule, a fault in a file, or a tested command line.
type ruleRow struct {
	id   int64
	lane int
	approval.RuleEntry
	fault string
	test  *approval.RuleTest
}

// The lanes of the board of rules.
const (
	laneOffered = iota
	laneDeny
	laneAsk
	laneAllow
	laneFaults
	laneTested
)

var ruleLanes = []dialog.Lane{
	{Name: "Proposed", Short: "New", Role: themes.Accent},
	{Name: "Deny", Short: "Deny", Role: themes.Bad},
	{Name: "Ask", Short: "Ask", Role: themes.Accent},
	{Name: "Allow", Short: "Allow", Role: themes.Good},
	{Name: "Problems", Short: "Bad", Role: themes.Bad},
	{Name: "Tested", Short: "Test", Role: themes.Text},
}

// maxTested limits the tested command lines that are kept.
const maxTested = 20

var ruleVerbs = []dialog.Verb{
	{Key: "t", Name: "test", Hint: "test a command", Help: "test a command", Ask: "test› ", Bare: true},
	{Key: "y", Name: "accept", Hint: "allow", Help: "allow a proposal"},
	{Key: "n", Name: "refuse", Hint: "refuse", Help: "refuse or revoke"},
	{Key: "d x delete", Name: "revoke", Hint: "remove", Help: "remove your rule"},
}

// Rules opens the panel of permission rules.
func Rules(e Options, agent int64, name string) *Panel {
	p := open(e, agent, name, dialog.NewBoard(e.Theme, e.Now, "Permissions",
		"No rules yet; the mode decides (/mode). Add rules under [permissions] in ~/.config/fantail/config.toml, or deny rules in the project's .claude/settings.json. t to test a command.",
		slices.Concat(ruleVerbs, boardVerbs("")), false).Shrinks(), ruleLanes)
	p.list = &ruleList{Panel: p}
	return p
}

func (s *ruleList) read(want query, stale staleness) reading {
	rules, tested, asked := s.Pool.Permissions, slices.Clone(s.tested), slices.Clone(s.lines)
	return whole(s.Panel, want, stale || want != s.shown, &s.rows, func(context.Context) ([]ruleRow, error) {
		all := ruleRows(rules.List())
		for i := range tested {
			all = append(all, ruleRow{lane: laneTested, RuleEntry: approval.RuleEntry{Text: asked[i]}, test: &tested[i]})
		}
		name(all)
		return all, nil
	}, func(all []ruleRow, want query) rows {
		return grouped(ruleLanes, all, want, func(r ruleRow) (dialog.Line, string) { return r.line(), r.Text + " " + r.From })
	})
}

// ruleRows returns the rows of rules, offered ones first, and of faults in files.
func ruleRows(all []approval.RuleEntry, broken, ignored []string) (rows []ruleRow) {
	lanes := map[permission.List]int{permission.DenyList: laneDeny, permission.AskList: laneAsk, permission.AllowList: laneAllow}
	for _, e := range all {
		r := ruleRow{lane: lanes[e.List], RuleEntry: e}
		if e.State == approval.Open || e.State == approval.Refused {
			r.lane = laneOffered
		}
		rows = append(rows, r)
	}
	for i, fs := range [][]string{broken, ignored} {
		for _, f := range fs {
			// The format is FILE:LINE:COLUMN: TEXT.
			place, what, is := strings.Cut(f, ": ")
			if !is {
				place, what = "", f
			}
			rows = append(rows, ruleRow{lane: laneFaults, RuleEntry: approval.RuleEntry{Text: what, From: place}, fault: []string{"can't be read", "ignored"}[i]})
		}
	}
	slices.SortStableFunc(rows, func(x, y ruleRow) int { return x.lane - y.lane })
	return rows
}

// name gives each row an id that stays the same as long as the row's text does.
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

// line returns the row as the board shows it.
func (r ruleRow) line() dialog.Line {
	l := dialog.Line{ID: r.id, Lane: r.lane, Text: r.Text, Faint: r.Never}
	switch r.lane {
	case laneOffered:
		l.Sign, l.Role, l.Flags = "?", themes.Strong, "offered"
		if r.State == approval.Refused {
			l.Sign, l.Flags, l.Faint = "·", "refused", true
		}
	case laneDeny:
		l.Sign, l.Role = "✗", themes.Bad
	case laneAsk:
		l.Sign, l.Role = "?", themes.Accent
	case laneAllow:
		l.Sign, l.Role = "✓", themes.Good
		if r.State == approval.Accepted {
			l.Flags = "accepted"
		}
	case laneFaults:
		l.Sign, l.Role, l.Flags = "!", themes.Bad, r.fault
		l.Text = r.Text + " · " + r.From
		return l
	case laneTested:
		l.Sign, l.Role = "✗", themes.Bad
		switch r.test.Decision {
		case permission.Allow:
			l.Sign, l.Role = "✓", themes.Good
		case permission.AskHuman:
			l.Sign, l.Role = "?", themes.Accent
		}
		l.Text += " → " + DecisionText(r.test.Decision)
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

func (s *ruleList) row(id int64) (ruleRow, bool) {
	return find(s.rows, id, func(r ruleRow) int64 { return r.id })
}

func (s *ruleList) about(id int64) func(ctx context.Context, v *preview) error {
	r, ok := s.row(id)
	return func(_ context.Context, v *preview) error {
		if ok {
			v.rule(r)
		}
		return nil
	}
}

// rule adds what is known of a row.
func (p *preview) rule(r ruleRow) {
	long := func(label, text string) {
		if text != "" {
			p.facts = append(p.facts, fact{label: label, text: text, role: themes.Text, most: 3})
		}
	}
	switch {
	case r.test != nil:
		p.facts = append(p.facts, fact{text: r.Text, role: themes.Accent, most: 4})
		p.plain("In mode " + string(r.test.Mode) + ", the current one:\n" + strings.Join(TestedText(*r.test), "\n"))
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
	case r.State == approval.Open && r.Never:
		text = append(text, "A project file asks you to allow this.")
	case r.State == approval.Open:
		text = append(text, "A project file asks you to allow this. y allow while the file says exactly this · n refuse")
	case r.State == approval.Refused:
		text = append(text, "You refused this. y allow")
	case r.State == approval.Accepted:
		text = append(text, "Allowed while the file says exactly this. n revoke")
	case r.Given:
		text = append(text, "Added by you. d remove")
	case r.List == permission.DenyList:
		text = append(text, "Matching calls never run, in any mode.")
	case r.List == permission.AskList:
		text = append(text, "Matching calls always ask, in every mode.")
	}
	p.plain(strings.Join(text, "\n\n"))
}

func (s *ruleList) do(w dialog.BoardAction) intent.Intent {
	if w.Verb == "test" {
		return s.test(w)
	}
	r, ok := s.row(w.ID)
	if !ok {
		return nil
	}
	rules := s.Pool.Permissions
	switch {
	case (w.Verb == "accept" || w.Verb == "refuse") && r.Offer == 0:
		s.box.Fail("no project file proposes this rule")
	case w.Verb == "accept":
		return s.wish(w, func(ctx context.Context) (string, error) {
			text, err := rules.Answer(ctx, r.Offer, r.Text, approval.Accepted)
			return "Allowed while the file says exactly this: " + text, err
		}, nil)
	case w.Verb == "refuse", w.Verb == "revoke" && r.State == approval.Accepted:
		return s.wish(w, func(ctx context.Context) (string, error) {
			text, err := rules.Answer(ctx, r.Offer, r.Text, approval.Refused)
			return "Refused: " + text, err
		}, nil)
	case r.test != nil:
		s.forget(r.Text)
	case r.Given:
		return s.wish(w, func(ctx context.Context) (string, error) {
			return "Removed: " + r.Text, rules.Revoke(ctx, r.Text)
		}, nil)
	case r.From != "":
		s.box.Fail("you did not add it here; it is in " + r.From)
	}
	return nil
}

// test tests a command line and shows the result as a row.
func (s *ruleList) test(w dialog.BoardAction) intent.Intent {
	rules := s.Pool.Permissions
	return intent.Run{F: func(context.Context) intent.Intent {
		t, err := rules.Test(w.Text)
		return intent.Call(func() intent.Intent {
			if err != nil {
				return s.wished(w, "", err)
			}
			s.forget(w.Text)
			s.tested, s.lines = slices.Insert(s.tested, 0, t), slices.Insert(s.lines, 0, w.Text)
			if len(s.tested) > maxTested {
				s.tested, s.lines = s.tested[:maxTested], s.lines[:maxTested]
			}
			one := []ruleRow{{lane: laneTested, RuleEntry: approval.RuleEntry{Text: w.Text}, test: &t}}
			name(one)
			s.box.Stand(one[0].id)
			return s.wished(w, TestedText(t)[0], nil)
		})
	}}
}

// forget removes a tested command line from the board.
func (s *ruleList) forget(line string) {
	if i := slices.Index(s.lines, line); i >= 0 {
		s.tested, s.lines = slices.Delete(s.tested, i, i+1), slices.Delete(s.lines, i, i+1)
		s.stale = true
	}
}
