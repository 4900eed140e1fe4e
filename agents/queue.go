package agents

import (
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
)

// QueueText lists tasks as /queue prints them: sections `Queued:`, `Running:`
// and `Finished:`, the last `most` of the finished (0: all) with outcome and age.
func QueueText(ts []Task, now time.Time, most int) string {
	var queued, running, finished []string
	for _, t := range ts {
		switch t.State {
		case taskQueued:
			queued = append(queued, "  - "+t.Name)
		case taskRunning:
			running = append(running, fmt.Sprintf("  - %s (started %s ago)", t.Name, inbox.Age(now.Sub(t.Started))))
		case taskFinished:
			finished = append(finished, fmt.Sprintf("  - %s (%s %s ago)", t.Name, t.Outcome, inbox.Age(now.Sub(t.Finished))))
		}
	}
	if older := len(finished) - most; most > 0 && older > 0 {
		finished = append(finished[older:], fmt.Sprintf("  (+%d older, /queue --all)", older))
	}
	var parts []string
	for _, s := range []struct {
		title string
		lines []string
	}{{"Queued:", queued}, {"Running:", running}, {"Finished:", finished}} {
		if len(s.lines) > 0 {
			parts = append(parts, s.title+"\n"+strings.Join(s.lines, "\n"))
		}
	}
	if len(parts) == 0 {
		return "The queue is empty. /push PROMPT adds a task."
	}
	return strings.Join(parts, "\n\n")
}
