package agents

import (
	"context"
	"errors"
)

func (p *Pool) fork(context.Context, *agent, int64) error { return errors.New("not here yet") }
