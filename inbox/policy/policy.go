// Package policy decides when a waiting message enters a conversation, and why. It reads the rules that people write
// for that.
package policy

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"fantail/inbox"
)

// Mode says how a recipient handles arriving mail.
type Mode string

const (
	Manual     Mode = "manual"                // the message's deliver decides
	Interrupt  Mode = "interrupt"             // at the next seam of the turn that runs; an idle agent starts one
	Queue      Mode = "queue"                 // once the agent is idle and the human pauses
	Fork       Mode = "fork"                  // a temporary copy of the agent handles it
	UrgentOnly Mode = "interrupt-urgent-only" // interrupt if it is urgent, else queue
)

// Modes are all modes, as people choose them.
var Modes = [...]Mode{Manual, Interrupt, Queue, Fork, UrgentOnly}

// Known reports whether m is a mode.
func (m Mode) Known() bool { return slices.Contains(Modes[:], m) }

// IdleAfter is the default for how long no key must have been pressed before queued mail is handled.
const IdleAfter = 30 * time.Second

// Rules are the rules for mail in an agent's file.
type Rules struct {
	Default   Mode          // "": manual
	IdleAfter time.Duration // 0: [IdleAfter]
	From      map[string]Mode
	Priority  map[inbox.Priority]Mode
	Tags      map[string]Mode
	Schedule  []Period // the first that matches counts
	Outcomes  Outcomes
	File      string // the rules' file, by its name for people; "": none
}

// Outcomes say what a fork does when it has handled a message. It always closes.
type Outcomes struct {
	Memory   string // the memory document that gets its findings; "": none
	ToParent string // begins the message to the agent it is a fork of; "": none is sent
	Escalate string // the agent that the message is forwarded to; "": none
}

// Period is a range of hours on some days of the week, in local time. On each of its days it has the hours from From up
// to, but not including, To; a range that crosses midnight has the end and the beginning of the same day.
type Period struct {
	Name string // as written: weekdays 9am-5pm
	Days [7]bool
	From int // minutes since midnight
	To   int // as From; if equal to it: the whole day
	Mode Mode
}

// holds reports whether t is in the period.
func (p Period) holds(t time.Time) bool {
	t = t.Local()
	if !p.Days[t.Weekday()] {
		return false
	}
	switch at := t.Hour()*60 + t.Minute(); {
	case p.From == p.To:
		return true
	case p.From < p.To:
		return p.From <= at && at < p.To
	default:
		return p.From <= at || at < p.To
	}
}

// Overrides are the human's settings for an agent's mail, which take precedence over its rules. They are stored as
// JSON.
type Overrides struct {
	Default   Mode            `json:"default,omitempty"`    // /agent config message-handling
	IdleAfter time.Duration   `json:"idle_after,omitempty"` // with it
	Mode      Mode            `json:"mode,omitempty"`       // /messages mode
	ModeAfter time.Duration   `json:"mode_after,omitempty"` // with Mode: its IdleAfter; 0: the general one
	From      map[string]Mode `json:"from,omitempty"`       // /messages from
}

// Quiet holds all mail of the agents that the human talks to.
type Quiet struct {
	On    bool      `json:"on"`
	Until time.Time `json:"until,omitzero"`  // zero: until it is ended
	Since int64     `json:"since,omitempty"` // the newest message when it began
}

// Holds reports whether it is quiet at that time.
func (q Quiet) Holds(now time.Time) bool { return q.On && (q.Until.IsZero() || now.Before(q.Until)) }

// Policy is everything that decides how an agent's mail is delivered.
type Policy struct {
	Quiet Quiet
	Human Overrides
	Rules Rules
}

// Plain reports whether mail is always delivered as its senders asked.
func (p Policy) Plain() bool {
	return !p.Quiet.On && p.Human.Mode == "" && len(p.Human.From) == 0 && p.base() == Manual &&
		len(p.Rules.From) == 0 && len(p.Rules.Priority) == 0 && len(p.Rules.Tags) == 0 && len(p.Rules.Schedule) == 0
}

// May reports whether p may handle some message in mode m.
func (p Policy) May(m Mode) bool {
	has := func(rules map[string]Mode) bool { return slices.Contains(slices.Collect(maps.Values(rules)), m) }
	if p.Human.Mode != "" {
		return p.Human.Mode == m || has(p.Human.From)
	}
	return p.base() == m || has(p.Human.From) || has(p.Rules.From) || has(p.Rules.Tags) ||
		slices.Contains(slices.Collect(maps.Values(p.Rules.Priority)), m) ||
		slices.ContainsFunc(p.Rules.Schedule, func(s Period) bool { return s.Mode == m })
}

// Pause is how long no key must have been pressed before queued mail is handled.
func (p Policy) Pause() time.Duration {
	return cmp.Or(p.Human.ModeAfter, p.Human.IdleAfter, p.Rules.IdleAfter, IdleAfter)
}

// ParsePause reads such a pause: 30s, 5m, or a number of seconds.
func ParsePause(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		d, err = time.ParseDuration(s + "s")
	}
	if err != nil || d < time.Second || d > 24*time.Hour {
		return 0, fmt.Errorf("%q is no time to be idle: 1s to 24h, such as 30s", inbox.Label(s))
	}
	return d, nil
}

func (p Policy) base() Mode { return cmp.Or(p.Human.Default, p.Rules.Default, Manual) }

