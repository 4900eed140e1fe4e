package policy

import (
	"fmt"
	"time"

	"fantail/inbox"
)

// Doing is what a recipient is doing when mail arrives.
type Doing string

const (
	Resting    Doing = "idle"
	Streaming  Doing = "streaming"
	Tooling    Doing = "running a tool"
	Asking     Doing = "waiting for the human's answer"
	Receiving  Doing = "waiting for a message"
	Compacting Doing = "compacting"
	Ended      Doing = "ended"
)

// Recipient is what Decide needs to know about the agent that gets a message. It does not matter which tab is shown.
type Recipient struct {
	Doing   Doing
	Prompt  bool          // the human talks to it in a prompt box
	Forked  bool          // it is itself a fork
	Abroad  bool          // another vendor's agent carries out its turns, which can't be forked
	Stopped bool          // the human stopped its last turn and has not acted in it since
	Away    time.Duration // since the human's last key
	Draft   bool          // its prompt box has a draft
	Ends    bool          // without a prompt box: its work is done, it is about to end
}

// When is the moment at which a message enters a context.
type When string

const (
	Held       When = "held"        // when it is taken
	WithPrompt When = "with-prompt" // with the human's next prompt
	AtSeam     When = "at-seam"     // before the next request of the turn that runs
	AtOnce     When = "at-once"     // it starts a turn now
	Wakes      When = "wakes"       // it starts a turn half a second after the last one, once the agent is idle
	AtPause    When = "at-pause"    // once the agent is idle and the human pauses
	Forked     When = "forked"      // a fork takes it now
	Answered   When = "answered"    // never: it is a question to the human
	Never      When = "never"       // its recipient has ended
)

// Decision is what happens to a waiting message.
type Decision struct {
	Mode   Mode   // that applies; "" where none does
	Rule   string // the rule that decided
	When   When
	Due    bool          // that moment is now
	Wait   time.Duration // AtPause, for an agent at rest whose human has no draft: how long no key may be pressed
	Reason string        // when it enters and why: the end of a sentence, after "it waits"
}

// String is the decision as the end of a sentence about the message: when it enters, and which rule says so.
func (d Decision) String() string {
	s := "it waits " + d.Reason
	switch {
	case d.Mode == "" && d.Rule != "":
		s += fmt.Sprintf("\nDecided by %s.", d.Rule)
	case d.Rule != "":
		s += fmt.Sprintf("\nPolicy: %s, by %s.", d.Mode, d.Rule)
	}
	return s
}

// Decide says when m enters the context of its recipient, and why. In order, these decide: quiet, a muted thread, the
// limit of messages between agents, what the human set for the sender, then for all mail, and the rules: urgent,
// sender, tags, priority, schedule, default.
func Decide(m inbox.Message, p Policy, r Recipient, now time.Time) Decision {
	switch {
	case r.Doing == Ended:
		return Decision{When: Never, Reason: "and nothing will take it: the agent has ended. /messages show prints it."}
	case m.Kind == inbox.Question || m.Kind == inbox.Approval:
		return Decision{When: Answered, Reason: "for your answer."}
	case p.Quiet.Holds(now) && r.Prompt:
		until := "/messages resume ends it"
		if !p.Quiet.Until.IsZero() {
			until = "it ends at " + p.Quiet.Until.Local().Format("15:04") + ", or with /messages resume"
		}
		return Decision{When: Held, Rule: "quiet mode", Reason: "because it is quiet; " + until + ". " + howTaken}
	case m.Muted:
		return Decision{When: Held, Rule: "a muted thread", Reason: fmt.Sprintf("because its thread is muted; /messages mute %d off ends that. %s", m.ID, howTaken)}
	}
	if m.Endless() {
		return Decision{When: Held, Rule: "the bound on mail between agents", Reason: fmt.Sprintf("because agents wrote the %d messages before it because of each other, without you. %s", inbox.MaxHops, howTaken)}
	}
	mode, rule := p.mode(m, now)
	if mode == UrgentOnly {
		if mode = Queue; m.Priority == inbox.Urgent {
			mode = Interrupt
		}
	}
	if mode == Fork && r.Forked {
		mode, rule = Interrupt, rule+"; a fork is not forked again"
	}
	if mode == Fork && m.ByFork {
		mode, rule = Manual, rule+"; what a fork wrote is not forked again"
	}
	var d Decision
	switch mode {
	case Interrupt:
		d = interrupt(r)
	case Queue:
		d = queue(p, r)
	case Fork:
		if r.Abroad {
			return Decision{Mode: mode, Rule: rule, When: Held, Reason: Unforkable + ". " + howTaken}
		}
		d = Decision{When: Forked, Due: true, Reason: "until a fork of the agent takes it, which is now; the agent itself goes on undisturbed."}
	default:
		d = asked(m, r)
	}
	d.Mode, d.Rule = mode, rule
	return d
}

