package format

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/schedule"
	"fantail/inbox"
)

// Scheduler manages the schedules of a workspace.
type Scheduler interface {
	Add(ctx context.Context, o schedule.Order) (schedule.Schedule, error)
	All(ctx context.Context, owner int64) ([]schedule.Schedule, error)
	About(ctx context.Context, name string) (schedule.Schedule, []schedule.Run, error)
	Pause(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
	Resume(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
	Remove(ctx context.Context, name string, owner int64, why string) (schedule.Schedule, error)
	Fire(ctx context.Context, name string, owner int64) (schedule.Schedule, error)
}

// ScheduleCommands carries out people's commands about schedules.
type ScheduleCommands struct {
	Pool   Scheduler
	Agent  int64  // agent that gets the results
	Origin string // schedule.Human or schedule.CLI
	Now    func() time.Time
}

// ScheduleError is the error of arguments that are not understood. Other errors come from the
// schedules.
type ScheduleError struct{ Err error }

func (w *ScheduleError) Error() string { return w.Err.Error() }
func (w *ScheduleError) Unwrap() error { return w.Err }

func wrongSchedule(format string, args ...any) error {
	return &ScheduleError{fmt.Errorf(format, args...)}
}

// Remind carries out [--priority=P] [deliver=D] [name=NAME] WHEN TEXT.
func (d ScheduleCommands) Remind(ctx context.Context, text string) (string, error) {
	o, rest, err := d.options(text, "name", "deliver")
	if err != nil {
		return "", err
	}
	o.Kind = schedule.Reminder
	return d.add(ctx, o, rest)
}

// Watch carries out TIME until "COND" PROMPT: a task regularly checks the condition, and the
// schedule ends when it is met.
func (d ScheduleCommands) Watch(ctx context.Context, text string) (string, error) {
	o, rest, err := d.options(text, "name", "deliver", "checks")
	if err != nil {
		return "", err
	}
	rest = strings.TrimPrefix(rest, "every ")
	w, rest, err := schedule.ParseWhen("every "+rest, d.Now())
	if err != nil {
		return "", &ScheduleError{err}
	}
	until, rest := FirstWord(rest)
	cond, prompt, ok := quoted(rest)
	if until != "until" || !ok || cond == "" {
		return "", wrongSchedule(`say until when, in quotes: 5m until "CI is green" look at the CI`)
	}
	o.Kind, o.When, o.CancelWhen, o.Text = schedule.Task, w, cond, cmp.Or(prompt, "Look whether this is so: "+cond)
	if strings.HasPrefix(o.Text, "!") {
		return "", wrongSchedule("a command can't check a condition. Use /schedule every %s %s to hear when its outcome changes",
			strings.TrimPrefix(w.Text, "every "), o.Text)
	}
	return d.register(ctx, o)
}

// quoted parses a text in quotes. rest follows it.
func quoted(s string) (text, rest string, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	text, rest, ok = strings.Cut(s[1:], s[:1])
	return strings.TrimSpace(text), strings.TrimSpace(rest), ok
}

// verbs are the verbs of /schedule that name a schedule.
var verbs = []string{"show", "pause", "resume", "run", "rm"}

// times are examples of times.
var times = []string{"30m ", "2h ", "14:00 ", "tomorrow 9:00 ", "every monday 10:00 "}

// ScheduleWhens returns the times that an argument may begin with, ScheduleWords the first words of
// /schedule.
func ScheduleWhens() []string { return times }
func ScheduleWords() []string { return slices.Concat([]string{"list"}, verbs, times) }

// Schedule carries out the arguments of /schedule: list, a verb and a name, or [options] WHEN
// PROMPT | !COMMAND.
func (d ScheduleCommands) Schedule(ctx context.Context, text string) (string, error) {
	text = strings.TrimSpace(text)
	verb, rest := FirstWord(text)
	name, more := FirstWord(rest)
	if text == "" || verb == "list" && rest == "" {
		all, err := d.Pool.All(ctx, 0)
		return ListSchedules(all, d.Now()), err
	}
	for _, v := range verbs {
		if verb == v && (name == "" || more != "") {
			return "", wrongSchedule("%s needs the name of a schedule", verb)
		}
	}
	switch verb {
	case "show":
		s, runs, err := d.Pool.About(ctx, name)
		if err != nil {
			return "", err
		}
		return ScheduleAbout(s, runs, d.Now()), nil
	case "pause":
		return d.Pause(ctx, name)
	case "resume":
		return d.Resume(ctx, name)
	case "run":
		return d.Run(ctx, name)
	case "rm":
		return d.Remove(ctx, name)
	}
	o, rest, err := d.options(text, "name", "deliver", "checks", "sandbox")
	if err != nil {
		return "", err
	}
	if verb, behind := FirstWord(rest); verb == "--always" {
		o.Always, rest = true, behind
	}
	o.Kind = schedule.Task
	return d.add(ctx, o, rest)
}

// Pause, Resume, Run and Remove carry out their verb on the schedule of that name.
func (d ScheduleCommands) Pause(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Pause(ctx, name, 0)
	return "Paused " + name + ". /schedule resume " + name + " goes on", err
}

func (d ScheduleCommands) Resume(ctx context.Context, name string) (string, error) {
	s, err := d.Pool.Resume(ctx, name, 0)
	return "Resumed " + name + ", " + d.next(s), err
}

func (d ScheduleCommands) Run(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Fire(ctx, name, 0)
	return "Fired " + name, err
}

func (d ScheduleCommands) Remove(ctx context.Context, name string) (string, error) {
	_, err := d.Pool.Remove(ctx, name, 0, "you removed it")
	return "Removed " + name, err
}

// options takes options from the front of a text.
func (d ScheduleCommands) options(text string, keys ...string) (o schedule.Order, rest string, err error) {
	o.Owner, o.Origin = d.Agent, d.Origin
	flags, rest, err := FlagOptions(text, "priority")
	if err != nil {
		return o, "", &ScheduleError{err}
	}
	opts, rest, err := LeadingOptions(rest, keys...)
	if err != nil {
		return o, "", &ScheduleError{err}
	}
	for _, p := range flags["priority"] {
		o.Priority = inbox.Priority(p)
		if o.Priority != inbox.Low && o.Priority != inbox.Normal && o.Priority != inbox.High && o.Priority != inbox.Urgent {
			return o, "", wrongSchedule("unknown priority %q; use low, normal, high or urgent", p)
		}
	}
	o.Deliver = inbox.Deliver(opts["deliver"])
	if o.Deliver != "" && o.Deliver != inbox.Hold && o.Deliver != inbox.Next && o.Deliver != inbox.Wake {
		return o, "", wrongSchedule("deliver=%s: it is hold, next or wake", o.Deliver)
	}
	o.Name, o.Checks, o.Sandbox = opts["name"], strings.ReplaceAll(opts["checks"], ",", " "), opts["sandbox"]
	return o, rest, nil
}

// add registers a schedule from a text that begins with a time.
func (d ScheduleCommands) add(ctx context.Context, o schedule.Order, text string) (string, error) {
	var err error
	if o.When, o.Text, err = schedule.ParseWhen(text, d.Now()); err != nil {
		return "", &ScheduleError{err}
	}
	if flag, behind := FirstWord(o.Text); flag == "--always" {
		o.Always, o.Text = true, behind
	}
	o.Text = Unquote(o.Text)
	command, is := strings.CutPrefix(o.Text, "!")
	switch {
	case o.Kind == schedule.Reminder:
	case is && d.Origin != schedule.Human:
		return "", errors.New("only the human can schedule a command, on a screen: /schedule " + text)
	case is:
		o.Kind, o.Text = schedule.Command, strings.TrimSpace(command)
	case o.Always:
		return "", wrongSchedule("--always is for commands (!CMD): a task reports each time")
	}
	return d.register(ctx, o)
}

func (d ScheduleCommands) register(ctx context.Context, o schedule.Order) (string, error) {
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
		says += ".\nThis is more than a day away, so Fantail may not be running then. It then fires late, at the next start. Run fantail host install to keep Fantail running"
	}
	return says, nil
}

// next says when a schedule is due.
func (d ScheduleCommands) next(s schedule.Schedule) string {
	return "due " + inbox.Clock(s.Due, d.Now()) + " (in " + inbox.Age(s.Due.Sub(d.Now()).Round(time.Second)) + ")"
}

// NoSchedules says how to schedule something.
const NoSchedules = "No schedules. Try /remind 30m TEXT, /schedule every 30m PROMPT for an observer, " +
	"or /schedule every 10m !COMMAND"

// ListSchedules lists schedules, the next due first.
func ListSchedules(all []schedule.Schedule, now time.Time) string {
	if len(all) == 0 {
		return NoSchedules
	}
	name, said := 0, 0
	for _, s := range all {
		name, said = max(name, len(s.Name)), max(said, len(s.When.Text))
	}
	var b strings.Builder
	b.WriteString("Schedules:")
	for _, s := range all {
		fmt.Fprintf(&b, "\n  %-*s  %-*s  %-18s  %s", name, s.Name, said, s.When.Text, ScheduleDue(s, now), ScheduleWhat(s))
		if found := ScheduleFound(s, now); found != "" {
			fmt.Fprintf(&b, "\n  %-*s  %s", name, "", found)
		}
	}
	return b.String()
}

// ScheduleDue says when a schedule is due, in a few words.
func ScheduleDue(s schedule.Schedule, now time.Time) string {
	switch {
	case s.State == schedule.Paused:
		return "paused"
	case s.State == schedule.Held:
		return "held: /confirm"
	case s.State == schedule.Ended:
		return "ended"
	case s.Last.ID != 0 && s.Last.Ended.IsZero():
		return "runs"
	}
	return "due " + inbox.Clock(s.Due, now)
}

// ScheduleWhat says in one line what a schedule does.
func ScheduleWhat(s schedule.Schedule) string {
	switch s.Kind {
	case schedule.Reminder:
		return "⏰ " + ScheduleSays(s)
	case schedule.Command:
		return "!" + ScheduleSays(s)
	}
	return ScheduleSays(s)
}

// ScheduleSays is ScheduleWhat without the sign of the kind.
func ScheduleSays(s schedule.Schedule) string {
	text := inbox.Label(s.Text)
	if s.CancelWhen != "" {
		text += " · until " + inbox.Label(s.CancelWhen)
	}
	if s.Sandbox == schedule.NoSandbox {
		text += " · " + outside
	}
	return text
}

// outside marks a schedule whose command runs without a sandbox.
const outside = "sandbox=off: runs as you"

// ScheduleFound says how the last run ended and how many runs are left; "": it has not run.
func ScheduleFound(s schedule.Schedule, now time.Time) string {
	if s.Runs == 0 {
		return ""
	}
	left := ""
	if s.When.Repeats() {
		left = fmt.Sprintf(" · %d runs left", s.Left())
	}
	return RunResult(s.Last, now) + left
}

// RunFinding returns the result of a run in short: its finding, else an outcome other than
// completed; "": neither.
func RunFinding(r schedule.Run) string {
	if found := inbox.Line(r.Finding); found != "" || r.Outcome == "completed" {
		return found
	}
	return inbox.Label(r.Outcome)
}

// RunResult says how a run ended, and which message reports it.
func RunResult(r schedule.Run, now time.Time) string {
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

// ScheduleFields returns all fields of a schedule except its name, its kind and its runs.
func ScheduleFields(s schedule.Schedule, now time.Time) (fs Fields) {
	fs.Add("when", s.When.Text+", "+ScheduleDue(s, now))
	if s.State == schedule.Held {
		fs.Add("held", "an older version or another program made it. It starts nothing until you confirm it (/confirm)")
	}
	text := "says"
	if s.Kind == schedule.Command {
		text = "runs"
	}
	fs.long(text, s.Text, 4)
	fs.Add("until", s.CancelWhen)
	fs.Add("checks", s.Checks)
	if s.Sandbox == schedule.NoSandbox {
		fs.Add("sandbox", "off: it runs as you")
	}
	fs.Add("ended", s.Why)
	fs.Add("deliver", string(s.Deliver))
	if s.When.Repeats() {
		fs.Add("times", fmt.Sprintf("%d, %d left", s.Runs, s.Left()))
	}
	fs.Add("created", inbox.Clock(s.Created, now)+" by "+map[string]string{schedule.Human: "you", schedule.Agent: "an agent", schedule.CLI: "fantail schedule"}[s.Origin])
	return fs
}

// ScheduleAbout describes a schedule in full.
func ScheduleAbout(s schedule.Schedule, runs []schedule.Run, now time.Time) string {
	fs := ScheduleFields(s, now)
	for _, r := range runs {
		fs.Add("ran", RunResult(r, now))
	}
	return strings.TrimSuffix(fmt.Sprintf("%s, a %s\n%s", s.Name, s.Kind, fs.Text("  ")), "\n")
}
