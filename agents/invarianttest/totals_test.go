package invarianttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fantail/.ci/long"
	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools"
)

// TestLedger_balancesWhateverHappens drives the pool with random operations and
// crashes. After each of them every started task has exactly one message or
// runs, and nothing is taken twice; at the end nothing is left over.
// Spec, N-19, E-1, E-2, E-5, E-18, E-21.
func TestLedger_balancesWhateverHappens(t *testing.T) {
	t.Parallel()
	began, failed, limit := time.Now(), false, time.Duration(long.Times(1, 12))*time.Second
	rapid.Check(t, func(rt *rapid.T) {
		if !failed && time.Since(began) > limit {
			return // bounded; a failure is still made smaller
		}
		failed = true
		inBubble(t, func(t *testing.T) {
			b := &books{T: rt, t: t, dir: t.TempDir(), taken: map[int64]bool{}}
			b.open()
			rt.Repeat(map[string]func(*rapid.T){
				"push": b.push, "run": b.run, "wait": b.wait, "send": b.send, "check": b.check, "receive": b.receive,
				"next": b.next, "kill": b.kill, "close a tab": b.closeTab, "reopen": b.reopen, "crash": b.crash,
				"prompt": b.prompt, "stop": b.stop, "background": b.background, "resume": b.resume,
				"retry": b.retry, "once": b.once, "change the queue": b.change, "fire": b.fire, "answer": b.answer, "undo": b.undo, "show": b.show,
				"": b.balance,
			})
			b.drain()
		})
		failed = false
	})
}

// inBubble runs f in fake time. What f panics with, as rapid does to end an
// attempt, reaches the caller.
func inBubble(t *testing.T, f func(t *testing.T)) {
	var cause any
	synctest.Test(t, func(t *testing.T) {
		defer func() { cause = recover() }()
		f(t)
	})
	if cause != nil {
		panic(cause)
	}
}

// books is a workspace and what was seen of it.
type books struct {
	*rapid.T
	t     *testing.T
	dir   string
	w     *agentstest.World
	taken map[int64]bool // the messages that were handed out
}

func (b *books) open() {
	b.w = agentstest.Open(b.t, builtin.New(), agentstest.Setting{Dir: b.dir, Cap: 3})
}

// wrong ends the attempt. It also tells the test itself: what happens at one
// moment of fake time has no order, so an attempt may not repeat itself.
func (b *books) wrong(what any) {
	b.Helper()
	b.t.Log(what)
	b.Fatal(what)
}

func (b *books) ok(err error) {
	b.Helper()
	if err != nil {
		b.wrong(err)
	}
}

