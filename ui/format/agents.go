package format

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/themes"
)

// Context returns the output of /context.
func Context(name string, c agents.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Context of %s, %s\n", name, c.Model)
	switch {
	case c.Used == 0 && c.Abroad:
		b.WriteString("It has not reported its use yet.")
	case c.Abroad:
		fmt.Fprintf(&b, "%s of %s tokens, as it reports; it compacts its conversation itself.", grouped(c.Used), unknown(c.Window))
	case c.Used == 0:
		b.WriteString("No request yet.")
	case c.Window == 0:
		fmt.Fprintf(&b, "%s tokens in the last request. The size of the model's window is unknown.", grouped(c.Used))
	default:
		percent := c.Used * 100 / c.Window
		full := min(percent/10, 10)
		fmt.Fprintf(&b, "%s%s %d%% of %s · compacts at 85%%", strings.Repeat("▓", full), strings.Repeat("░", 10-full), percent, Amount(c.Window))
	}
	if c.Abroad {
		b.WriteString("\nIts system prompt, tools and tool results are its own and unknown here.")
	}
	b.WriteString("\n\nEstimated tokens:\n")
	all := 0
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "  %-22s %8s", p.What, grouped(p.Tokens))
		if p.What != "system prompt" {
			fmt.Fprintf(&b, "  (%s)", grouped(p.Items))
		}
		b.WriteString("\n")
		all += p.Tokens
	}
	fmt.Fprintf(&b, "  %-22s %8s", "total", grouped(all))
	if c.Mail > 0 {
		fmt.Fprintf(&b, "\n\n%s taken in, ~%s tokens", Count(c.Mail, "message"), grouped(c.MailTokens))
	}
	return b.String()
}

// unknown formats a number of tokens; 0 becomes a question mark.
func unknown(n int) string {
	if n == 0 {
		return "?"
	}
	return grouped(n)
}

// Working reports whether an agent in that state is in a turn.
func Working(s event.State) bool {
	return s == event.Running || s == event.Waiting || s == event.Asking
}

// Glyph returns an agent's state as one character: ● at work or, in the colour of questions, asking; ◌ waiting for
// others, ┄ queued, ◐ awaiting input, ✓ and ✗ ended, ○ idle.
func Glyph(i event.Info) (string, themes.Role) {
	if Awaits(i) {
		return "◐", themes.Dim // it does nothing
	}
	switch i.State {
	case event.Running:
		return "●", themes.Accent
	case event.Waiting:
		return "◌", themes.Dim
	case event.Queued:
		return "┄", themes.Dim
	case event.Asking:
		return "●", themes.Warn
	case event.Done:
		return "✓", themes.Good
	case event.Failed, event.Killed, event.Crashed:
		return "✗", themes.Bad
	}
	return "○", themes.Dim
}

// Turns returns how long until an agent's tab changes without an event; 0: it does not. What may
// change is its clock, the time since its last sign of life, and the time it has left.
func Turns(i event.Info, active, now time.Time) (d time.Duration) {
	within := func(left time.Duration) {
		if d == 0 || left < d {
			d = left
		}
	}
	quiet, stalled := i.Stalled(active, now)
	switch {
	case stalled:
		within(stands(quiet))
	case i.State == event.Running && i.Retry == nil && !active.IsZero():
		within(event.StallAfter - quiet)
	}
	if i.Kind.Ends() && Working(i.State) && !stalled {
		within(stands(now.Sub(i.Started)))
	}
	if Awaits(i) && !i.Await.Until.IsZero() {
		within(time.Second)
	}
	return d
}

// Awaits reports whether an agent has ended its turn and awaits input.
func Awaits(i event.Info) bool { return i.State == event.Idle && i.Await != nil }

// TimeLeft returns the time that an agent awaiting input has left, such as 4:12; "": no time runs.
func TimeLeft(i event.Info, now time.Time) string {
	left, counts := i.Await.Left(now)
	if !counts {
		return ""
	}
	return Countdown(left)
}

// IdleShort describes an agent that awaits input, in few cells: `idle 4:12`.
func IdleShort(i event.Info, now time.Time) string {
	return strings.TrimSpace("idle " + TimeLeft(i, now))
}

// Idle describes an agent that awaits input: `idle, ends in 4:12`.
func Idle(i event.Info, now time.Time) string {
	if i.Await.Attached > 0 {
		return idle(i, now, "")
	}
	return idle(i, now, ", stays while someone looks")
}

// IdleHere is Idle for a human who views the agent's tab.
func IdleHere(i event.Info, now time.Time) string { return idle(i, now, ", stays while you look") }

func idle(i event.Info, now time.Time, kept string) string {
	text := "idle"
	switch left := TimeLeft(i, now); {
	case i.Await.Ends:
		text += ", closes now"
	case left != "":
		text += ", closes in " + left
	case i.Await.For == 0:
		text += ", stays until you end it"
	default:
		text += kept
	}
	if n := i.Await.Attached; n > 0 {
		text += fmt.Sprintf(" · %d attached", n)
	}
	return text
}

// Ends returns the answer to ending an agent that awaits input. i is its Info.
func Ends(name string, i event.Info) string {
	if Working(i.State) {
		return name + " ends after this turn"
	}
	return name + " ends"
}

