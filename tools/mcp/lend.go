package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fantail/tools"
	"fantail/tools/permit"
)

const (
	mostName  = 64              // letters of a tool's name that every model takes
	firstList = 5 * time.Second // what a turn waits for servers that were never asked
	mostInput = 4 << 10         // bytes of a call's arguments that a question shows
)

var _ tools.Lender = (*Room)(nil)

// parser parses a call of a tool that is lent.
type parser = func(env *tools.Env, callID string, args json.RawMessage) (*tools.Call, error)

// Lend returns the tools of all servers, in the order of the configuration. One that was asked before need not run for
// that: what it said is kept. For those that were never asked it waits a moment, once.
func (r *Room) Lend(ctx context.Context) []tools.Lent {
	if r == nil {
		return nil
	}
	var wait []chan struct{}
	links := r.sync()
	for _, l := range links {
		if l.allowed() == nil {
			if begun := l.first(); begun != nil {
				wait = append(wait, begun)
			}
		}
	}
	if len(wait) > 0 {
		r.changed()
		late := time.NewTimer(firstList)
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
	return r.offers(links)
}

// first begins the start of a server that was never asked for its tools; nil: nobody need wait.
func (l *link) first() chan struct{} {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	k, now := l.r.kept[l.server.Name], l.r.o.Now()
	if l.r.closed || l.live != nil || k != nil && k.Mark == l.mark {
		return nil
	}
	if l.asked.IsZero() {
		l.asked = now
	}
	begun := l.begun
	if begun == nil && !l.next.After(now) {
		begun = l.begin()
	}
	if now.Sub(l.asked) > firstList { // it may come later; no turn waits for it again
		return nil
	}
	return begun
}

// offers are the tools of these servers. They are made anew only where something changed.
func (r *Room) offers(links []*link) []tools.Lent {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := fmt.Appendf(nil, "%d", r.version)
	for _, l := range links {
		of = fmt.Appendf(of, " %s %s %v %v", l.server.Name, l.mark, l.phase == Withheld, l.lock != nil)
	}
	if r.made != nil && bytes.Equal(of, r.madeOf) {
		return r.made
	}
	all, taken := make([]tools.Lent, 0, 16), map[string]bool{}
	for _, l := range links {
		k := r.kept[l.server.Name]
		unknown := k == nil || k.Mark != l.mark
		if l.phase == Withheld || unknown && (l.lock == nil || r.o.Logins == nil) {
			continue
		}
		lend := func(d described, parse func(name string) parser) {
			name := toolName(l.server.Name, d.Name)
			for n := 2; taken[name]; n++ {
				name = toolName(l.server.Name, fmt.Sprintf("%s_%d", d.Name, n))
			}
			taken[name] = true
			spec := tools.Spec{Name: name, Description: d.About, Schema: d.Schema, ReadOnly: d.Reads && l.server.Honest}
			all = append(all, tools.Lent{Spec: spec, From: l.server.Name, Parse: parse(name)})
		}
		if unknown {
			lend(logIn(l.server.Name), func(name string) parser {
				return func(env *tools.Env, id string, _ json.RawMessage) (*tools.Call, error) {
					return l.parseLogIn(env, id, name), nil
				}
			})
			continue
		}
		for _, e := range k.Tools {
			if e.Gone {
				continue
			}
			lend(e.holds(), func(name string) parser {
				return func(env *tools.Env, id string, args json.RawMessage) (*tools.Call, error) {
					return l.parse(env, id, name, e, args), nil
				}
			})
		}
		if k.Resources {
			lend(resources(l.server.Name), func(name string) parser {
				return func(env *tools.Env, id string, args json.RawMessage) (*tools.Call, error) {
					return l.parseResource(env, id, name, args)
				}
			})
		}
	}
	r.made, r.madeOf = all, of
	return all
}

// Names are the names of the tools that are known.
func (r *Room) Names() (all []string) {
	if r == nil {
		return nil
	}
	for _, t := range r.offers(r.sync()) {
		all = append(all, t.Name)
	}
	return all
}

// Borrow finds a tool by the name under which it is lent.
func (r *Room) Borrow(name string) (tools.Lent, bool) {
	if r == nil {
		return tools.Lent{}, false
	}
	for _, t := range r.offers(r.sync()) {
		if t.Name == name {
			return t, true
		}
	}
	return tools.Lent{}, false
}

// parse is a call of a tool.
func (l *link) parse(env *tools.Env, id, name string, e entry, args json.RawMessage) *tools.Call {
	a := permit.Action{Tool: name, Kind: permit.Foreign, Dir: env.Root, Input: input(args)}
	beside := "" // alone
	if a.Reads = e.Is.Reads && l.server.Honest; a.Reads {
		beside = "read"
	}
	if e.Was != nil {
		a.Reads, beside = false, ""
		a.Sensitive = "what the MCP server " + l.server.Name + " says of " + e.Is.Name + " has changed since you agreed to it"
		a.Guarded, a.Diff = true, e.diff()
	}
	return &tools.Call{Action: a, Beside: beside, Run: func(ctx context.Context) tools.Result {
		if e.Was != nil { // the gate let nobody run this but by a human's word
			l.r.agree(l.server.Name, e.Is)
		}
		return l.call(ctx, env, id, e.Is, args)
	}}
}

// input is a call's arguments as people read them.
func input(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return ""
	}
	text := plain(b.String())
	if len(text) > mostInput {
		text = strings.ToValidUTF8(text[:mostInput], "") + "\n… and more"
	}
	return text
}

// toolName is the name under which a server's tool is lent: letters that every model's server takes, and not too many.
// The server's own name is of such, as it was read. A name that would have to be cut gets a sum of the whole in the place
// of its end.
func toolName(server, tool string) string {
	clean := strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, tool)
	name := tools.LentName + server + "__" + clean
	if len(name) <= mostName {
		return name
	}
	sumOf := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:4])
	}
	sum := sumOf(server + "\x00" + tool)
	if room := mostName - len(tools.LentName) - 2 - len(sum) - 8; len(server) > room { // not to be taken for one that is called what is left
		server = server[:room-len(sum)-1] + "-" + sumOf(server)
	}
	name = tools.LentName + server + "__" + clean
	return name[:min(len(name), mostName-len(sum)-1)] + "_" + sum
}
