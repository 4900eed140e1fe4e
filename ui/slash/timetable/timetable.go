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
	"slices"
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

// verbs are what may follow /schedule and names a schedule.
var verbs = []string{"show", "pause", "resume", "run", "rm"}

// times are forms of a time.
var times = []string{"30m ", "2h ", "14:00 ", "tomorrow 9:00 ", "every monday 10:00 "}

// Whens are those that an argument may begin with, Words what may stand first behind /schedule.
func Whens() []string { return times }
func Words() []string { return slices.Concat([]string{"list"}, verbs, times) }

// Schedule carries out what stands behind /schedule: list, a verb and a name, or [options] WHEN PROMPT | !COMMAND.
func (d Desk) Schedule(ctx context.Context, text string) (string, error) {
	text = strings.TrimSpace(text)
	verb, rest := options.First(text)
	name, more := options.First(rest)
	if text == "" || verb == "list" && rest == "" {
		all, err := d.Pool.All(ctx, 0)
		return List(all, d.Now()), err
	}
	for _, v := range verbs {
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
		return d.Pause(ctx, name)
	case "resume":
		return d.Resume(ctx, name)
	case "run":
		return d.Run(ctx, name)
	case "rm":
		return d.Remove(ctx, name)
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

// Pause, Resume, Run and Remove carry out what their verb says with the schedule of that name.
func (d Desk) Pause(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Pause(ctx, name, 0)
	return "Paused " + name + "; /schedule resume " + name + " goes on", err
}

func (d Desk) Resume(ctx context.Context, name string) (string, error) {
	s, err := d.Pool.Resume(ctx, name, 0)
	return "Resumed " + name + ", " + d.next(s), err
}

func (d Desk) Run(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Fire(ctx, name, 0)
	return "Fired " + name, err
}

func (d Desk) Remove(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Remove(ctx, name, 0, "you removed it")
	return "Removed " + name, err
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

// Empty says what to do where nothing is scheduled.
const Empty = "Nothing is scheduled. /remind 30m TEXT reminds you, /schedule every 30m PROMPT has an observer look, " +
	"/schedule every 10m !COMMAND runs a command"

// List lists schedules, the next due first.
func List(all []schedule.Schedule, now time.Time) string {
	if len(all) == 0 {
		return Empty
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
	switch s.Kind {
	case schedule.Reminder:
		return "⏰ " + Says(s)
	case schedule.Command:
		return "!" + Says(s)
	}
	return Says(s)
}

// Says is What without the sign of its kind.
func Says(s schedule.Schedule) string {
	text := inbox.Label(s.Text)
	if s.CancelWhen != "" {
		text += " · until " + inbox.Label(s.CancelWhen)
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
	return Result(s.Last, now) + left
}

// Finding is what came of a run, in short: what it found, else an outcome that is worth a word; "": neither.
func Finding(r schedule.Run) string {
	if found := inbox.Line(r.Finding); found != "" || r.Outcome == "completed" {
		return found
	}
	return inbox.Label(r.Outcome)
}

// Result says what came of a run, and which message tells of it.
func Result(r schedule.Run, now time.Time) string {
	text := inbox.Clock(r.Fired, now)
	if r.Message != 0 {
		text += fmt.Sprintf(" · #%d", r.Message)
	}
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

// Fact is something that is so of a schedule, with what it is called.
type Fact struct{ Label, Text string }

// Facts are all that is so of a schedule, beside its name, its kind and its runs.
func Facts(s schedule.Schedule, now time.Time) []Fact {
	var fs []Fact
	add := func(label, text string) {
		if text != "" {
			fs = append(fs, Fact{label, text})
		}
	}
	add("when", s.When.Text+", "+Due(s, now))
	add("says", s.Text)
	add("until", s.CancelWhen)
	add("checks", s.Checks)
	add("ended", s.Why)
	add("deliver", string(s.Deliver))
	if s.When.Repeats() {
		add("runs", fmt.Sprintf("%d, %d left", s.Runs, s.Left()))
	}
	add("made", inbox.Clock(s.Created, now)+" by "+map[string]string{schedule.Human: "you", schedule.Agent: "an agent", schedule.CLI: "fantail schedule"}[s.Origin])
	return fs
}

// About tells all of a schedule.
func About(s schedule.Schedule, runs []schedule.Run, now time.Time) string {
	fs := Facts(s, now)
	for _, r := range runs {
		fs = append(fs, Fact{"ran", Result(r, now)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, a %s", s.Name, s.Kind)
	for _, f := range fs {
		fmt.Fprintf(&b, "\n  %-9s %s", f.Label, f.Text)
	}
	return b.String()
}
