package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
)

const (
	firstListTimeout = 5 * time.Second // wait for servers whose tools are unknown
	maxInput         = 4 << 10         // bytes of a call's arguments shown in a question
	maxWhy           = 300             // bytes of the reason why a server is missing
)

var _ tools.Lender = (*Servers)(nil)

// parser parses a call of a lent tool.
type parser = func(env *tools.Runtime, callID string, args json.RawMessage) (*tools.Call, error)

// Lend returns the tools of all servers, in the order of the configuration. A known server need not
// run for that, because its tools are recorded. For an unknown one Lend waits a moment, once.
func (r *Servers) Lend(ctx context.Context) []tools.Lent {
	if r == nil {
		return nil
	}
	var wait []chan struct{}
	links := r.sync()
	for _, l := range links {
		if l.checkAllowed() == nil {
			if begun := l.startFirst(); begun != nil {
				wait = append(wait, begun)
			}
		}
	}
	if len(wait) > 0 {
		r.notifyChanged()
		late := time.NewTimer(firstListTimeout)
		defer late.Stop()
	waiting:
		for _, begun := range wait {
			select {
			case <-begun:
			case <-late.C:
				break waiting
			case <-ctx.Done():
				break waiting
			}
		}
	}
	r.mu.Lock()
	r.missed, r.lentAt = nil, r.o.Now()
	for _, l := range links {
		if k := r.records[l.server.Name]; k == nil || k.Fingerprint != l.fingerprint {
			r.missed = append(r.missed, l)
		}
	}
	r.mu.Unlock()
	return r.lentTools(links)
}

// Missed names the servers whose tools were missing when the last turn began, if that was not
// before since, with their state.
func (r *Servers) Missed(since time.Time) (all []string) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	missed := r.missed
	if r.lentAt.Before(since) {
		missed = nil
	}
	r.mu.Unlock()
	for _, l := range missed {
		is := l.state()
		why := strings.TrimPrefix(is.Says, "the MCP server "+is.Name+" does not start: ")
		switch {
		case is.Phase == Blocked:
		case is.Phase == Ready, is.Phase == Starting:
			why = "it had not started yet"
		case why == "":
			why = string(is.Phase)
		default:
			why = string(is.Phase) + ": " + why
		}
		all = append(all, is.Name+" ("+files.ShortText(why, maxWhy)+")")
	}
	return all
}

// startFirst starts a server whose tools are unknown. It returns nil if there is nothing to wait
// for.
func (l *managedServer) startFirst() chan struct{} {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	k, now := l.servers.records[l.server.Name], l.servers.o.Now()
	if l.servers.closed || l.running != nil || k != nil && k.Fingerprint == l.fingerprint {
		return nil
	}
	if l.firstAsked.IsZero() {
		l.firstAsked = now
	}
	begun := l.starting
	if begun == nil && !l.nextStart.After(now) {
		begun = l.start()
	}
	if now.Sub(l.firstAsked) > firstListTimeout { // no turn waits for it again; it may come later
		return nil
	}
	return begun
}

// lentTools returns the tools of these servers. It rebuilds the list only after a change.
func (r *Servers) lentTools(links []*managedServer) []tools.Lent {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := fmt.Appendf(nil, "%d", r.version)
	for _, l := range links {
		of = fmt.Appendf(of, " %s %s %v %v", l.server.Name, l.fingerprint, l.phase == Blocked, l.loginFault != nil)
	}
	if r.lentCache != nil && bytes.Equal(of, r.lentCacheKey) {
		return r.lentCache
	}
	all, taken := make([]tools.Lent, 0, 16), map[string]bool{}
	for _, l := range links {
		k := r.records[l.server.Name]
		unknown := k == nil || k.Fingerprint != l.fingerprint
		if l.phase == Blocked || unknown && (l.loginFault == nil || r.o.Logins == nil) {
			continue
		}
		lends := []lentTool{l.logInTool()}
		if !unknown {
			lends = l.lentTools(k)
		}
		for n, name := range toolNames(l.server, ownNames(lends)) {
			d := lends[n].toolDescription
			spec := tools.Spec{Name: name, Description: d.Description, Schema: d.Schema, ReadOnly: d.ReadOnly && l.server.Honest}
			if t := (tools.Lent{Spec: spec, From: l.server.Name, Own: d.Name}); !taken[name] {
				taken[name] = true
				t.Parse = lends[n].parse(t)
				all = append(all, t)
			}
		}
	}
	r.lentCache, r.lentCacheKey = all, of
	return all
}

