// Package deposit is what whoever deposits from outside needs beside the door, be it a
// shell or another assistant.
//
// Does: read the receivers of a letter and say where it went; find the whole name of a
// task's model, and say why the task will fail, if that is known.
//
// Does not: deposit anything, print, read arguments.
//
// Imports: agents, agents/choices, agents/llm/builtin, agents/mail, agents/outside, agents/roster, store, store/config,
// ui/cli/models, ui/cli/shell, ui/words.
package deposit

import (
	"context"
	"errors"
	"strings"

	"fantail/agents"
	"fantail/agents/choices"
	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/agents/outside"
	"fantail/agents/roster"
	"fantail/store"
	"fantail/store/config"
	"fantail/ui/cli/models"
	"fantail/ui/cli/shell"
	"fantail/ui/words"
)

// Receivers are the names in NAME,NAME.
func Receivers(s string) (names []string) {
	for name := range strings.SplitSeq(s, ",") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// InInboxes says where a letter went.
func InInboxes(letters []outside.Receipt) string {
	sent := make([]mail.Sent, len(letters))
	for i, l := range letters {
		sent[i] = mail.Sent{ID: l.ID, To: l.To}
	}
	return agents.InInboxes(sent)
}

// Model is the whole name of a model. A provider whose key is not set here may
// have it where the task runs.
func Model(env func(string) string, name string) (string, error) {
	conf, err := config.Read(env)
	if err != nil {
		return "", err
	}
	choice, err := conf.Resolve(env, name)
	switch {
	case errors.Is(err, config.ErrUnknown):
		return "", shell.Misused("%v", err)
	case err != nil:
		return name, nil
	}
	return choice.Name(), nil
}

// Doubt is what [words.Doubt] says of a task that was queued. One that names no model gets
// the one that the program would start with here.
func Doubt(ctx context.Context, db *store.DB, env func(string) string, t roster.Task) string {
	conf, err := config.Read(env)
	if err != nil {
		return "" // the program says so, and does not start
	}
	m := models.New(conf, env)
	if t.Model == "" && m.Doubt(builtin.Name, t.Prompt) != "" {
		remembered, err := choices.Remembered(ctx, db)
		if err != nil {
			return ""
		}
		choice, err := m.Choose("", remembered.Model, func() string { return models.Ollama(ctx, env) })
		if err != nil {
			return ""
		}
		t.Model = choice.Name()
	}
	return words.Doubt(m.Doubt).Of(t)
}
