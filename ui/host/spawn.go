package host

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/ui/screen/wire"
)

// beginsWithin is how long a process that spawns a task waits for its agent: the task may have to wait for others.
const beginsWithin = time.Second

// spawn starts a task for the human at a shell. It runs as if a screen had been there: its agent may ask, and the host
// stays for the answer.
func (h *Host) spawn(conn *net.UnixConn, from Hello, ask wire.Fields) {
	switch {
	case from.command:
		says(conn, wire.Answer, wire.Refused, "an agent's command spawns none; fantail push queues a task for the human to start")
		return
	case !h.enter():
		says(conn, wire.Answer, wire.Again, "yes")
		return
	}
	defer h.exit()
	h.mu.Lock()
	h.shown = true
	h.mu.Unlock()
	from.read(ask)
	prompt, err := hearPrompt(conn)
	if err != nil {
		return // the process is gone
	}
	t := tools.Task{Name: ask.Get(wire.Name), Model: ask.Get(wire.Model), Prompt: prompt, Start: true}
	if ms, err := strconv.ParseInt(ask.Get(wire.Awaits), 10, 64); err == nil {
		if t.Interactive, t.Idle = true, time.Duration(ms)*time.Millisecond; ms < 0 {
			t.Idle = tools.Forever
		}
	}
	reply, err := h.begin(from, t)
	if err != nil {
		reply = wire.Fields{wire.Refused + "=" + h.o.Guard.Text(err.Error())}
	}
	_ = replies(conn, reply)
}

// wake opens the workspace so that its schedules fire: the host stays while one is due within a day.
func (h *Host) wake(conn *net.UnixConn, from Hello, ask wire.Fields) {
	if !h.enter() {
		says(conn, wire.Answer, wire.Again, "yes")
		return
	}
	defer h.exit()
	from.read(ask)
	reply := wire.Fields{wire.Done + "=yes"}
	if !from.command { // otherwise it is open
		if _, _, err := h.workspace(context.Background(), from); err != nil {
			reply = wire.Fields{wire.Refused + "=" + h.o.Guard.Text(err.Error())}
		}
	}
	_ = replies(conn, reply)
}

// begin pushes and starts a task.
func (h *Host) begin(from Hello, t tools.Task) (wire.Fields, error) {
	ctx := context.Background()
	w, _, err := h.workspace(ctx, from)
	if err != nil {
		return nil, err
	}
	ctx, model, err := h.o.Spawns(ctx, w, from, t.Model)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(strings.TrimSpace(t.Prompt), "!") { // a command has none
		t.Model = model
	}
	feed, _ := w.Pool.Subscribe()
	defer feed.Close()
	row, err := w.Pool.Tasks.Push(ctx, mainOf(w.Pool), t)
	if err != nil {
		return nil, err
	}
	return spawned(row, begun(feed, row.ID)), nil
}

// begun waits a moment for the agent of a task, and returns its id; 0: the task waits for its turn.
func begun(feed *event.Feed, task int64) (agent int64) {
	late := time.NewTimer(beginsWithin)
	defer late.Stop()
	for {
		for _, e := range feed.Take() {
			if c, is := e.(event.Changed); is && c.Task == task {
				return c.ID
			}
		}
		select {
		case <-feed.Wait():
		case <-late.C:
			return 0
		}
	}
}

// spawned returns the fields of a started task.
func spawned(t tasks.Task, agent int64) (f wire.Fields) {
	f.Add(wire.Name, t.Name)
	f.Add(wire.Task, strconv.FormatInt(t.ID, 10))
	f.Add(wire.ID, strconv.FormatInt(agent, 10))
	return f
}