// one draws one of the agents, "" if none is as wanted.
func (b *books) one(want func(event.Info) bool) string {
	var names []string
	for _, i := range b.w.Pool.Infos() {
		if want(i) {
			names = append(names, i.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return rapid.SampledFrom(names).Draw(b.T, "agent")
}

func sub(i event.Info) bool { return i.Kind == event.Sub && !i.State.Terminal() }

func (b *books) push(*rapid.T) {
	prompt := rapid.SampledFrom([]string{
		"say done", "fail on purpose", "wait 5s then say late", "wait 10m", "send main: half way then wait 3s", "receive", "receive from kid",
		"delegate kid: wait 2s then say small", "delegate kid: fail small then wait 1s", "check then say looked",
		"delegate sync kid: wait 2s then say small", "delegate sync kid: delegate sync job: receive from main",
		"push kid: wait 1s then push job after kid: say done then run", "ask Which?: one | two", "ask Whether? then wait 2s then say asked", "!echo plain", "!exit 3", "!echo begun; exec sleep 0.01",
	}).Draw(b.T, "prompt")
	task := tools.Task{
		Prompt: prompt, Start: rapid.Bool().Draw(b.T, "start"),
		Name:    rapid.SampledFrom([]string{"", "", "kid", "job"}).Draw(b.T, "name"),
		Timeout: rapid.SampledFrom([]time.Duration{0, 0, 4 * time.Second}).Draw(b.T, "timeout"),
		Deliver: string(rapid.SampledFrom([]inbox.Deliver{inbox.Hold, inbox.Next, inbox.Wake}).Draw(b.T, "deliver")),
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(b.T, "needs") {
		if name := b.task("after", "queued", "running", "finished"); name != "" {
			task.After = append(task.After, name)
		}
	}
	if _, err := b.w.Pool.Tasks.Push(b.t.Context(), b.w.Main(), task); err != nil && task.Name == "" && task.After == nil {
		b.wrong(err) // a wanted name may be in use, and what is to be waited for may have failed
	}
}

// task draws the name of a task of main's in one of these states, "" if there is
// none.
func (b *books) task(what string, states ...string) string {
	q, err := b.w.Pool.Queue(b.t.Context(), b.w.Main())
	b.ok(err)
	var names []string
	for _, t := range q.Tasks {
		if slices.Contains(states, t.State) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return rapid.SampledFrom(names).Draw(b.T, what)
}

func (b *books) retry(*rapid.T) {
	if name := b.task("retried", "finished"); name != "" {
		if _, _, err := b.w.Pool.Tasks.Retry(b.t.Context(), b.w.Main(), name, rapid.SampledFrom([]string{"", "look closer"}).Draw(b.T, "hint")); err != nil {
			b.t.Log(err) // a task of that name may be there, and what it waits for may have failed
		}
	}
}

func (b *books) once(*rapid.T) {
	_, err := b.w.Pool.Run(b.t.Context(), b.w.Main(), tools.Start{Once: true, Count: rapid.IntRange(0, 2).Draw(b.T, "starts"), Timeout: 5 * time.Second})
	b.ok(err)
}

// change moves, edits or removes a task that is queued; it may start meanwhile.
func (b *books) change(*rapid.T) {
	name := b.task("changed", "queued")
	if name == "" {
		return
	}
	var err error
	switch rapid.SampledFrom([]string{"move", "edit", "remove"}).Draw(b.T, "change") {
	case "move":
		_, err = b.w.Pool.Tasks.Move(b.t.Context(), name, 1)
	case "edit":
		err = b.w.Pool.Tasks.Edit(b.t.Context(), name, "wait 2s then say edited")
	default:
		err = b.w.Pool.Tasks.Remove(b.t.Context(), name)
	}
	if err != nil {
		b.t.Log(err)
	}
}

// prompt lets main itself delegate: a wait in a turn of its own.
func (b *books) prompt(*rapid.T) {
	b.ok(b.w.Pool.Prompt(b.t.Context(), b.w.Main(), rapid.SampledFrom([]string{
		"say hello", "ask Which of them?", "delegate sync kid: wait 3s then say small\ndelegate sync job: wait 8s then fail", "delegate kid: wait 5s then say later",
	}).Draw(b.T, "prompt")))
}

func (b *books) stop(*rapid.T) { b.w.Pool.Stop(b.w.Main()) }

func (b *books) background(*rapid.T) {
	for _, i := range b.w.Pool.Infos() {
		b.w.Pool.Background(i.ID)
	}
}

func (b *books) resume(*rapid.T) {
	name := b.one(func(i event.Info) bool { return i.Kind == event.Sub && i.State.Terminal() })
	if name == "" {
		return
	}
	prompt := rapid.SampledFrom([]string{"", "wait 2s then say again", "delegate sync kid: say from below"}).Draw(b.T, "again")
	if _, _, err := b.w.Pool.Resume(b.t.Context(), b.w.Main(), name, prompt); err != nil && prompt != "" {
		b.t.Log(err) // a task of that name may be queued
	}
}

func (b *books) run(*rapid.T) {
	_, err := b.w.Pool.Run(b.t.Context(), b.w.Main(), tools.Start{Count: rapid.IntRange(0, 3).Draw(b.T, "window")})
	b.ok(err)
}

func (b *books) wait(*rapid.T) {
	<-time.After(rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Second, time.Minute}).Draw(b.T, "time"))
}

func (b *books) send(*rapid.T) {
	to := b.one(func(i event.Info) bool { return !i.State.Terminal() })
	_, err := b.w.Pool.Letters.Send(b.t.Context(), b.w.Main(), to, "a note", "")
	b.ok(err)
}

func (b *books) query() inbox.Query {
	return inbox.Query{
		From: rapid.SampledFrom([]string{"", "", "kid", "main"}).Draw(b.T, "from"), LIFO: rapid.Bool().Draw(b.T, "lifo"),
	}
}

// took notes what a take returned: in the order that was asked for, and never a
// message again.
func (b *books) took(q inbox.Query, ms ...inbox.Message) {
	b.Helper()
	for i, m := range ms {
		if b.taken[m.ID] {
			b.wrong(fmt.Sprintf("message %d was taken twice", m.ID))
		}
		b.taken[m.ID] = true
		if i > 0 && (ms[i-1].ID > m.ID) != q.LIFO {
			b.wrong(fmt.Sprintf("message %d came behind %d", m.ID, ms[i-1].ID))
		}
	}
}

func (b *books) check(*rapid.T) {
	q := b.query()
	ms, _, err := b.w.Pool.Pickup.Check(b.t.Context(), b.w.Main(), q)
	if several(err) {
		return
	}
	b.ok(err)
	b.took(q, ms...)
}

// several reports whether a name that was asked for, of a task that never
// started, is nobody's but the beginning of others.
func several(err error) bool { return err != nil && strings.Contains(err.Error(), "several names") }

func (b *books) receive(*rapid.T) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Second)
	defer cancel()
	q := b.query()
	m, err := b.w.Pool.Pickup.Receive(ctx, b.w.Main(), q)
	switch {
	case err == nil:
		b.took(q, m)
	case several(err):
	case !errors.Is(err, tasks.ErrNothing) && !errors.Is(err, context.DeadlineExceeded):
		b.wrong(err)
	}
}

func (b *books) next(*rapid.T) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Second)
	defer cancel()
	m, ok, err := b.w.Pool.Pickup.Next(ctx, b.w.Main(), 0)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		b.wrong(err)
	}
	if ok {
		b.took(inbox.Query{}, m)
	}
}