// Stay returns how long an agent awaits input after a turn, such as 5m00s.
func Stay(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return "for " + Lasted(d)
}

// Handles says which message a fork handles: `Handling message #7 · closes itself`.
func Handles(i event.Info) string {
	switch {
	case !i.State.Terminal():
		return fmt.Sprintf("Handling message #%d · closes itself", i.Handles)
	case i.State == event.Done:
		return fmt.Sprintf("Handled message #%d", i.Handles)
	}
	return fmt.Sprintf("Did not handle message #%d", i.Handles)
}

// Doing says in a few words what a running agent does.
func Doing(i event.Info) string {
	switch {
	case i.Doing == "streaming":
		return "thinking"
	case i.Doing == "":
		return "working"
	case i.Call != "":
		return i.Call
	}
	return strings.Replace(i.Doing, "tool ", "runs ", 1)
}

// Asking counts questions that wait for the human.
func Asking(n int) string { return fmt.Sprintf("%d asking", n) }

// Waits returns what is in an inbox: the messages that can be taken, and the questions; "": nothing.
func Waits(pending, asks int) string {
	var parts []string
	if pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", pending))
	}
	if asks > 0 {
		parts = append(parts, Asking(asks))
	}
	return strings.Join(parts, " · ")
}

// Why explains what an agent does or waits for, and what the human can do about it.
func Why(n fleet.Now, now time.Time) string {
	i := n.Info
	ls := []string{i.Name + " is " + string(i.State)}
	add := func(format string, args ...any) { ls = append(ls, "  "+fmt.Sprintf(format, args...)) }
	ago := func(t time.Time) string { return Lasted(now.Sub(t)) }
	if i.Handles != 0 {
		add("%s, from %s", strings.ToLower(Handles(i)), i.Sender)
	}
	if n.Queued != "" {
		add("it has not started: %s", n.Queued)
	}
	if i.Retry != nil {
		add("the request failed: %s", i.Retry.Reason)
		add("try %d of %d in %s", i.Retry.Attempt, i.Retry.Of, Lasted(i.Retry.At.Sub(now)))
	} else if !n.Asked.IsZero() {
		add("a request to %s was sent %s ago", i.Model, ago(n.Asked))
	}
	for _, c := range n.Calls {
		add("%s · for %s", c.Title, ago(c.Since))
	}
	if q := i.Question; q != nil {
		add("it asks you: %s", q.Gist())
		if q.Again != "" {
			add("it has asked since %s", q.Again)
		}
		add("answer in its tab (/agent %s) or here: /answer %s", i.Name, i.Name)
	}
	switch {
	case i.Why == "" || i.State == event.Running:
	case i.State == event.Waiting:
		add("%s", i.Why)
	default:
		add("because: %s", i.Why)
	}
	if i.State == event.Running && !i.Active.IsZero() {
		add("last active %s ago", ago(i.Active))
	}
	if quiet, ok := i.Stalled(i.Active, now); ok {
		add("stalled for %s. /kill %s to end it now, /wrapup %s to let it finish after this step",
			Silence(quiet), i.Name, i.Name)
	}
	if waits := Waits(i.Pending, i.Asks); waits != "" {
		add("in its inbox: %s", waits)
	}
	if i.State.Terminal() && !i.Ended.IsZero() {
		add("it ended %s ago (%s)", ago(i.Ended), i.Outcome)
	}
	switch {
	case Awaits(i):
		for _, l := range awaiting(i, now) {
			add("%s", l)
		}
	case i.State == event.Idle:
		add("it has nothing to do. A prompt or a message that wakes it starts a turn")
	case i.Await == nil || i.State.Terminal():
	case i.Await.Ends:
		add("it ends after this turn")
	default:
		add("after this turn it waits for your input %s", Stay(i.Await.For))
	}
	return strings.Join(ls, "\n")
}

// awaiting explains what an idle agent awaits, what keeps it and what ends it.
func awaiting(i event.Info, now time.Time) (ls []string) {
	ls = append(ls, fmt.Sprintf(
		"it waits for your next message: /tell %s TEXT, or m in its tab (/agent %s)", i.Name, i.Name,
	))
	switch left := TimeLeft(i, now); {
	case left != "":
		ls = append(ls, fmt.Sprintf("it closes in %s without input; the time stops while someone looks at its tab or is attached", left))
	case i.Await.For == 0:
		ls = append(ls, "it stays until you end it")
	case i.Await.Attached > 0:
		ls = append(ls, fmt.Sprintf("it stays while %s, and closes %s later", attached(i.Await.Attached), Lasted(i.Await.For)))
	default:
		ls = append(ls, fmt.Sprintf("it stays while someone looks at its tab, and closes %s later", Lasted(i.Await.For)))
	}
	return append(ls, fmt.Sprintf("/end %s to end it as done, /kill %s as stopped", i.Name, i.Name))
}

// attached says how many programs are attached to an agent.
func attached(n int) string {
	if n == 1 {
		return "a program is attached to it"
	}
	return fmt.Sprintf("%d programs are attached to it", n)
}

// Started says that a new agent works, and which key shows it. tab is the number of its tab; 0: it has
// none.
func Started(name string, tab int) string {
	key := "F2"
	if tab > 0 {
		key = fmt.Sprintf("Alt+%d", tab)
	}
	return "Started " + name + ". " + key + " to watch"
}
