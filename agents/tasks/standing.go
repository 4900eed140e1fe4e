package tasks

import (
	"fmt"
	"strings"

	"fantail/inbox"
	"fantail/store"
)

// listed is how many running, queued and unread items are listed at most.
const listed = 20

// Standing lists an agent's running and queued tasks, and the unread messages in its inbox.
func Standing(tx *store.Tx, box *inbox.Inbox, agent int64) (string, error) {
	ts, err := tx.Tasks(agent)
	if err != nil {
		return "", err
	}
	var running, queued, unread []string
	for _, t := range ts {
		switch t.State {
		case TaskRunning:
			running = append(running, t.Name)
		case TaskQueued:
			queued = append(queued, t.Name)
		}
	}
	ms, unreadAll, err := box.Waiting(tx, agent, listed)
	if err != nil {
		return "", err
	}
	for _, m := range ms {
		unread = append(unread, fmt.Sprintf("#%d %s from %s", m.ID, m.Kind, m.By()))
	}
	var lines []string
	for _, l := range []struct {
		what  string
		names []string
		all   int
	}{
		{"Your agents at work", running, len(running)},
		{"Tasks in your queue", queued, len(queued)},
		{"Messages unread in your inbox", unread, unreadAll},
	} {
		if l.all == 0 {
			continue
		}
		line := l.what + ": " + strings.Join(l.names[:min(listed, len(l.names))], ", ")
		if more := l.all - listed; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, line+".")
	}
	return strings.Join(lines, "\n"), nil
}