func (b *books) fire(*rapid.T) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Second)
	defer cancel()
	_, _, err := b.w.Pool.Pickup.Fire(ctx, b.w.Main(), rapid.SampledFrom([]string{"", "say fired", "wait 2s"}).Draw(b.T, "text"))
	if !errors.Is(err, mail.ErrNoMail) && !errors.Is(err, context.DeadlineExceeded) {
		b.ok(err)
	}
}

func (b *books) show(*rapid.T) {
	q := b.query()
	ms, _, err := b.w.Pool.Pickup.Show(b.t.Context(), b.w.Main(), q)
	if several(err) {
		return
	}
	b.ok(err)
	b.took(q, ms...)
}

// undo puts the last batch back: what waits then may be handed out again.
func (b *books) undo(*rapid.T) {
	n, err := b.w.Pool.Letters.Undo(b.t.Context(), b.w.Main())
	if err != nil && !strings.HasPrefix(err.Error(), "undo: the last messages") && !strings.HasPrefix(err.Error(), "undo: a request has carried") &&
		!strings.HasPrefix(err.Error(), "undo: no messages were taken") {
		b.wrong(err)
	}
	ms, err := b.w.Pool.Letters.Inbox(b.t.Context(), b.w.Main())
	b.ok(err)
	for _, m := range ms {
		if b.taken[m.ID] {
			delete(b.taken, m.ID)
			n--
		}
	}
	if n < 0 {
		b.wrong(fmt.Sprintf("%d messages more wait again than were put back", -n))
	}
}

