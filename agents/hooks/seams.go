package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/trust"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// idle reports whether there is nothing that could run.
func (r *Room) idle() bool { return r == nil || !r.begun }

// Again judges a call anew with other arguments, as if the model had said it with them.
type Again func(args json.RawMessage) (permit.Action, permit.Verdict, error)

// Before asks the hooks about a call that the gate has decided on. They make that stricter; a user's own may also change
// its arguments, which are judged anew, and answer what would merely ask.
func (r *Room) Before(ctx context.Context, who Who, c history.Call, act permit.Action, v permit.Verdict, again Again) permit.Verdict {
	if r.idle() || v.Decision == permit.Deny {
		return v
	}
	a, args := r.beforeCall(ctx, who, c, Answer{Final: again == nil})
	if args != nil && a.Deny == "" {
		var err error
		if act, v, err = again(args); err != nil {
			a.notUnderstood(err)
		} else {
			a.Context = append(a.Context, "A hook changed the arguments of this call. It was carried out with "+short(string(args)))
		}
	}
	if v.Decision == permit.Deny {
		return v
	}
	if len(a.Context) > 0 {
		r.mu.Lock()
		if len(r.after) > 1000 {
			clear(r.after)
		}
		r.after[callKey(who, c)] = strings.Join(a.Context, "\n")
		r.mu.Unlock()
	}
	merely := !act.Strict && !act.Guarded && act.Sensitive == "" && v.Secret == "" && v.Vendor == "" && !v.Asked && !v.Guarded && act.Kind != permit.Tamper
	switch {
	case a.Deny != "":
		v.Decision, v.Reason = permit.Deny, a.Deny
	case a.Ask != "" && v.Decision == permit.Allow:
		v.Decision, v.Reason, v.Rule, v.Changed = permit.AskHuman, "needs a yes: "+a.Ask, "", a.Ask
	case a.Ask == "" && a.Allow != "" && v.Decision == permit.AskHuman && merely:
		v.Decision, v.Reason = permit.Allow, "allowed: "+a.Allow
	}
	return v
}

// beforeCall asks the hooks about a call, each about the arguments as those before it left them. Those that were asked
// before the last change are asked once more, about what is to run. It returns the arguments too; nil: they are as they were.
func (r *Room) beforeCall(ctx context.Context, who Who, c history.Call, a Answer) (Answer, json.RawMessage) {
	names := toolNames(c.Name)
	var args json.RawMessage
	ask := func(h Hook) {
		r.ask(ctx, &a, h, who, map[string]any{"tool_name": names[0], "tool_input": toolInput(r.o.Root, c.Name, c.Args), "tool_use_id": c.ID})
	}
	hooks := r.wanted(who, PreToolUse, names...)
	knew := 0 // how many of them were asked before the last change
	for n, h := range hooks {
		if ask(h); ctx.Err() != nil {
			return a, nil
		}
		if a.Input == nil || a.Deny != "" {
			continue
		}
		changed, err := ourArgs(c.Name, a.Input)
		if err != nil {
			a.notUnderstood(err)
			continue
		}
		c.Args, args, knew, a.Input = changed, changed, n, nil
	}
	a.Final = true
	for _, h := range hooks[:knew] {
		if a.Deny != "" || ctx.Err() != nil {
			break
		}
		ask(h)
	}
	r.heed(who, PreToolUse, a)
	return a, args
}

func callKey(who Who, c history.Call) string { return fmt.Sprintf("%d %s", who.ID, c.ID) }

// After tells the hooks of a call that ran, and returns its result with what they say to the model.
func (r *Room) After(ctx context.Context, who Who, c history.Call, res tools.Result) tools.Result {
	if r.idle() {
		return res
	}
	r.mu.Lock()
	said := r.after[callKey(who, c)]
	delete(r.after, callKey(who, c))
	r.mu.Unlock()
	names := toolNames(c.Name)
	response := map[string]any{"stdout": res.Text, "success": !res.Error, "diff": res.Diff}
	if res.Exit != nil {
		response["exit_code"] = *res.Exit
	}
	a := r.fire(ctx, who, PostToolUse, map[string]any{
		"tool_name": names[0], "tool_input": toolInput(r.o.Root, c.Name, c.Args), "tool_use_id": c.ID, "tool_response": response,
	}, names...)
	all := append([]string{said, a.Deny}, a.Context...)
	for _, text := range all {
		if text != "" && res.Entry == 0 {
			res.Text = strings.TrimRight(res.Text, "\n") + "\n[" + text + "]"
		}
	}
	return res
}

// Passed are prompts that may enter; nil lets all.
type Passed map[int64]bool

// Only returns those of the prompts that may enter.
func (p Passed) Only(all []store.Prompt) (some []store.Prompt) {
	if p == nil {
		return all
	}
	for _, q := range all {
		if p[q.ID] {
			some = append(some, q)
		}
	}
	return some
}

// Screen asks the hooks about the prompts that wait for an agent the human talks to. One that is refused is taken back,
// and the human is told. What came too late to be asked about waits for the next seam.
func (r *Room) Screen(ctx context.Context, who Who) Passed {
	if r.idle() || !who.Kind.HasPrompt() || abroad(who) || len(r.wanted(who, UserPromptSubmit)) == 0 {
		return nil
	}
	passed := Passed{}
	for _, q := range who.Prompts {
		if q.Held || q.Then {
			continue
		}
		r.mu.Lock()
		known := r.passed[q.ID]
		r.mu.Unlock()
		if known || r.admits(ctx, who, q.ID, q.Text) {
			passed[q.ID] = true
		}
	}
	return passed
}

