package slash

import (
	"context"

	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/ui/intent"
)

// runCustom runs a command from a file: it sends the command's text as a prompt, or starts an agent
// for it.
func runCustom(in input) (intent.Intent, error) {
	t := CustomCall{
		Name: in.name, Args: in.rest,
		Prompt: func(ctx context.Context, text string) error { return in.Pool.Prompt(ctx, in.id, text) },
		Push:   func(ctx context.Context, t tools.Task) (tasks.Task, error) { return in.Pool.Tasks.Push(ctx, in.id, t) },
		Queued: func(t tasks.Task) string { return in.queued(t, "") },
	}
	if name := in.elsewhere(); name != "" {
		t.Said = "Sent to " + name
	}
	return intent.Do{Agent: in.here.Info.ID, Back: in.text, F: in.Custom.Run(t)}, nil
}

// runSkills runs /skills.
func runSkills(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.act(func(context.Context) (string, error) { return in.Custom.List(), nil }), nil
}

// Words returns all words that mean a built-in command, so that no file can replace one.
func Words() (words []string) {
	for _, c := range commands() {
		words = append(append(words, c.name), c.aliases...)
	}
	return words
}