func (b *books) kill(*rapid.T) {
	if name := b.one(sub); name != "" {
		b.ok(b.w.Pool.Kill(b.t.Context(), name, rapid.Bool().Draw(b.T, "cascade")))
	}
}

func (b *books) closeTab(*rapid.T) {
	if name := b.one(func(i event.Info) bool { return i.State.Terminal() }); name != "" {
		b.ok(b.w.Pool.CloseTab(b.t.Context(), name))
	}
}

func (b *books) reopen(*rapid.T) {
	b.w.Close()
	b.open()
}

// crash takes the database away first: nothing more is written.
func (b *books) crash(*rapid.T) {
	b.ok(b.w.DB.Close())
	b.reopen(b.T)
}

// balance is what holds at any time.
func (b *books) balance(*rapid.T) {
	synctest.Wait()
	l, err := b.w.Pool.Records.Balance(b.t.Context())
	b.ok(err)
	if l.Started != l.Delivered+l.Pending+l.Running || len(l.Wrong) > 0 {
		b.wrong(l)
	}
}

// answer answers one question, if there is one.
func (b *books) answer(*rapid.T) { b.answered() }

// answered is answer; false: there is none.
func (b *books) answered() bool {
	for _, i := range b.w.Pool.Infos() {
		if i.Question == nil {
			continue
		}
		err := b.w.Pool.Asks.Answer(b.t.Context(), i.Question.ID, event.Answer{Text: "two"})
		if err != nil && !errors.Is(err, event.ErrAnswered) {
			b.wrong(err)
		}
		synctest.Wait()
		return true
	}
	return false
}

// drain lets everything end and takes all mail. What stood in the queue of one that
// ended stands in main's and waits for a word.
func (b *books) drain() {
	for _, name := range slices.Repeat([]string{"patience"}, 50) {
		r, err := b.w.Pool.Run(b.t.Context(), b.w.Main(), tools.Start{})
		b.ok(err)
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Hour)
		err = b.w.Pool.Settled(ctx)
		cancel()
		if err == nil && r.Running+r.Queued == 0 {
			break
		}
		if err == nil {
			continue
		}
		if b.answered() {
			continue
		}
		if name = b.one(sub); name == "" {
			b.wrong(fmt.Sprintf("%v, and no agent runs: %+v", err, b.w.Pool.Infos()))
		}
		b.ok(b.w.Pool.Kill(b.t.Context(), name, false)) // it waits for mail nobody sends
	}
	ms, _, err := b.w.Pool.Pickup.Check(b.t.Context(), b.w.Main(), inbox.Query{})
	b.ok(err)
	b.took(inbox.Query{}, ms...)
	b.balance(b.T)
	l, err := b.w.Pool.Records.Balance(b.t.Context())
	b.ok(err)
	if l.Running != 0 || l.Queued != 0 || l.Pending != 0 {
		b.wrong(fmt.Sprint("left over: ", l))
	}
	b.w.Close()
}

// TestLedger_saysWhatIsWrong: a ledger that can't complain proves nothing.
func TestLedger_saysWhatIsWrong(t *testing.T) {
	l := agents.Balance{Started: 3, Delivered: 1, Pending: 1, Running: 1, Queued: 2, Taken: 4, Waiting: 1}
	if got, want := fmt.Sprint(l), "Tasks: started 3 = delivered 1 + pending 1 + running 1 (2 queued)\nMessages: 5 = taken 4 + pending 1\nNothing is lost and nothing is doubled."; got != want {
		t.Errorf("%q", got)
	}
	l.Wrong = []string{"task 7 finished without a message"}
	if got, want := fmt.Sprint(l), "Tasks: started 3 = delivered 1 + pending 1 + running 1 (2 queued)\nMessages: 5 = taken 4 + pending 1\nThe books don't balance (1):\n  - task 7 finished without a message"; got != want {
		t.Errorf("%q", got)
	}
}