// Unforkable is why mail for a fork waits: the end of a sentence.
const Unforkable = "because another vendor's agent carries out its turns, and can't be forked"

// howTaken names the commands that take a held message.
const howTaken = "/check, /receive, /messages next and /fire take it."

const youStopped = "and starts no turn by itself: you stopped the last one. Your next prompt, /messages next or /fire brings it in."

func interrupt(r Recipient) Decision {
	switch r.Doing {
	case Resting:
		if r.Stopped {
			return Decision{When: WithPrompt, Reason: youStopped}
		}
		return Decision{When: AtOnce, Due: true, Reason: "and starts a turn now: the agent is idle."}
	case Asking:
		return Decision{When: AtSeam, Reason: "until your answer lets the agent go on: it enters before its next request."}
	case Receiving:
		return Decision{When: AtSeam, Reason: "until the wait takes it or ends: it enters before the agent's next request."}
	case Compacting:
		return Decision{When: AtSeam, Reason: "until the conversation is compacted: it enters before the next request."}
	case Tooling:
		return Decision{When: AtSeam, Reason: "until all tools of this step have ended: it enters before the next request."}
	}
	return Decision{When: AtSeam, Reason: "until the reply has ended: it enters before the next request."}
}

func queue(p Policy, r Recipient) Decision {
	d := Decision{When: AtPause}
	switch wait := p.Pause() - r.Away; {
	case !r.Prompt:
		d.Due = r.Ends
		d.Reason = "until the agent's work is done: it enters before it ends."
	case r.Doing != Resting:
		d.Reason = fmt.Sprintf("until the turn has ended and no key came for %s: the agent is %s.", p.Pause(), r.Doing)
	case r.Stopped:
		d.Reason = fmt.Sprintf("until you have gone on: you stopped the agent's last turn. Then once it is idle and no key came for %s.", p.Pause())
	case r.Draft:
		d.Reason = fmt.Sprintf("until your prompt box is empty and no key came for %s.", p.Pause())
	case wait > 0:
		d.Wait = wait
		d.Reason = fmt.Sprintf("until no key came for %s (%s to go).", p.Pause(), wait.Round(time.Second))
	default:
		d.Due = true
		d.Reason = "and starts a turn now: the agent is idle and you pause."
	}
	return d
}

// asked is the decision that the sender of m asked for.
func asked(m inbox.Message, r Recipient) Decision {
	switch {
	case m.Deliver == inbox.Hold:
		return Decision{When: Held, Reason: "until you take it: enter in the inbox, or /check."}
	case !r.Prompt && r.Doing == Asking:
		return Decision{When: AtSeam, Due: true, Reason: "until your answer lets the agent go on: it enters before its next request."}
	case !r.Prompt:
		return Decision{When: AtSeam, Due: true, Reason: "and enters before the agent's next request: the agent takes no prompts, so its next step is the turn it is meant for."}
	case m.Deliver == inbox.Wake && r.Stopped:
		return Decision{When: WithPrompt, Reason: youStopped}
	case m.Deliver == inbox.Wake && r.Doing == Resting:
		return Decision{When: Wakes, Due: true, Reason: "and starts a turn within half a second: its sender asked to wake the agent, which is idle."}
	case m.Deliver == inbox.Wake:
		return Decision{When: Wakes, Reason: "and starts a turn when the one that runs has ended: its sender asked to wake the agent."}
	case r.Doing == Resting:
		return Decision{When: WithPrompt, Reason: "and joins the conversation with your next prompt."}
	}
	return Decision{When: WithPrompt, Reason: "and joins the conversation with the next prompt, or with a queued one."}
}
