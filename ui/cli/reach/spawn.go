package reach

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fantail/tools"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// Spawned is a task that was begun.
type Spawned struct {
	Name  string
	Task  int64
	Agent int64 // its id; 0: the task waits for its turn
}

// spawnedOf reads them.
func spawnedOf(f wire.Fields) (s Spawned) {
	s.Name = f.Get(wire.Name)
	s.Task, _ = strconv.ParseInt(f.Get(wire.Task), 10, 64)
	s.Agent, _ = strconv.ParseInt(f.Get(wire.ID), 10, 64)
	return s
}

// mostEnding is how many hosts are asked that are just ending.
const mostEnding = 5

// Spawn has the host of the workspace that dir lies in, which it starts if there is none, start a task of the human's.
func Spawn(ctx context.Context, dir string, t tools.Task) (Spawned, error) {
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
	for range mostEnding {
		reply, err := starting(ctx, dir, withPrompt(question(f), t.Prompt))
		switch {
		case err != nil:
			return Spawned{}, err
		case reply.Get(wire.Again) != "":
			continue
		}
		if why := reply.Get(wire.Refused) + reply.Get(wire.Say); why != "" {
			return Spawned{}, errors.New(why)
		}
		return spawnedOf(reply), nil
	}
	return Spawned{}, errors.New("each host that was asked is just ending; try again in a moment")
}

// starting asks the host of the workspace that dir lies in, which it starts if there is none.
func starting(ctx context.Context, dir string, question []byte) (wire.Fields, error) {
	conn, err := hostOf(dir)
	var said screen.Refusal
	if errors.As(err, &said) {
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(string(said)), "fantail: "))
	}
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reply, err := asks(ctx, conn, question)
	if err != nil {
		return nil, fmt.Errorf("%w (%w): fantail queue shows whether the task is queued", errLost, err)
	}
	return reply, nil
}
