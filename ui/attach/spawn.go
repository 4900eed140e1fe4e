package attach

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

// maxEnding is how many hosts are asked that are just ending.
const maxEnding = 5

// Spawn has the host of the workspace that contains dir start a task of the human's. It starts the host if there is
// none.
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
	reply, err := starting(ctx, dir, withPrompt(question(f), t.Prompt))
	if errors.Is(err, ErrLost) {
		err = fmt.Errorf("%w: fantail queue shows whether the task is queued", err)
	}
	return spawnedOf(reply), err
}

// Wake has the host of the workspace that contains dir open it, so that its due schedules fire. It starts the host if
// there is none.
func Wake(ctx context.Context, dir string) error {
	f := screen.Shell(nil, dir)
	f.Add(wire.Do, wire.Wake)
	_, err := starting(ctx, dir, question(f))
	return err
}

// starting asks the host of the workspace that contains dir, which it starts if there is none. A refusal is an error.
func starting(ctx context.Context, dir string, question []byte) (wire.Fields, error) {
	for range maxEnding {
		reply, err := started(ctx, dir, question)
		switch {
		case err != nil:
			return nil, err
		case reply.Get(wire.Again) != "":
			continue
		}
		if why := reply.Get(wire.Refused) + reply.Get(wire.Say); why != "" {
			return nil, errors.New(why)
		}
		return reply, nil
	}
	return nil, errors.New("each host that was asked is just ending; try again in a moment")
}

// started returns the answer of one host.
func started(ctx context.Context, dir string, question []byte) (wire.Fields, error) {
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
		return nil, lost(err)
	}
	return reply, nil
}
