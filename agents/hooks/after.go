package hooks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// maxBody is how much of a text a hook gets, in bytes.
const maxBody = 64 << 10

// TaskEnded notes that a task has ended. A commit hook calls it; hooks are told outside of the transaction that ended
// the task.
func (r *Runner) TaskEnded(task int64) {
	if r.idle() {
		return
	}
	r.mu.Lock()
	r.ended = append(r.ended, task)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// Follow returns a function that tells the hooks of everything that happens from now on, until ctx ends, even if it is
// started late. Hooks are not told of the state at the start.
func (r *Runner) Follow(ctx context.Context, feed *event.Feed, was []event.Event) (run func()) {
	feed.Quiet()
	f := &follower{Runner: r, known: map[int64]event.Info{}, rests: map[int64]time.Time{}}
	for _, e := range was {
		if c, is := e.(event.Changed); is {
			f.known[c.ID] = c.Info
		}
	}
	f.newest(ctx)
	return func() {
		defer feed.Close()
		f.run(ctx, feed)
	}
}

// run tells the hooks of what was missed and of what happens, in order.
func (f *follower) run(ctx context.Context, feed *event.Feed) {
	f.missed(ctx)
	f.missedMail(ctx)
	f.missedQuestions(ctx)
	for {
		late, stop := f.nextRest()
		select {
		case <-ctx.Done():
			stop()
			return
		case <-feed.Wait():
		case <-f.more:
		case <-late:
			f.rested(ctx)
		}
		stop()
		for _, e := range feed.Take() {
			if ctx.Err() != nil {
				return
			}
			f.see(ctx, e)
		}
		f.tasks(ctx)
	}
}

// follower follows what happens.
type follower struct {
	*Runner
	known map[int64]event.Info
	mail  mail
	asked asked
	told  int64               // the message id of the last task's end that was told
	past  map[int64]bool      // tasks whose end was told before the program began
	rests map[int64]time.Time // by agent that the human talks to: when hooks are told that it awaits input
}

// restful is how long an agent awaits input before hooks are told.
const restful = time.Minute

// nextRest returns the timer of the next agent to report in rests; stop stops it.
func (f *follower) nextRest() (late <-chan time.Time, stop func()) {
	var next time.Time
	for _, at := range f.rests {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if next.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(next))
	return t.C, func() { t.Stop() }
}

// rested tells hooks of the agents that have awaited input long enough.
func (f *follower) rested(ctx context.Context) {
	for id, at := range f.rests {
		if time.Until(at) > 0 {
			continue
		}
		delete(f.rests, id)
		is := f.known[id]
		f.fire(ctx, Who{Info: is}, Notification, map[string]any{
			"message": is.Name + " awaits your input", "title": "Fantail", "notification_type": "idle_prompt",
		}, "idle_prompt")
	}
}

// toldOf is the setting that records the last task's end that was told, so that a kill in between neither loses one
// nor tells one twice.
const toldOf = "hooks told of"

// missed tells hooks of the ends of tasks that were not told before the program ended.
func (f *follower) missed(ctx context.Context) {
	if f.o.DB == nil {
		return
	}
	word, err := f.kept(ctx, toldOf)
	if err == nil && word != "" {
		if !f.has(TaskFinished) { // the end of a task is never told if there is no hook for it at the time
			f.keep(ctx, toldOf, "")
			return
		}
		var ended []int64
		if f.told, err = strconv.ParseInt(word, 10, 64); err == nil {
			err = f.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
				ended, err = inbox.Ended(&rx.View, f.told)
				return err
			})
		}
		f.mu.Lock()
		f.ended = append(ended, slices.DeleteFunc(f.ended, func(id int64) bool { return slices.Contains(ended, id) })...)
		f.mu.Unlock()
		f.tasks(ctx)
		f.past = map[int64]bool{}
		for _, id := range ended {
			f.past[id] = true
		}
	}
	f.trouble(ctx, err)
}

// has reports whether there are hooks for an event, trusted or not.
func (f *follower) has(e Event) bool {
	for _, h := range f.now().Hooks {
		if h.Event == e {
			return true
		}
	}
	return false
}

