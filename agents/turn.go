package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
)

// maxCuts is how often in a row a model may run into its token limit in the
// middle of a call before the turn fails.
const maxCuts = 3

// ending is how a turn ends.
type ending struct {
	outcome Outcome
	cause   string
}

// work carries out one turn: absorb, ask, record, run tools, until no calls are
// left and nothing more is due. It returns an error if the turn could not begin.
func (a *agent) work(ctx context.Context) error {
	ctx, release := a.stoppable(ctx)
	defer release()
	a.began, a.steps, a.tokens = a.p.o.Now(), 0, 0
	cuts := 0
	for {
		began, err := a.absorb(ctx)
		if err != nil && a.turn == 0 {
			return err
		}
		if err == nil && !began {
			return nil
		}
		if err != nil {
			a.finish(ctx, a.endingOf(ctx, err))
			return nil
		}
		r, err := a.ask(ctx)
		switch {
		case err != nil:
		case len(r.calls) > 0:
			err = a.runCalls(ctx, r.calls)
		case r.stop != nil && len(r.stop.Broken) > 0:
			if cuts++; cuts < maxCuts {
				continue
			}
			err = fmt.Errorf("the model's calls were cut by its token limit %d times in a row", cuts)
		default:
			if err = a.await(ctx); err == nil && a.finish(ctx, ending{outcome: Completed}) {
				return nil
			}
		}
		cuts = 0
		if err != nil {
			a.finish(ctx, a.endingOf(ctx, err))
			return nil
		}
	}
}

// endingOf says how a turn ends that err ended.
func (a *agent) endingOf(ctx context.Context, err error) ending {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errKilled):
		return ending{OutKilled, "killed"}
	case errors.Is(err, errTimeout):
		return ending{TimedOut, err.Error()}
	case errors.Is(err, errClosing):
		return ending{Interrupted, errClosing.Error()}
	case errors.Is(err, ErrStopped):
		return ending{Interrupted, "stopped by the user"}
	}
	return ending{OutFailed, err.Error()}
}

// absorb lets in what is due at this seam, in one transaction: queued prompts
// and messages become entries, and what the coming request carries is
// committed. Outside a turn it begins one, if anything came: false means that
// nothing did.
func (a *agent) absorb(ctx context.Context) (bool, error) {
	a.p.mu.Lock()
	var wish *next
	if a.turn == 0 && len(a.nexts) > 0 {
		wish = a.nexts[0]
	}
	wake := a.turn == 0 && a.wake
	a.p.mu.Unlock()

	var turn int64
	var sent int64
	var got took
	err := a.p.o.DB.Write(context.WithoutCancel(ctx), "absorb", func(tx *store.Tx) error {
		turn, got = a.turn, took{}
		b := a.batch(tx, false)
		waiting, err := tx.WaitingPrompts(a.id)
		if err != nil {
			return err
		}
		var prompts []store.Prompt
		for _, q := range waiting {
			if !q.Held {
				prompts = append(prompts, q)
			}
		}
		if turn == 0 {
			reason := len(prompts) > 0
			if wake && !reason {
				if reason, err = a.p.inbox.Any(tx, inbox.Query{Recipient: a.id, Deliver: []inbox.Deliver{inbox.Wake}}); err != nil {
					return err
				}
			}
			if wish != nil && !reason {
				if reason, err = a.p.inbox.Any(tx, inbox.Query{Recipient: a.id, ID: wish.id}); err != nil {
					return err
				}
			}
			if turn, err = a.begin(tx, reason); err != nil || turn == 0 {
				return err
			}
		}
		if wish != nil {
			if got, err = a.takeNext(tx, b, turn, wish.id); err != nil {
				return err
			}
		}
		if len(prompts) > 0 || wake || !a.kind.HasPrompt() {
			if err := a.takeDue(tx, b, turn); err != nil {
				return err
			}
		}
		if err := a.enter(tx, b, turn, prompts); err != nil {
			return err
		}
		if sent, err = tx.LastSeq(a.id); err != nil {
			return err
		}
		return tx.SetSentUpTo(turn, sent)
	})
	if wish != nil {
		a.p.mu.Lock()
		a.nexts = a.nexts[1:]
		a.p.mu.Unlock()
		got.err = err
		wish.reply <- got
	}
	if err != nil {
		return false, fmt.Errorf("absorb: %w", err)
	}
	if wake {
		a.p.mu.Lock()
		a.wake = false
		a.p.told()
		a.p.mu.Unlock()
	}
	if turn == 0 {
		return false, nil
	}
	if a.turn == 0 {
		a.setTurn(turn)
		a.set(func(i *Info) {
			i.State, i.Doing, i.Why, i.Started, i.Outcome = Running, "starting", "", a.began, ""
		})
	}
	return true, a.readUpTo(ctx, sent)
}

