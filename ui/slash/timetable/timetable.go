// Package timetable is what people say of schedules and read of them.
//
// Does: read what was typed behind /remind, /schedule, /watch and `fantail schedule`, carry it out and say what came of
// it; list schedules, and tell all of one.
//
// Does not: fire anything, know a screen or a command's row.
//
// Imports: agents/schedule, agents/schedule/when, inbox, ui/slash/options.
package timetable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/schedule"
	"fantail/agents/schedule/when"
	"fantail/inbox"
	"fantail/ui/slash/options"
)

// Pool has the schedules of a workspace.
type Pool interface {
	Add(ctx context.Context, o schedule.Order) (schedule.Schedule, error)
	All(ctx context.Context, owner int64) ([]schedule.Schedule, error)
	About(ctx context.Context, name string) (schedule.Schedule, []schedule.Run, error)
	Pause(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
	Resume(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
	Remove(ctx context.Context, name string, owner int64, why string) (schedule.Schedule, error)
	Fire(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
}

// Desk is where people say it.
type Desk struct {
	Pool   Pool
	Agent  int64  // who gets what comes of it
	Origin string // schedule.Human or schedule.CLI
	Now    func() time.Time
}

// Wrong is the error of words that are not understood; the others come from the schedules.
type Wrong struct{ Err error }

func (w *Wrong) Error() string { return w.Err.Error() }
func (w *Wrong) Unwrap() error { return w.Err }

func wrong(format string, args ...any) error { return &Wrong{fmt.Errorf(format, args...)} }

// Remind carries out [--priority=P] [deliver=D] [name=NAME] WHEN TEXT.
func (d Desk) Remind(ctx context.Context, text string) (string, error) {
	o, rest, err := d.options(text, "name", "deliver")
	if err != nil {
		return "", err
	}
	o.Kind = schedule.Reminder
	return d.add(ctx, o, rest)
}

// Watch carries out TIME until "COND" PROMPT: every so often a task looks whether the condition is met, which ends it.
func (d Desk) Watch(ctx context.Context, text string) (string, error) {
	o, rest, err := d.options(text, "name", "deliver", "checks")
	if err != nil {
		return "", err
	}
	rest = strings.TrimPrefix(rest, "every ")
	w, rest, err := when.Parse("every "+rest, d.Now())
	if err != nil {
		return "", &Wrong{err}
	}
	until, rest := options.First(rest)
	cond, prompt, ok := quoted(rest)
	if until != "until" || !ok || cond == "" {
		return "", wrong(`say until when, in quotes: 5m until "CI is green" look at the CI`)
	}
	o.Kind, o.When, o.CancelWhen, o.Text = schedule.Task, w, cond, cmp.Or(prompt, "Look whether this is so: "+cond)
	if strings.HasPrefix(o.Text, "!") {
		return "", wrong("nobody tells whether a command's output meets a condition; /schedule every %s %s reports when its outcome changes",
			strings.TrimPrefix(w.Text, "every "), o.Text)
	}
	return d.register(ctx, o)
}

// quoted reads a text in quotes and what follows it.
func quoted(s string) (text, rest string, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	text, rest, ok = strings.Cut(s[1:], s[:1])
	return strings.TrimSpace(text), strings.TrimSpace(rest), ok
}

// Verbs are what may follow /schedule and names a schedule.
var Verbs = []string{"show", "pause", "resume", "run", "rm"}

// Schedule carries out what stands behind /schedule: list, a verb and a name, or [options] WHEN PROMPT | !COMMAND.
func (d Desk) Schedule(ctx context.Context, text string) (string, error) {
	text = strings.TrimSpace(text)
	verb, rest := options.First(text)
	name, more := options.First(rest)
	if text == "" || verb == "list" && rest == "" {
		all, err := d.Pool.All(ctx, 0)
		return List(all, d.Now()), err
	}
	for _, v := range Verbs {
		if verb == v && (name == "" || more != "") {
			return "", wrong("%s needs the name of a schedule", verb)
		}
	}
	switch verb {
	case "show":
		s, runs, err := d.Pool.About(ctx, name)
		if err != nil {
			return "", err
		}
		return About(s, runs, d.Now()), nil
	case "pause":
		_, err := d.Pool.Pause(ctx, name, 0)
		return "Paused " + name + "; /schedule resume " + name + " goes on", err
	case "resume":
		s, err := d.Pool.Resume(ctx, name, 0)
		return "Resumed " + name + ", " + d.next(s), err
	case "run":
		_, err := d.Pool.Fire(ctx, name, 0)
		return "Fired " + name, err
	case "rm":
		_, err := d.Pool.Remove(ctx, name, 0, "you removed it")
		return "Removed " + name, err
	}
	o, rest, err := d.options(text, "name", "deliver", "checks")
	if err != nil {
		return "", err
	}
	if verb, behind := options.First(rest); verb == "--always" {
		o.Always, rest = true, behind
	}
	o.Kind = schedule.Task
	return d.add(ctx, o, rest)
}

// options takes options from the front of a text.
func (d Desk) options(text string, keys ...string) (o schedule.Order, rest string, err error) {
	o.Owner, o.Origin = d.Agent, d.Origin
	flags, rest, err := options.Flags(text, "priority")
	if err != nil {
		return o, "", &Wrong{err}
	}
	opts, rest, err := options.Leading(rest, keys...)
	if err != nil {
		return o, "", &Wrong{err}
	}
	for _, p := range flags["priority"] {
		o.Priority = inbox.Priority(p)
		if o.Priority != inbox.Low && o.Priority != inbox.Normal && o.Priority != inbox.High && o.Priority != inbox.Urgent {
			return o, "", wrong("the priority %q is none of low, normal, high and urgent", p)
		}
	}
	o.Deliver = inbox.Deliver(opts["deliver"])
	if o.Deliver != "" && o.Deliver != inbox.Hold && o.Deliver != inbox.Next && o.Deliver != inbox.Wake {
		return o, "", wrong("deliver=%s: it is hold, next or wake", o.Deliver)
	}
	o.Name, o.Checks = opts["name"], strings.ReplaceAll(opts["checks"], ",", " ")
	return o, rest, nil
}

// add registers what begins with a when.
func (d Desk) add(ctx context.Context, o schedule.Order, text string) (string, error) {
	var err error
	if o.When, o.Text, err = when.Parse(text, d.Now()); err != nil {
		return "", &Wrong{err}
	}
	if flag, behind := options.First(o.Text); flag == "--always" {
		o.Always, o.Text = true, behind
	}
	o.Text = options.Unquote(o.Text)
	command, is := strings.CutPrefix(o.Text, "!")
	switch {
	case o.Kind == schedule.Reminder:
	case is && d.Origin != schedule.Human:
		return "", errors.New("only the human can schedule a command, on a screen: /schedule " + text)
	case is:
		o.Kind, o.Text = schedule.Command, strings.TrimSpace(command)
	case o.Always:
		return "", wrong("--always is for commands (!CMD): a task reports each time")
	}
	return d.register(ctx, o)
}

func (d Desk) register(ctx context.Context, o schedule.Order) (string, error) {
	s, err := d.Pool.Add(ctx, o)
	if err != nil {
		return "", err
	}
	what := "Scheduled " + s.Name
	if s.Kind == schedule.Reminder {
		what = "Reminder " + s.Name
	}
	says := fmt.Sprintf("%s: %s, %s", what, s.When.Text, d.next(s))
	if s.Due.Sub(d.Now()) > schedule.Horizon {
		says += ".\nThat is more than a day away: it keeps no host. If none runs then, it fires at the next start and says that it is late; fantail host install keeps one running"
	}
	return says, nil
}

// next says when a schedule is due.
func (d Desk) next(s schedule.Schedule) string {
	return "due " + inbox.Clock(s.Due, d.Now()) + " (in " + inbox.Age(s.Due.Sub(d.Now()).Round(time.Second)) + ")"
}

// List lists schedules, the next due first.
func List(all []schedule.Schedule, now time.Time) string {
	if len(all) == 0 {
		return "Nothing is scheduled. /remind 30m TEXT reminds you, /schedule every 30m PROMPT has an observer look, " +
			"/schedule every 10m !COMMAND runs a command"
	}
	name, said := 0, 0
	for _, s := range all {
		name, said = max(name, len(s.Name)), max(said, len(s.When.Text))
	}
	var b strings.Builder
	b.WriteString("Schedules:")
	for _, s := range all {
		fmt.Fprintf(&b, "\n  %-*s  %-*s  %-18s  %s", name, s.Name, said, s.When.Text, Due(s, now), What(s))
		if found := Found(s, now); found != "" {
			fmt.Fprintf(&b, "\n  %-*s  %s", name, "", found)
		}
	}
	return b.String()
}

// Due says when a schedule is due, in a few words.
func Due(s schedule.Schedule, now time.Time) string {
	switch {
	case s.State == schedule.Paused:
		return "paused"
	case s.State == schedule.Ended:
		return "ended"
	case s.Last.ID != 0 && s.Last.Ended.IsZero():
		return "runs"
	}
	return "due " + inbox.Clock(s.Due, now)
}

// What says what a schedule does, on one line.
func What(s schedule.Schedule) string {
	text := inbox.Label(s.Text)
	switch {
	case s.Kind == schedule.Reminder:
		return "⏰ " + text
	case s.Kind == schedule.Command:
		return "!" + text
	case s.CancelWhen != "":
		return text + " · until " + inbox.Label(s.CancelWhen)
	}
	return text
}

// Found says what came of the last run and how many are left; "": it did not run.
func Found(s schedule.Schedule, now time.Time) string {
	if s.Runs == 0 {
		return ""
	}
	left := ""
	if s.When.Repeats() {
		left = fmt.Sprintf(" · %d runs left", s.Left())
	}
	return result(s.Last, now) + left
}

// result says what came of a run.
func result(r schedule.Run, now time.Time) string {
	text := inbox.Clock(r.Fired, now)
	switch {
	case r.Ended.IsZero():
		text += " · runs"
	default:
		text += " · " + inbox.Label(r.Outcome)
	}
	if r.Finding != "" {
		text += " · " + inbox.Line(r.Finding)
	}
	if mark := r.Mark(); mark != "" {
		text += " · " + mark
	}
	return text
}

// About tells all of a schedule.
func About(s schedule.Schedule, runs []schedule.Run, now time.Time) string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n  %-9s %s", what, text)
		}
	}
	fmt.Fprintf(&b, "%s, a %s", s.Name, s.Kind)
	line("when", s.When.Text+", "+Due(s, now))
	line("says", s.Text)
	line("until", s.CancelWhen)
	line("checks", s.Checks)
	line("ended", s.Why)
	line("deliver", string(s.Deliver))
	if s.When.Repeats() {
		line("runs", fmt.Sprintf("%d, %d left", s.Runs, s.Left()))
	}
	line("made", inbox.Clock(s.Created, now)+" by "+map[string]string{schedule.Human: "you", schedule.Agent: "an agent", schedule.CLI: "fantail schedule"}[s.Origin])
	for _, r := range runs {
		line("ran", result(r, now))
	}
	return b.String()
}