// Changes returns when decisions of p may next change after now: quiet ends, or a period begins or ends. Zero: never.
func (p Policy) Changes(now time.Time) (at time.Time) {
	sooner := func(t time.Time) {
		if t.After(now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if p.Quiet.On && !p.Quiet.Until.IsZero() {
		sooner(p.Quiet.Until)
	}
	local := now.Local()
	for _, s := range p.Rules.Schedule {
		for day := range 2 {
			for _, minute := range []int{0, s.From, s.To} { // the day changes at midnight
				sooner(time.Date(local.Year(), local.Month(), local.Day()+day, 0, minute, 0, 0, local.Location()))
			}
		}
	}
	return at
}

// mode is the mode that p has for m, and the rule that says so.
func (p Policy) mode(m inbox.Message, now time.Time) (Mode, string) {
	in := func(what string) string {
		if p.Rules.File == "" {
			return what
		}
		return what + " in " + p.Rules.File
	}
	if mode, as, ok := bySender(p.Human.From, m.From); ok {
		return mode, "/messages from " + as + " " + string(mode)
	}
	if p.Human.Mode != "" {
		return p.Human.Mode, "/messages mode " + string(p.Human.Mode)
	}
	if mode, ok := p.Rules.Priority[inbox.Urgent]; ok && m.Priority == inbox.Urgent {
		return mode, in("its rule for urgent messages")
	}
	if mode, as, ok := bySender(p.Rules.From, m.From); ok {
		return mode, in("its rule for messages from " + as)
	}
	if mode, as, ok := byTag(p.Rules.Tags, m.Tags); ok {
		return mode, in("its rule for the tag " + as)
	}
	if mode, ok := p.Rules.Priority[cmp.Or(m.Priority, inbox.Normal)]; ok {
		return mode, in("its rule for " + string(cmp.Or(m.Priority, inbox.Normal)) + " messages")
	}
	for _, s := range p.Rules.Schedule {
		if s.holds(now) {
			return s.Mode, in("its schedule (" + s.Name + ")")
		}
	}
	switch {
	case p.Human.Default != "":
		return p.Human.Default, "/agent config message-handling " + string(p.Human.Default)
	case p.Rules.Default != "":
		return p.Rules.Default, in("the default")
	}
	return Manual, "the default: no policy says otherwise"
}

// bySender finds the rule for a sender: its name before patterns, and the longest matching pattern, or of equally long
// ones the first in alphabetical order.
func bySender(rules map[string]Mode, from string) (mode Mode, as string, ok bool) {
	if mode, ok = rules[from]; ok {
		return mode, from, true
	}
	for pattern, m := range rules {
		if plain := strings.IndexAny(pattern, `*?[\`); plain > 0 && !strings.HasPrefix(from, pattern[:plain]) {
			continue
		}
		if matched, err := path.Match(pattern, from); err != nil || !matched {
			continue
		}
		if !ok || len(pattern) > len(as) || len(pattern) == len(as) && pattern < as {
			mode, as, ok = m, pattern, true
		}
	}
	return mode, as, ok
}

// byTag finds the rule for tags: of several that which is quickest, interrupt
// before fork before queue.
func byTag(rules map[string]Mode, tags []string) (mode Mode, as string, ok bool) {
	rank := []Mode{Interrupt, UrgentOnly, Fork, Queue, Manual}
	for _, t := range tags {
		m, has := rules[t]
		if has && (!ok || slices.Index(rank, m) < slices.Index(rank, mode)) {
			mode, as, ok = m, t, true
		}
	}
	return mode, inbox.Label(as), ok
}

// String lists p for people, one rule on each line, the strongest first.
func (p Policy) String() string {
	var b strings.Builder
	line := func(what string, mode Mode) { b.WriteString("\n  " + what + ": " + string(mode)) }
	if p.Quiet.On {
		b.WriteString("\n  quiet: everything is held")
		if !p.Quiet.Until.IsZero() {
			b.WriteString(" until " + p.Quiet.Until.Local().Format("Mon 15:04"))
		}
	}
	sorted(p.Human.From, func(from string, m Mode) { line("/messages from "+from, m) })
	if p.Human.Mode != "" {
		line("/messages mode", p.Human.Mode)
	}
	if m, ok := p.Rules.Priority[inbox.Urgent]; ok {
		line("urgent", m)
	}
	sorted(p.Rules.From, func(from string, m Mode) { line("from "+inbox.Label(from), m) })
	sorted(p.Rules.Tags, func(tag string, m Mode) { line("tag "+inbox.Label(tag), m) })
	for _, pr := range []inbox.Priority{inbox.High, inbox.Normal, inbox.Low} {
		if m, ok := p.Rules.Priority[pr]; ok {
			line(string(pr)+" priority", m)
		}
	}
	for _, s := range p.Rules.Schedule {
		line(s.Name, s.Mode)
	}
	line("default", p.base())
	b.WriteString("\n  queued mail is handled after " + p.Pause().String() + " without a key")
	if p.Rules.File != "" {
		b.WriteString("\n  (from " + p.Rules.File + ", and what you typed)")
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func sorted(rules map[string]Mode, f func(name string, m Mode)) {
	names := make([]string, 0, len(rules))
	for n := range rules {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		f(n, rules[n])
	}
}
