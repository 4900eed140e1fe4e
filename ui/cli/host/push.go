package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
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
	var agent, turn int64
	ok := false
	for ; pid > 1 && pid != os.Getpid() && !ok; pid = parent(pid) {
		if group, err := syscall.Getpgid(pid); err == nil {
			agent, turn, ok = p.Commands.Of(group)
		}
	}
	if !ok {
		return nil
	}
	for _, i := range p.Infos() {
		if i.ID == agent {
			return &outside.Command{Agent: i.Name, Turn: turn}
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

// ErrLost is returned if the host was asked and did not answer: what it was given may be on disk.
var ErrLost = errors.New("the host ended before it answered")

// Push has the host that listens on that socket queue a task, and returns its id; the task is on disk then. origin is
// the door's. The error is [ErrNoHost] if there is none that can, and nothing is queued.
func Push(ctx context.Context, socket, origin string, t outside.Order) (task int64, err error) {
	f := wire.Fields{wire.Do + "=" + wire.Push}
	f.Add(wire.Origin, origin)
	f.Add(wire.Name, t.Name)
	f.Add(wire.Prompt, t.Prompt)
	f.Add(wire.Model, t.Model)
	f.Add(wire.Timeout, strconv.FormatInt(t.Timeout.Milliseconds(), 10))
	f.Add(wire.Budget, t.Budget)
	for _, name := range t.After {
		f.Add(wire.After, name)
	}
	reply, err := hand(ctx, socket, f)
	if errors.Is(err, ErrLost) {
		err = fmt.Errorf("%w: fantail queue shows whether the task is queued", err)
	}
	if err != nil {
		return 0, err
	}
	if task, err = strconv.ParseInt(reply.Get(wire.Task), 10, 64); err != nil {
		return 0, ErrNoHost // an older one, or one that has no agents yet
	}
	return task, nil
}

// Mail has the host that listens on that socket send mail; it is on disk then. origin is the door's. The error is
// [ErrNoHost] if there is none that can, and nothing is sent.
func Mail(ctx context.Context, socket, origin string, m outside.Deposit) (sent []outside.Receipt, err error) {
	f := wire.Fields{wire.Do + "=" + wire.Send}
	f.Add(wire.Origin, origin)
	f.Add(wire.Body, m.Body)
	f.Add(wire.Priority, string(m.Priority))
	f.Add(wire.Key, m.Key)
	for _, name := range m.To {
		f.Add(wire.To, name)
	}
	for _, tag := range m.Tags {
		f.Add(wire.Tag, tag)
	}
	reply, err := hand(ctx, socket, f)
	if errors.Is(err, ErrLost) {
		err = fmt.Errorf("%w: fantail inbox shows whether the message is there", err)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range reply.All(wire.Sent) {
		n, name, _ := strings.Cut(s, " ")
		id, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the host sent the mail and says %q of it", s)
		}
		sent = append(sent, outside.Receipt{ID: id, To: name})
	}
	if sent == nil {
		return nil, ErrNoHost // an older one, or one that has no agents yet
	}
	return sent, nil
}

// hand asks the host to take something. The error is ErrNoHost if it was not asked.
func hand(ctx context.Context, socket string, f wire.Fields) (wire.Fields, error) {
	body := f.Bytes()
	if len(body) > wire.MaxHello || bytes.Count(body, []byte("\x00")) >= len(f) {
		return nil, ErrNoHost // it does not go through the socket
	}
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reply, err := asks(ctx, conn, f)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrLost, err)
	}
	if why := reply.Get(wire.Refused); why != "" {
		return nil, errors.New(why)
	}
	return reply, nil
}
