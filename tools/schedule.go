package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/tools/permission"
)

//go:embed schedule.md
var scheduleText string

// Timer is the input of schedule. At most one of Delay, Interval, At and Cron is set; none: at once.
type Timer struct {
	Action     string // register, unregister, list
	ID         string
	Kind       string // reminder or task; "": task
	Prompt     string
	CancelWhen string
	Delay      time.Duration
	Interval   time.Duration
	At         time.Time
	Cron       string
	Deliver    string
	Priority   string
}

func schedule() tool {
	return tool{
		name: "schedule", text: scheduleText, spelt: map[string]string{"id": "task_id", "text": "prompt"},
		schema: `{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["register","unregister","list"],"description":"Action to perform"},` +
			`"task_id":{"type":"string","description":"Unique ID for the task (register/unregister)"},` +
			`"kind":{"type":"string","enum":["reminder","task"],"description":"Default task"},` +
			`"prompt":{"type":"string","description":"What the headless agent should do when the task fires; a reminder's text"},` +
			`"delay_seconds":{"type":"integer","description":"Seconds from now to fire (one-shot)"},` +
			`"interval_seconds":{"type":"integer","description":"Repeat every N seconds (mutually exclusive with delay)"},` +
			`"interval_minutes":{"type":"integer","description":"Repeat every N minutes"},` +
			`"run_at":{"type":"string","description":"When to fire (one-shot), such as 2026-12-24T18:00:00+01:00"},` +
			`"cron":{"type":"string","description":"Repeat: minute hour day month weekday, such as 30 9 * * 1-5"},` +
			`"cancel_when":{"type":"string","description":"Natural language condition: task self-cancels when true"},` +
			`"deliver":{"type":"string","enum":["hold","next","wake"],"description":"How its mail reaches you; default next, wake starts a turn"},` +
			`"priority":{"type":"string","enum":["low","normal","high","urgent"],"description":"Default normal"}},` +
			`"required":["action"],"additionalProperties":false}`,
		parse: parseSchedule,
		title: func(a loose) string {
			return strings.TrimSpace(strings.Join([]string{"schedule", a.word("action"), a.word("task_id"), a.word("prompt")}, " "))
		},
	}
}

// maxTime is the longest time ahead, in seconds: ten years.
const maxTime = 10 * 365 * 24 * 3600

func parseSchedule(c call) (*Call, error) {
	a, err := decode[struct {
		Action     string `json:"action"`
		ID         string `json:"task_id"`
		Kind       string `json:"kind"`
		Prompt     string `json:"prompt"`
		Delay      *int   `json:"delay_seconds"`
		Seconds    *int   `json:"interval_seconds"`
		Minutes    *int   `json:"interval_minutes"`
		At         string `json:"run_at"`
		Cron       string `json:"cron"`
		CancelWhen string `json:"cancel_when"`
		Deliver    string `json:"deliver"`
		Priority   string `json:"priority"`
	}](c)
	if err != nil {
		return nil, err
	}
	t := Timer{
		Action: a.Action, ID: strings.TrimSpace(a.ID), Kind: a.Kind, Prompt: strings.TrimSpace(a.Prompt), CancelWhen: strings.TrimSpace(a.CancelWhen),
		Cron: strings.TrimSpace(a.Cron), Deliver: a.Deliver, Priority: a.Priority,
	}
	err = errors.Join(
		need("action", t.Action), oneOf("action", t.Action, "register", "unregister", "list"), oneOf("kind", t.Kind, "reminder", "task"),
		oneOf("deliver", t.Deliver, "hold", "next", "wake"), oneOf("priority", t.Priority, "low", "normal", "high", "urgent"),
		span("delay_seconds", a.Delay, 0, time.Second, &t.Delay), span("interval_seconds", a.Seconds, 1, time.Second, &t.Interval),
	)
	ways := 0
	for _, said := range []bool{a.Delay != nil, a.Seconds != nil, a.Minutes != nil, a.At != "", t.Cron != ""} {
		if said {
			ways++
		}
	}
	switch {
	case err != nil:
	case ways > 1:
		err = errors.New("say when with one of delay_seconds, interval_seconds, interval_minutes, run_at and cron")
	case t.Action == "unregister":
		err = need("task_id", t.ID)
	case t.Action == "register":
		err = need("prompt", t.Prompt)
	}
	if err == nil {
		err = span("interval_minutes", a.Minutes, 1, time.Minute, &t.Interval)
	}
	if err == nil && a.At != "" {
		if t.At, err = time.Parse(time.RFC3339, a.At); err != nil {
			err = fmt.Errorf(`the argument "run_at" must be a time such as 2026-12-24T18:00:00+01:00, not %q`, a.At)
		}
	}
	if err != nil {
		return nil, err
	}
	do := c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Schedule(ctx, t)) })
	if t.Action == "register" && t.Kind != "reminder" { // an agent will work unattended
		do.Action.Kind = permission.Note
	}
	return do, nil
}

// span reads a number of units, if there is one.
func span(name string, v *int, low int, unit time.Duration, into *time.Duration) error {
	if v == nil {
		return nil
	}
	*into = time.Duration(*v) * unit
	return between(name, *v, low, int(maxTime*time.Second/unit))
}
