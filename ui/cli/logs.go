package cli

import (
	"time"

	"fantail/agents/history"
	"fantail/ui/attach"
	"fantail/ui/shell"
)

// page is how many entries are read at once: a transcript may be long.
const page = 200

// logsOf prints an agent's transcript. With --follow it also prints new entries until the agent
// ends.
func logsOf(e *Errand, c *caller, name string) (int, error) {
	after, some := int64(0), false
	c.out.unread = &Unread{Code: shell.ExitFailed}
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		i, es, err := c.door.Transcript(c.ctx, name, after, page)
		if err != nil {
			return shell.ExitFailed, err
		}
		for _, entry := range es {
			after = entry.Seq
			if err := c.logged(entry); err != nil {
				return shell.ExitFailed, err
			}
			some = true
		}
		switch {
		case len(es) == page:
			continue
		case e.o.follow && !i.State.Terminal():
		case !some:
			return shell.ExitNothing, nil
		default:
			return shell.ExitOK, nil
		}
		for changed := false; !changed; {
			select {
			case <-tick.C:
			case <-c.ctx.Done():
				return shell.ExitOK, nil // an interrupt is the normal end
			}
			if changed, err = c.door.DB.Changed(c.ctx); err != nil {
				return shell.ExitFailed, err
			}
		}
	}
}

// logged prints an entry unless it has no text for people.
func (c *caller) logged(e history.Entry) error {
	j := attach.EntryOf(e)
	if c.out.json {
		return c.out.line(j)
	}
	if text := j.Said(); text != "" {
		return c.out.text(text)
	}
	return nil
}