// lentTool is a tool of a server, or one about the server itself.
type lentTool struct {
	toolDescription
	parse func(t tools.Lent) parser
}

// lentTools returns the tools of a known server. The caller holds the mutex of Servers.
func (l *managedServer) lentTools(k *serverRecord) (all []lentTool) {
	for _, e := range k.Tools {
		if !e.Removed {
			all = append(all, lentTool{e.effective(), func(t tools.Lent) parser {
				return func(env *tools.Runtime, id string, args json.RawMessage) (*tools.Call, error) {
					return l.parseToolCall(env, id, t, e, args), nil
				}
			}})
		}
	}
	if k.Resources {
		all = append(all, lentTool{resourceDescription(l.server.Word()), func(t tools.Lent) parser {
			return func(env *tools.Runtime, id string, args json.RawMessage) (*tools.Call, error) {
				return l.parseReadResource(env, id, t, args)
			}
		}})
	}
	return all
}

// logInTool returns the tool that replaces the unknown tools of a server before a login.
func (l *managedServer) logInTool() lentTool {
	return lentTool{logInDescription(l.server.Name), func(t tools.Lent) parser {
		return func(env *tools.Runtime, id string, _ json.RawMessage) (*tools.Call, error) {
			return l.parseLogIn(env, id, t.Name), nil
		}
	}}
}

// ownNames returns the server's own names of these tools.
func ownNames(lends []lentTool) (all []string) {
	for _, one := range lends {
		all = append(all, one.Name)
	}
	return all
}

// toolAction returns the call of a tool as rules judge it.
func toolAction(t tools.Lent, env *tools.Runtime, args json.RawMessage) permission.Action {
	return permission.Action{Tool: t.Name, Server: t.From, Calls: t.Own, Kind: permission.Foreign, Dir: env.Root, Input: inputText(args)}
}

// Names returns the names of the known tools in all spellings that rules may use.
func (r *Servers) Names() (all []string) {
	if r == nil {
		return nil
	}
	for _, t := range r.lentTools(r.sync()) {
		all = append(all, t.Name)
		all = append(all, permission.ToolSpellings(t.From, t.Own)...)
	}
	return all
}

// Borrow returns the tool with that name for models.
func (r *Servers) Borrow(name string) (tools.Lent, bool) {
	if r == nil {
		return tools.Lent{}, false
	}
	for _, t := range r.lentTools(r.sync()) {
		if t.Name == name {
			return t, true
		}
	}
	return tools.Lent{}, false
}

// parseToolCall returns a call of a tool.
func (l *managedServer) parseToolCall(env *tools.Runtime, id string, t tools.Lent, e toolRecord, args json.RawMessage) *tools.Call {
	a := toolAction(t, env, args)
	beside := "" // not parallel to other calls
	if a.Reads = e.Current.ReadOnly && l.server.Honest; a.Reads {
		beside = "read"
	}
	if e.Agreed != nil {
		a.Reads, beside = false, ""
		a.Sensitive = "what the MCP server " + l.server.Name + " says of " + e.Current.Name + " has changed since you agreed to it"
		a.Guarded, a.Diff = true, e.diff()
	}
	return &tools.Call{Action: a, Beside: beside, Run: func(ctx context.Context) tools.Result {
		if e.Agreed != nil { // the human has approved this call
			l.servers.acceptDescription(l.server.Name, e.Current)
		}
		return l.callTool(ctx, env, id, e.Current, args)
	}}
}

// inputText returns a call's arguments for people.
func inputText(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return ""
	}
	text := plainText(b.String())
	if len(text) > maxInput {
		text = strings.ToValidUTF8(text[:maxInput], "") + "\n… and more"
	}
	return text
}