// setTurn notes the turn that runs.
func (a *agent) setTurn(turn int64) {
	a.turn = turn
	a.p.mu.Lock()
	a.shownTurn = turn
	a.p.mu.Unlock()
}

// begin makes the row of a new turn if there is a reason for one.
func (a *agent) begin(tx *store.Tx, reason bool) (int64, error) {
	if !reason {
		return 0, nil
	}
	t := store.Turn{Agent: a.id, Kind: "agent", Started: a.began}
	if a.kind == Sub {
		t.Kind = "async_subagent"
	}
	last, ok, err := tx.LastTurn(a.id)
	if err != nil {
		return 0, err
	}
	if ok {
		t.Parent, t.Conversation, t.SpawnedBy = last.ID, last.Conversation, last.SpawnedBy
	} else if a.task != 0 {
		if t.SpawnedBy, t.Conversation, err = tx.Spawner(a.task); err != nil {
			return 0, err
		}
	}
	id, err := tx.BeginTurn(t)
	if err != nil {
		return 0, err
	}
	return id, tx.SetAgentState(a.id, string(Running), false)
}

// enter appends queued prompts.
func (a *agent) enter(tx *store.Tx, b *batch, turn int64, prompts []store.Prompt) error {
	for _, q := range prompts {
		seq, err := b.add(turn, Entry{Kind: EntryPrompt, Text: q.Text})
		if err != nil {
			return err
		}
		if err := tx.EnterPrompt(q.ID, seq); err != nil {
			return err
		}
		tx.AfterCommit(func() { a.dropPrompt(q.ID) })
	}
	return nil
}

// dropPrompt removes a prompt from what is shown as queued.
func (a *agent) dropPrompt(id int64) {
	a.set(func(i *Info) {
		var rest []Prompt
		for _, q := range i.Prompts {
			if q.ID != id {
				rest = append(rest, q)
			}
		}
		i.Prompts = rest
	})
}