// admits asks about one prompt.
func (r *Room) admits(ctx context.Context, who Who, id int64, text string) bool {
	a := r.fire(ctx, who, UserPromptSubmit, map[string]any{"prompt": text})
	if ctx.Err() != nil {
		return false
	}
	if a.Deny != "" {
		if taken, err := r.o.Take(ctx, id); err != nil || !taken {
			return err == nil // it has entered, or was taken back by its human; on an error it waits
		}
		r.append(ctx, who.ID, 0, history.EntryNotice, "Your prompt did not enter: "+a.Deny+"\n\nIt was:\n"+text)
		return false
	}
	for _, c := range a.Context {
		r.append(ctx, who.ID, who.Turn, history.EntryHost, "A hook adds to what the user types:\n"+c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.passed) > 1000 {
		clear(r.passed)
	}
	r.passed[id] = true
	return true
}

func abroad(who Who) bool {
	_, is := who.Abroad()
	return is
}

// Begins tells the hooks that a turn has begun, once, and before the first of an agent that the human talks to that its
// session has. It reports whether something was added to the conversation.
func (r *Room) Begins(ctx context.Context, who Who) (added bool) {
	if r.idle() || who.Turn == 0 {
		return false
	}
	r.mu.Lock()
	begun, met, cleared := r.turns[who.ID] == who.Turn, r.met[who.ID], r.cleared[who.ID]
	if !begun {
		delete(r.cleared, who.ID)
	}
	r.turns[who.ID], r.met[who.ID] = who.Turn, true
	r.mu.Unlock()
	if begun {
		return false
	}
	var say []string
	if !met && who.Kind.HasPrompt() {
		if who.Unattended {
			r.untrusted(who)
		}
		source := "startup"
		switch {
		case cleared:
			source = "clear"
		case who.Steps > 0:
			source = "resume"
		}
		say = r.fire(ctx, who, SessionStart, map[string]any{"source": source, "model": who.Model}, source).Context
	}
	say = append(say, r.fire(ctx, who, TurnStarted, map[string]any{"model": who.Model, "task": who.Task}, string(who.Kind), who.Name).Context...)
	if abroad(who) {
		return false
	}
	for _, text := range say {
		r.append(ctx, who.ID, who.Turn, history.EntryHost, "A hook says at the beginning:\n"+text)
	}
	return len(say) > 0
}

// Cleared notes that an agent's conversation begins anew: so does its session.
func (r *Room) Cleared(agent int64) {
	if r.idle() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleared[agent] = r.met[agent]
	delete(r.met, agent)
}

// Halted says why a hook wants the agent's turn stopped; "": none does. It says so once.
func (r *Room) Halted(who Who) string {
	if r.idle() {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.halts[who.ID]
	delete(r.halts, who.ID)
	if h.turn != who.Turn {
		return ""
	}
	return h.why
}

// untrusted tells where nobody is at a screen that something does not run.
func (r *Room) untrusted(who Who) {
	if text := trust.Brief(r.o.Trust.Review()); text != "" {
		r.append(context.Background(), who.ID, 0, history.EntryNotice, text)
	}
}

// Holds asks the hooks whether a turn that is about to end by itself goes on, and tells its agent why. It does so three
// times in a turn at most.
func (r *Room) Holds(ctx context.Context, who Who) bool {
	if r.idle() || abroad(who) {
		return false
	}
	e := Stop
	if !who.Kind.HasPrompt() {
		e = SubagentStop
	}
	r.mu.Lock()
	f := r.forced[who.ID]
	r.mu.Unlock()
	if f.turn != who.Turn {
		f = forced{turn: who.Turn}
	}
	a := r.fire(ctx, who, e, map[string]any{"stop_hook_active": f.n > 0, "forced": f.n}, string(who.Kind), who.Name)
	if a.Deny == "" || a.Lets || ctx.Err() != nil {
		return false
	}
	if f.n >= MostForced {
		r.append(ctx, who.ID, who.Turn, history.EntryNotice, fmt.Sprintf("Hooks kept this turn from ending %d times, which is the most: it ends, though %s.", f.n, a.Deny))
		return false
	}
	f.n++
	r.mu.Lock()
	r.forced[who.ID] = f
	r.mu.Unlock()
	r.append(ctx, who.ID, who.Turn, history.EntryHost, "Your turn does not end yet: "+a.Deny)
	return true
}

// Why a conversation is compacted.
const (
	Manual = "manual"
	Auto   = "auto"
)

// Compacts asks the hooks about a conversation that is about to be summarised; the error says why it is not.
func (r *Room) Compacts(ctx context.Context, who Who, trigger, hint string) error {
	if r.idle() {
		return nil
	}
	a := r.fire(ctx, who, PreCompact, map[string]any{"trigger": trigger, "custom_instructions": hint}, trigger)
	if a.Deny != "" {
		return errors.New(a.Deny)
	}
	return nil
}
