package host

import (
	"context"
	"strconv"
	"time"

	"fantail/agents"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/ui/screen/wire"
)

// door returns what tasks and mail of another process come in through. A command of an agent is recognised by its
// parent processes: it comes in under that agent's name, and the host does not vouch for its requests.
func (h *Host) door(w Workspace, from Hello, ask wire.Fields) mail.Client {
	door := *w.Pool.Door
	if ask.Get(wire.Origin) == tasks.OriginMCP {
		door.Origin = tasks.OriginMCP
	}
	if from.command {
		door.Seals, door.Command = nil, commandOf(w.Pool, from.PID)
	}
	return door
}

// commandOf returns the agent's command that a process comes from; nil: it comes from none, or that is unknown.
func commandOf(p *agents.Pool, pid int) *mail.OutsideCommand {
	by, ok := p.Commands.Behind(pid)
	if !ok {
		return nil
	}
	for _, i := range p.Infos() {
		if i.ID == by.Agent {
			return &mail.OutsideCommand{Agent: i.Name, Turn: by.Turn}
		}
	}
	return nil
}

// errNoAgents is the answer to a request before the workspace is open.
const errNoAgents = "this host has no agents yet"

// push queues a task from another process.
func (h *Host) push(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	if !open {
		return wire.Fields{wire.Say + "=" + errNoAgents}
	}
	t := mail.OutsideOrder{
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

// mail puts the mail from another process into the inboxes.
func (h *Host) mail(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	if !open {
		return wire.Fields{wire.Say + "=" + errNoAgents}
	}
	door := h.door(w, from, ask)
	sent, err := door.Mail(context.Background(), mail.OutsideDeposit{
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
