package errand

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"

	"fantail/tools"
	"fantail/ui/cli/host"
	"fantail/ui/cli/shell"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// runSpawn is fantail agents spawn: it starts a task, as the human does who types /push and /run.
func runSpawn(e *Errand, c *caller) (int, error) {
	o := &e.o
	switch {
	case len(e.words) > 1:
		return shell.Usage, shell.Misused("agents spawn: %q is not understood; the task stands behind --prompt, in quotes", e.words[1])
	case o.prompt == "":
		return shell.Usage, shell.Misused("agents spawn needs --prompt TEXT, or --prompt - to read standard input")
	case o.idle != "" && !o.interactive:
		return shell.Usage, shell.Misused("--idle goes with --interactive: how long the agent awaits input")
	}
	t := tools.Task{Name: o.label, Model: o.model, Interactive: o.interactive}
	switch {
	case o.idle == "0":
		t.Idle = tools.Forever
	case o.idle != "":
		d, err := lasting(o.idle)
		if err != nil {
			return shell.Usage, shell.Misused("--idle %s is no time (300, 90s, 5m; 0 is for ever)", o.idle)
		}
		t.Idle = d
	}
	var err error
	if t.Prompt, err = c.given([]string{o.prompt}, "PROMPT"); err != nil {
		return shell.Failed, err
	}
	s, err := spawn(c.ctx, c.dir, t)
	if err != nil {
		return shell.Failed, err
	}
	return shell.OK, c.begun(s)
}

// mostEnding is how many hosts are asked that are just ending.
const mostEnding = 5

// spawn has the host of the workspace that dir lies in, which it starts if there is none, start a task of the human's.
func spawn(ctx context.Context, dir string, t tools.Task) (host.Spawned, error) {
	f := screen.Shell(nil, dir)
	f.Add(wire.Do, wire.Spawn)
	f.Add(wire.Name, t.Name)
	f.Add(wire.Model, t.Model)
	if t.Interactive {
		ms := t.Idle.Milliseconds()
		if t.Idle == tools.Forever {
			ms = -1
		}
		f.Add(wire.Awaits, strconv.FormatInt(ms, 10))
	}
	b := wire.Append([]byte(wire.Magic), wire.Ask, f.Bytes())
	for n := 0; n < len(t.Prompt); n += wire.MaxFrame {
		b = wire.Append(b, wire.Keys, []byte(t.Prompt[n:min(len(t.Prompt), n+wire.MaxFrame)]))
	}
	b = wire.Append(b, wire.Keys, nil)
	for range mostEnding {
		reply, err := asksToSpawn(ctx, dir, b)
		var said screen.Refusal
		switch {
		case errors.As(err, &said):
			return host.Spawned{}, errors.New(strings.TrimPrefix(strings.TrimSpace(string(said)), "fantail: "))
		case err != nil:
			return host.Spawned{}, err
		case reply.Get(wire.Again) != "":
			continue
		}
		if why := reply.Get(wire.Refused) + reply.Get(wire.Say); why != "" {
			return host.Spawned{}, errors.New(why)
		}
		return host.SpawnedOf(reply), nil
	}
	return host.Spawned{}, errors.New("each host that was asked is just ending; try again in a moment")
}

// asksToSpawn sends that to a host, and returns its answer.
func asksToSpawn(ctx context.Context, dir string, b []byte) (wire.Fields, error) {
	fd, err := screen.Reach(dir)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "host")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = conn.Write(b) // a host that refuses does not read all of it, and says why
	k, body, _, err := wire.Read(conn, wire.MaxFrame, nil)
	if err != nil || k != wire.Answer {
		return nil, errors.Join(host.ErrLost, err, ctx.Err())
	}
	return wire.FieldsOf(body), nil
}
