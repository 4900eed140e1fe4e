package format

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fantail/agents/audit"
	"fantail/ui/cells"
)

// AuditHead names a line of the audit: its number, its time and its agent.
func AuditHead(l audit.Line, here *time.Location) string {
	return strings.TrimSpace(fmt.Sprintf("#%d %s %s", l.ID, l.At.In(here).Format(time.DateTime), cells.CleanLine(l.Name)))
}

// AuditGist summarises a line of the audit in one line.
func AuditGist(l audit.Line) string {
	what := cells.CleanLine(AuditArgs(l.Args))
	switch l.What {
	case audit.Begun:
		return "audit started"
	case audit.Call, audit.Runs, audit.Ended, audit.Shell:
		return strings.TrimSpace(clipped(l.Tool+" "+what, 100)) + " · " + judged(l) + ended(l)
	case audit.Answer:
		return clipped("asked: "+what, 100) + " · " + judged(l)
	case audit.Mode:
		return "mode " + strings.TrimPrefix(what, "mode ") + " · " + cells.CleanLine(l.By)
	case audit.Grant:
		return what + " · " + judged(l)
	case audit.Stop:
		return "its turn ended: " + l.Outcome + because(l)
	case audit.Found:
		return "found at a start: " + cells.CleanLine(l.By)
	}
	return cells.CleanLine(l.What)
}

func clipped(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// judged says what decided about the call.
func judged(l audit.Line) string {
	if by := cells.CleanLine(l.By); by != "" && l.Decision != "" {
		return l.Decision + ": " + by
	} else if by != "" {
		return by
	}
	if l.Decision == "" && l.Open {
		return "no decision"
	}
	return l.Decision
}

// ended says how a call ended.
func ended(l audit.Line) string {
	if l.Open {
		return " · no end: still running, or interrupted"
	}
	return fmt.Sprintf(" · %s, %d bytes, %s", l.Outcome, l.Bytes, time.Duration(l.Millis)*time.Millisecond)
}

func because(l audit.Line) string {
	if l.By == "" {
		return ""
	}
	return ", " + cells.CleanLine(l.By)
}

// AuditArgs formats arguments for people: the text of a single one, else each with its name.
func AuditArgs(args string) string {
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) != nil {
		var text string
		if json.Unmarshal([]byte(args), &text) != nil {
			return args
		}
		return text
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, ok := all[name].(string)
		if !ok {
			b, _ := json.Marshal(all[name]) // it was decoded from JSON
			text = string(b)
		}
		if len(all) > 1 {
			text = name + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// AuditFields returns all that a line of the audit says, except its arguments.
func AuditFields(l audit.Line, here *time.Location) (fs Fields) {
	add := func(name, text string) { fs.Add(name, cells.CleanLine(text)) }
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.In(here).Format("Mon 2 Jan 2006 15:04:05.000")
	}
	add("what", l.What)
	add("agent", l.Name)
	if l.Turn != 0 {
		add("turn", fmt.Sprint(l.Turn))
	}
	add("tool", l.Tool)
	add("call", l.Call)
	add("written", when(l.At))
	add("began", when(l.Began))
	add("decided", judged(l))
	switch {
	case l.Open:
		add("ended", "no end recorded: still running, or interrupted")
	case l.Outcome != "":
		add("ended", l.Outcome)
	}
	if l.What == audit.Call && !l.Open {
		add("took", (time.Duration(l.Millis) * time.Millisecond).String())
		add("result", fmt.Sprintf("%d bytes", l.Bytes))
	}
	for _, r := range l.Rows {
		add(fmt.Sprintf("row %d", r.ID), fmt.Sprintf("%s · %s", r.What, r.Hash))
	}
	if len(l.Rows) == 0 {
		add("hash", l.Hash)
	}
	return fs
}
