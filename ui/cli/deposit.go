package cli

import (
	"context"
	"errors"
	"strings"

	"fantail/agents"
	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/config"
	"fantail/ui/format"
	"fantail/ui/shell"
)

// Receivers returns the names in NAME,NAME.
func Receivers(s string) (names []string) {
	for name := range strings.SplitSeq(s, ",") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// InInboxes says where letters arrived.
func InInboxes(letters []mail.OutsideReceipt) string {
	sent := make([]mail.Sent, len(letters))
	for i, l := range letters {
		sent[i] = mail.Sent{ID: l.ID, To: l.To}
	}
	return agents.InInboxes(sent)
}

// PushModel returns the full name of a model. It accepts a provider whose key is not set here,
// because the key may be set where the task runs.
func PushModel(env func(string) string, name string) (string, error) {
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

// Doubt returns what [format.Doubt] says of a queued task. A task without a model is checked with
// the model that the program would start with here.
func Doubt(ctx context.Context, db *store.DB, env func(string) string, t tasks.Task) string {
	conf, err := config.Read(env)
	if err != nil {
		return "" // the program reports this and does not start
	}
	m := NewModels(conf, env)
	if t.Model == "" && m.Doubt(builtin.Name, t.Prompt) != "" {
		remembered, err := agents.RememberedChoices(ctx, db, nil)
		if err != nil {
			return ""
		}
		choice, err := m.Choose("", remembered.Model, func() string { return Ollama(ctx, env) })
		if err != nil {
			return ""
		}
		t.Model = choice.Name()
	}
	return format.Doubt(m.Doubt).Of(t)
}
