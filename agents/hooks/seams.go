package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// idle reports whether there is nothing that could run.
func (r *Runner) idle() bool { return r == nil || !r.begun }

// Again judges a call again with other arguments, as if the model had made it with them.
type Again func(args json.RawMessage) (permission.Action, permission.Verdict, error)

// Before asks the hooks about a call that the gate has decided on. They can make the decision stricter. A hook of the
// user's own can also change the arguments, which are then judged again, and can answer a plain question with yes.
func (r *Runner) Before(ctx context.Context, who Who, c history.Call, act permission.Action, v permission.Verdict, again Again) permission.Verdict {
	if r.idle() || v.Decision == permission.Deny {
		return v
	}
	a, args := r.beforeCall(ctx, who, c, act.Spellings(), Answer{Final: again == nil})
	if args != nil && a.Deny == "" {
		var err error
		if act, v, err = again(args); err != nil {
			a.notUnderstood(err)
		} else {
			a.Context = append(a.Context, "A hook changed the arguments of this call. It was carried out with "+short(string(args)))
		}
	}
	if v.Decision == permission.Deny {
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
	merely := !act.Strict && !act.Guarded && act.Sensitive == "" && v.Secret == "" && v.Vendor == "" && !v.Asked && !v.Guarded && act.Kind != permission.Tamper
	switch {
	case a.Deny != "":
		v.Decision, v.Reason = permission.Deny, a.Deny
	case a.Ask != "" && v.Decision == permission.Allow:
		v.Decision, v.Reason, v.Rule, v.Changed = permission.AskHuman, "needs a yes: "+a.Ask, "", a.Ask
	case a.Ask == "" && a.Allow != "" && v.Decision == permission.AskHuman && merely:
		v.Decision, v.Reason = permission.Allow, "allowed: "+a.Allow
	}
	return v
}

// beforeCall asks the hooks about a call; each sees the arguments as the hooks before it left them. Hooks that ran
// before the last change are asked again, about the final arguments, which beforeCall returns; nil: unchanged. Hooks
// also get the tool by its other spellings, but their allow under one of those does not count: it may be meant for
// another tool.
func (r *Runner) beforeCall(ctx context.Context, who Who, c history.Call, spellings []string, a Answer) (Answer, json.RawMessage) {
	names := toolNames(c.Name)
	var args json.RawMessage
	ask := func(h Hook) {
		allow := a.Allow
		r.ask(ctx, &a, h, who, map[string]any{"tool_name": names[0], "tool_input": toolInput(r.o.Root, c.Name, c.Args), "tool_use_id": c.ID})
		if !h.matches(names...) {
			a.Allow = allow
		}
	}
	hooks := r.wanted(who, PreToolUse, append(spellings, names...)...)
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

// After tells the hooks of a call that ran, and returns its result with their text for the model.
func (r *Runner) After(ctx context.Context, who Who, c history.Call, res tools.Result) tools.Result {
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

// Passed are prompts that may enter; nil lets all enter.
type Passed map[int64]bool

// Has reports whether a prompt may enter.
func (p Passed) Has(prompt int64) bool { return p == nil || p[prompt] }

// Only returns those of the prompts that may enter.
func (p Passed) Only(all []store.Prompt) (some []store.Prompt) {
	if p == nil {
		return all
	}
	for _, q := range all {
		if p.Has(q.ID) {
			some = append(some, q)
		}
	}
	return some
}

// Screen asks the hooks about the prompts that wait for an agent the human talks to. A refused one is withdrawn, and
// the human is told. A prompt that came too late to be asked about waits for the next seam.
func (r *Runner) Screen(ctx context.Context, who Who) Passed {
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
func (r *Runner) admits(ctx context.Context, who Who, id int64, text string) bool {
	a := r.fire(ctx, who, UserPromptSubmit, map[string]any{"prompt": text})
	if ctx.Err() != nil {
		return false
	}
	if a.Deny != "" {
		if taken, err := r.o.Take(ctx, id); err != nil || !taken {
			return err == nil // it has entered, or its human withdrew it; on an error it waits
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

// Begins tells the hooks once that a turn has begun, and before that, for an agent the human talks to, that a session
// has. It reports whether something was added to the conversation.
func (r *Runner) Begins(ctx context.Context, who Who) (added bool) {
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

// Cleared notes that an agent's conversation starts over: its next turn begins a new session.
func (r *Runner) Cleared(agent int64) {
	if r.idle() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleared[agent] = r.met[agent]
	delete(r.met, agent)
}

// Halted says why a hook wants the agent's turn stopped; "": none does. It says so once.
func (r *Runner) Halted(who Who) string {
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

// untrusted adds a notice that something does not run, for a workspace without a screen.
func (r *Runner) untrusted(who Who) {
	if text := BriefReviews(r.o.Trust.Review()); text != "" {
		r.append(context.Background(), who.ID, 0, history.EntryNotice, text)
	}
}

// Holds asks the hooks whether a turn that is about to end by itself goes on, and tells its agent why. It lets that
// happen at most [MaxForced] times in a turn.
func (r *Runner) Holds(ctx context.Context, who Who) bool {
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
	if f.n >= MaxForced {
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

// Compacts asks the hooks about a conversation that is about to be summarised; the error says why it must not be.
func (r *Runner) Compacts(ctx context.Context, who Who, trigger, hint string) error {
	if r.idle() {
		return nil
	}
	a := r.fire(ctx, who, PreCompact, map[string]any{"trigger": trigger, "custom_instructions": hint}, trigger)
	if a.Deny != "" {
		return errors.New(a.Deny)
	}
	return nil
}