func (f *follower) who(agent, turn int64) Who {
	i, known := f.known[agent]
	if !known {
		i.ID = agent
	}
	return Who{i, turn}
}

func (f *follower) see(ctx context.Context, e event.Event) {
	switch e := e.(type) {
	case event.Changed:
		was, known := f.known[e.ID]
		if f.known[e.ID] = e.Info; !known {
			was.State = e.State // it is new: nothing it does now is a change
		}
		f.changed(ctx, was, e.Info)
	case event.Closed:
		delete(f.known, e.Agent)
		delete(f.rests, e.Agent)
	case event.Appended:
		for _, x := range e.Entries {
			f.appended(ctx, e.Agent, x)
		}
	case event.Mailed:
		f.mailed(ctx)
	}
}

// changed tells hooks of an agent that asks, or is idle again.
func (f *follower) changed(ctx context.Context, was, is event.Info) {
	who := Who{Info: is}
	if q := is.Question; q != nil && (was.Question == nil || was.Question.ID != q.ID) {
		f.asks(ctx, is)
	}
	if is.State != event.Idle {
		delete(f.rests, is.ID)
	}
	if is.State == event.Idle && was.State != event.Idle {
		if is.Kind.HasPrompt() && f.has(Notification) {
			f.rests[is.ID] = time.Now().Add(restful)
		}
		f.fire(ctx, who, AgentIdle, map[string]any{"pending": is.Pending, "outcome": is.Outcome}, is.Name)
	}
}

// appended tells hooks of a turn that ended, and of mail that entered a conversation.
func (f *follower) appended(ctx context.Context, agent int64, e history.Entry) {
	if e.End != nil && e.Kind == history.EntryEnded && e.Turn != 0 {
		f.fire(ctx, f.who(agent, e.Turn), TurnEnded, map[string]any{
			"outcome": e.End.Outcome, "error": e.End.Error, "ms": e.End.Millis, "steps": e.End.Steps, "tokens": e.End.Tokens,
		}, string(e.End.Outcome), f.known[agent].Name)
	}
	if e.Withdraws != 0 || len(e.Messages) == 0 || !f.has(MailTaken) {
		return
	}
	for _, m := range e.Messages {
		facts := told(m)
		facts["by"] = e.By
		f.fire(ctx, f.who(agent, e.Turn), MailTaken, facts, m.From, string(m.Kind))
	}
}

// told returns a message as hooks get it.
func told(m inbox.Message) map[string]any {
	return map[string]any{
		"message": m.ID, "from": m.From, "kind": m.Kind, "priority": m.Priority, "tags": m.Tags, "subject": m.Subject,
		"body": head(m.Body), "outcome": m.Outcome, "error": m.Error, "task": m.Task, "in_reply_to": m.InReplyTo,
		"created": m.Created.UTC().Format(time.RFC3339),
	}
}

func head(s string) string {
	if len(s) > maxBody {
		return s[:maxBody] + "…"
	}
	return s
}

// tasks tells hooks of the tasks that have ended.
func (f *follower) tasks(ctx context.Context) {
	f.mu.Lock()
	ended := f.ended
	f.ended = nil
	f.mu.Unlock()
	if len(ended) == 0 || !f.has(TaskFinished) {
		return
	}
	for _, id := range ended {
		var t store.Task
		var m inbox.Message
		known := false
		err := f.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
			if t, known, err = rx.Task(id); err == nil && known {
				m, _, err = f.o.Inbox.End(&rx.View, id)
			}
			return err
		})
		if err != nil || !known || t.Outcome == "" || f.past[id] {
			continue // the program closes, the task was purged or goes on, or its end was told already
		}
		if m.ID > f.told { // before: its hook may do what must not be done twice
			f.told = m.ID
			f.keep(ctx, toldOf, strconv.FormatInt(m.ID, 10))
		}
		f.fire(ctx, f.who(t.Queue, m.Turn), TaskFinished, map[string]any{
			"task": t.ID, "name": t.Name, "outcome": t.Outcome, "error": t.Error, "prompt": head(t.Prompt), "result": head(m.Body), "message": m.ID,
		}, t.Name, t.Outcome)
	}
}
