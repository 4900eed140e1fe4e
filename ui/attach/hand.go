package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/mail"
	"fantail/ui/screen/wire"
)

// ErrLost is the error if the host was asked and did not answer: it may have recorded the request.
var ErrLost = errors.New("the host ended before it answered")

// Push has the host that listens on that socket queue a task, and returns its id once the task is on disk. origin is
// as in mail.Client. The error is [ErrNoHost] if there is no host that can, and nothing is queued, or [ErrLost].
func Push(ctx context.Context, socket, origin string, t mail.OutsideOrder) (task int64, err error) {
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
	if err != nil {
		return 0, err
	}
	if task, err = strconv.ParseInt(reply.Get(wire.Task), 10, 64); err != nil {
		return 0, ErrNoHost // an older one, or one that has no agents yet
	}
	return task, nil
}

// Mail has the host that listens on that socket send mail, and returns once it is on disk. origin is as in
// mail.Client. The error is [ErrNoHost] if there is no host that can, and nothing is sent, or [ErrLost].
func Mail(ctx context.Context, socket, origin string, m mail.OutsideDeposit) (sent []mail.OutsideReceipt, err error) {
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
	if err != nil {
		return nil, err
	}
	for _, s := range reply.All(wire.Sent) {
		n, name, _ := strings.Cut(s, " ")
		id, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the host sent the mail and says %q of it", s)
		}
		sent = append(sent, mail.OutsideReceipt{ID: id, To: name})
	}
	if sent == nil {
		return nil, ErrNoHost // an older one, or one that has no agents yet
	}
	return sent, nil
}

// lost returns the error if a host was asked to do something and did not answer.
func lost(err error) error {
	if hung := (*HungError)(nil); errors.As(err, &hung) {
		return fmt.Errorf("%w, and if it goes on by itself it may still do what it was asked", err)
	}
	return fmt.Errorf("%w (%w)", ErrLost, err)
}

// hand sends the host a request. The error is ErrNoHost if it was not sent.
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
	reply, err := asks(ctx, conn, question(f))
	if err != nil {
		return nil, lost(err)
	}
	if why := reply.Get(wire.Refused); why != "" {
		return nil, errors.New(why)
	}
	return reply, nil
}