// readUpTo reads the entries up to sent into the history that requests are
// made of. What a human's take appended later waits for the next request.
func (a *agent) readUpTo(ctx context.Context, sent int64) error {
	if sent <= a.read {
		return nil
	}
	var rows []store.Entry
	err := a.p.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		if a.read == 0 {
			e, ok, err := rx.LastEntry(a.id, string(EntryCleared))
			if err != nil {
				return err
			}
			if ok {
				a.read = e.Seq
			}
		}
		var err error
		rows, err = rx.EntriesAfter(a.id, a.read, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	for _, e := range decodeAll(rows) {
		if e.Seq > sent {
			break
		}
		a.read = e.Seq
		if e.Kind == EntryCleared {
			a.history = nil
			continue
		}
		a.history = append(a.history, e)
	}
	return nil
}

// ask sends one request, streams its reply to the feeds and records it in one
// transaction. A reply that comes with an error, or cut by its token limit, has
// no calls that may run.
func (a *agent) ask(ctx context.Context) (*reply, error) {
	a.p.mu.Lock()
	model, info := a.model, a.info
	a.p.mu.Unlock()
	a.set(func(i *Info) { i.State, i.Doing = Running, "streaming" })
	req := &llm.Request{
		Model: model.ID, System: a.p.o.System(info), MaxTokens: model.MaxOut,
		Messages: messages(a.history, model.Name), CacheKey: fmt.Sprintf("fantail-%d", a.id),
	}
	for _, s := range a.p.o.Tools.Specs() {
		req.Tools = append(req.Tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	r := &reply{}
	var failed error
	for part, err := range model.Provider.Stream(ctx, req) {
		if err != nil {
			failed = err
			break
		}
		if again, ok := part.(llm.Retrying); ok {
			r = &reply{}
			a.p.hub.emit(Void{a.id})
			a.set(func(i *Info) {
				i.Retry = &Retry{
					Attempt: again.Attempt, Of: again.Of, Reason: again.Err.Error(),
					At: a.p.o.Now().Add(time.Duration(again.Wait) * time.Millisecond),
				}
			})
			continue
		}
		if a.retrying() {
			a.set(func(i *Info) { i.Retry = nil })
		}
		if d, ok := r.add(part); ok {
			d.Agent = a.id
			a.p.hub.emit(d)
		}
	}
	if failed == nil && r.stop == nil && ctx.Err() == nil {
		failed = &llm.Error{Kind: llm.Cut, Provider: model.Name, Message: "The reply ended without its end marker. Try again."}
	}
	if failed != nil {
		r.calls = nil // nothing runs from a reply that did not end in order
	}
	if err := a.record(ctx, model, r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, failed
}

func (a *agent) retrying() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Retry != nil
}

// record appends a reply: thinking, text and calls, each an entry, and adds what
// the request cost.
func (a *agent) record(ctx context.Context, model Model, r *reply) error {
	var cost int64
	if model.Price != nil {
		cost = model.Price(r.usage)
	}
	err := a.p.o.DB.Write(context.WithoutCancel(ctx), "record", func(tx *store.Tx) error {
		b := a.batch(tx, true)
		for _, e := range r.entries(model.Name, a.p.o.Tools.Title) {
			if _, err := b.add(a.turn, e); err != nil {
				return err
			}
		}
		return tx.AddStep(a.turn, store.Step{
			Input: r.usage.Input, Output: r.usage.Output, CacheRead: r.usage.CacheRead, CacheWrite: r.usage.CacheWrite,
			Cost: cost, Context: r.usage.Context(),
		})
	})
	if err != nil {
		a.p.hub.emit(Void{a.id})
		return fmt.Errorf("record: %w", err)
	}
	a.steps++
	a.tokens += r.usage.Context()
	a.set(func(i *Info) {
		i.Usage, i.Cost, i.Steps, i.Retry = i.Usage.Add(r.usage), i.Cost+cost, i.Steps+1, nil
		if c := r.usage.Context(); c > 0 {
			i.Context = c
		}
	})
	return nil
}

// reply collects the parts of a stream.
type reply struct {
	blocks []block
	calls  []Call
	usage  llm.Usage
	stop   *llm.Stop
}

// block is a run of text, or of thinking, or a call.
type block struct {
	index    int
	thinking bool
	opaque   string
	model    string
	text     *strings.Builder
	call     int // 1 + its place in calls; 0: none
}

// add takes the next part and returns the delta to show, if there is one.
func (r *reply) add(part llm.Part) (Delta, bool) {
	switch part := part.(type) {
	case llm.Text:
		b := r.block(part.Index, false)
		b.text.WriteString(part.Text)
		return Delta{Block: len(r.blocks) - 1, Text: part.Text}, part.Text != ""
	case llm.Thinking:
		b := r.block(part.Index, true)
		b.text.WriteString(part.Text)
		if part.Opaque != "" {
			b.opaque, b.model = part.Opaque, part.Model
		}
		return Delta{Block: len(r.blocks) - 1, Thinking: true, Text: part.Text}, part.Text != ""
	case llm.ToolCall:
		r.calls = append(r.calls, Call{ID: part.ID, Name: part.Name, Args: part.Args})
		r.blocks = append(r.blocks, block{call: len(r.calls)})
	case llm.Usage:
		r.usage = part
	case llm.Stop:
		r.stop = &part
	}
	return Delta{}, false
}

// block returns the block the next piece belongs to.
func (r *reply) block(index int, thinking bool) *block {
	if n := len(r.blocks); n == 0 || r.blocks[n-1].text == nil || r.blocks[n-1].index != index || r.blocks[n-1].thinking != thinking {
		r.blocks = append(r.blocks, block{index: index, thinking: thinking, text: &strings.Builder{}})
	}
	return &r.blocks[len(r.blocks)-1]
}

// entries are the reply as it is recorded. Calls that must not run (calls is
// empty then) are left out.
func (r *reply) entries(model string, title func(string, json.RawMessage) string) []Entry {
	var es []Entry
	said := false
	for _, b := range r.blocks {
		switch {
		case b.call > 0:
			if len(r.calls) >= b.call {
				c := &r.calls[b.call-1]
				c.Title = title(c.Name, c.Args)
				es = append(es, Entry{Kind: EntryCall, Call: c})
				said = true
			}
		case b.thinking:
			if b.text.Len() > 0 || b.opaque != "" {
				es = append(es, Entry{Kind: EntryThinking, Text: b.text.String(), Opaque: b.opaque, Model: b.model})
			}
		case strings.TrimSpace(b.text.String()) != "":
			es = append(es, Entry{Kind: EntryText, Text: b.text.String(), Model: model})
			said = true
		}
	}
	if r.stop == nil {
		return es
	}
	switch {
	case len(r.stop.Broken) > 0:
		es = append(es, Entry{Kind: EntryHost, Text: fmt.Sprintf(
			"Your reply reached its token limit before the call of %s was complete; that call did not run. Go on in smaller pieces.",
			strings.Join(r.stop.Broken, ", "))})
	case r.stop.Reason == llm.Length:
		es = append(es, Entry{Kind: EntryNotice, Text: "The answer was cut: it reached the model's token limit. Ask it to go on."})
	case r.stop.Reason == llm.Refusal:
		es = append(es, Entry{Kind: EntryNotice, Text: strings.TrimSpace("The model refused to answer. " + r.stop.Detail)})
	case !said:
		es = append(es, Entry{Kind: EntryNotice, Text: "The model answered nothing."})
	}
	return es
}

// finish ends the turn in one transaction, unless something became due
// meanwhile: then it returns false and the turn goes on. A result is deposited
// in the same transaction. A transaction that fails is tried again until it
// succeeds or the program closes: a task never ends without its message.
func (a *agent) finish(ctx context.Context, e ending) bool {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		done, err := a.tryFinish(context.WithoutCancel(ctx), e)
		if err == nil {
			return done
		}
		a.trouble(fmt.Errorf("can't record the end of the turn, trying again: %w", err))
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-a.p.ctx.Done():
			t.Stop()
			return true
		}
	}
}

func (a *agent) tryFinish(ctx context.Context, e ending) (bool, error) {
	done := false
	state := a.restState(e.outcome)
	err := a.p.o.DB.Write(ctx, "finish", func(tx *store.Tx) error {
		done = false
		if e.outcome == Completed {
			if due, err := a.dueNow(tx); due || err != nil {
				return err
			}
		}
		b := a.batch(tx, false)
		if _, err := b.add(a.turn, Entry{Kind: EntryEnded, End: &End{
			Outcome: e.outcome, Error: e.cause, Millis: a.p.o.Now().Sub(a.began).Milliseconds(), Steps: a.steps, Tokens: a.tokens,
		}}); err != nil {
			return err
		}
		if err := tx.EndTurn(a.turn, string(e.outcome), e.cause); err != nil {
			return err
		}
		if err := tx.SetAgentState(a.id, string(state), state.Terminal()); err != nil {
			return err
		}
		if a.task != 0 {
			if err := a.report(tx, e); err != nil {
				return err
			}
		}
		done = true
		return nil
	})
	if err != nil || !done {
		return false, err
	}
	a.setTurn(0)
	a.set(func(i *Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Retry = state, "", e.cause, e.outcome, nil
		if state.Terminal() {
			i.Ended = a.p.o.Now()
		}
	})
	return true, nil
}

// restState is where an agent stands after a turn: those with a prompt box rest,
// the others are through.
func (a *agent) restState(o Outcome) State {
	if a.kind.HasPrompt() {
		return Idle
	}
	switch o {
	case Completed:
		return Done
	case OutKilled, Interrupted:
		return Killed
	case OutCrashed:
		return Crashed
	}
	return Failed
}

// dueNow reports whether something waits that this turn should still absorb.
func (a *agent) dueNow(tx *store.Tx) (bool, error) {
	waiting, err := tx.WaitingPrompts(a.id)
	if err != nil {
		return false, err
	}
	for _, q := range waiting {
		if !q.Held {
			return true, nil
		}
	}
	if a.kind.HasPrompt() {
		return false, nil
	}
	return a.p.inbox.Any(tx, inbox.Query{Recipient: a.id, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}})
}
