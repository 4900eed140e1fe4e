package cli

import (
	"fantail/tools"
	"fantail/ui/attach"
	"fantail/ui/shell"
)

// runSpawn runs fantail agents spawn: it starts a task, as /push and /run do.
func runSpawn(e *Errand, c *caller) (int, error) {
	o := &e.o
	switch {
	case len(e.words) > 1:
		return shell.ExitUsage, shell.Misused("agents spawn: %q is not understood; the task stands behind --prompt, in quotes", e.words[1])
	case o.prompt == "":
		return shell.ExitUsage, shell.Misused("agents spawn needs --prompt TEXT, or --prompt - to read standard input")
	case o.idle != "" && !o.interactive:
		return shell.ExitUsage, shell.Misused("--idle goes with --interactive: how long the agent awaits input")
	}
	t := tools.Task{Name: o.label, Model: o.model, Interactive: o.interactive}
	switch {
	case o.idle == "0":
		t.Idle = tools.Forever
	case o.idle != "":
		d, err := lasting(o.idle)
		if err != nil {
			return shell.ExitUsage, shell.Misused("--idle %s is not a time (300, 90s, 5m; 0 is for ever)", o.idle)
		}
		t.Idle = d
	}
	var err error
	if t.Prompt, err = c.given([]string{o.prompt}, "PROMPT"); err != nil {
		return shell.ExitFailed, err
	}
	s, err := attach.Spawn(c.ctx, c.dir, t)
	if err != nil {
		return shell.ExitFailed, err
	}
	return shell.ExitOK, c.begun(s)
}
