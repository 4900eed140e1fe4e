package host

import (
	"context"
	"strconv"
	"time"

	"fantail/agents"
	"fantail/agents/outside"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/ui/screen/wire"
)

// door is where what a process beside the host hands in comes through. An agent's own command is told from the human's
// by who started it: it comes in under that agent's name, and the host does not vouch for what it wants.
func (h *Host) door(w Workspace, from Hello, ask wire.Fields) outside.Door {
	door := *w.Pool.Door
	if ask.Get(wire.Origin) == roster.OriginMCP {
		door.Origin = roster.OriginMCP
	}
	if descends(from.PID) {
		door.Seals, door.Command = nil, commandOf(w.Pool, from.PID)
	}
	return door
}

// commandOf is the agent's command that a process comes from; nil: it can't be told, or none of an agent's.
func commandOf(p *agents.Pool, pid int) *outside.Command {
	by, ok := p.Commands.Behind(pid)
	if !ok {
		return nil
	}
	for _, i := range p.Infos() {
		if i.ID == by.Agent {
			return &outside.Command{Agent: i.Name, Turn: by.Turn}
		}
	}
	return nil
}

// errNoAgents is told who hands something in before there is a workspace.
const errNoAgents = "this host has no agents yet"

// push queues the task that a process beside the host hands in.
func (h *Host) push(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	if !open {
		return wire.Fields{wire.Say + "=" + errNoAgents}
	}
	t := outside.Order{
		Name: ask.Get(wire.Name), Prompt: ask.Get(wire.Prompt), Model: ask.Get(wire.Model), Budget: ask.Get(wire.Budget), After: ask.All(wire.After),
	}
	if ms, err := strconv.ParseInt(ask.Get(wire.Timeout), 10, 64); err == nil && ms > 0 {
		t.Timeout = time.Duration(ms) * time.Millisecond
	}
	door := h.door(w, from, ask)
	row, err := door.Push(context.Background(), t)
	if err != nil {
		reply.Add(wire.Refused, err.Error())
		return reply
	}
	reply.Add(wire.Task, strconv.FormatInt(row.ID, 10))
	return reply
}

// mail puts the mail that a process beside the host hands in into the inboxes.
func (h *Host) mail(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	if !open {
		return wire.Fields{wire.Say + "=" + errNoAgents}
	}
	door := h.door(w, from, ask)
	sent, err := door.Mail(context.Background(), outside.Deposit{
		To: ask.All(wire.To), Body: ask.Get(wire.Body), Priority: inbox.Priority(ask.Get(wire.Priority)), Tags: ask.All(wire.Tag), Key: ask.Get(wire.Key),
	})
	if err != nil {
		reply.Add(wire.Refused, err.Error())
		return reply
	}
	for _, s := range sent {
		reply.Add(wire.Sent, strconv.FormatInt(s.ID, 10)+" "+s.To)
	}
	return reply
}
