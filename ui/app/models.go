package app

import (
	"context"
	"fmt"
	"os"
	"sync"

	"fantail/agents"
	"fantail/store/config"
	"fantail/ui"
	"fantail/ui/cli"
	"fantail/ui/shell"
)

// reread is the configuration file as it was last read.
type reread struct {
	mu   sync.Mutex
	conf config.Config
}

// reload reads the configuration file again, and says what changed; "" if nothing did.
func (w *Workspace) reload() (string, error) {
	is, err := config.ReadFile(os.Getenv)
	if err != nil {
		return "", err
	}
	w.file.mu.Lock()
	defer w.file.mu.Unlock()
	if err := w.rules.again(); err != nil {
		return "", err
	}
	text, err := cli.Reread(w.file.conf, is, w.gate)
	if err == nil {
		w.file.conf = is
	}
	return text, err
}

// give gives main the model of that name, and says why its provider may not have it.
func (w *Workspace) give(ctx context.Context, pool *agents.Pool, model string) (doubt string, err error) {
	choice, err := w.models.Choose(model, "", nil)
	if err != nil {
		return "", err
	}
	return choice.Doubt, cli.SetMain(ctx, pool, choice.Name())
}

// picks returns the model with which the workspace opens, from the flag and the remembered model. A service has no
// human to ask or to bring a key: it asks Ollama at once, and starts even without the model, since a reminder needs
// none. A screen that brings the key brings the model.
func (w *Workspace) picks(ctx context.Context, flag, remembered string) (config.Choice, error) {
	choice, err := w.models.Choose(flag, remembered, nil)
	switch {
	case w.stays == "":
	case err != nil:
		none := config.Choice{Provider: config.Builtin, Protocol: config.Builtin}
		none.Lost = fmt.Sprintf("%v. %s is used until you attach from a shell that has it.", err, none.Name())
		choice, err = none, nil
	case choice.AskOllama:
		if found := cli.Ollama(ctx, os.Getenv); found != "" {
			return w.models.Choose(flag, remembered, func() string { return found })
		}
	}
	if w.stays != "" && choice.Lost != "" {
		shell.Warn(os.Stderr, "%s", choice.Lost)
	}
	return choice, err
}

// choose gives main the model that the start would have chosen with the keys that came since. It does so only if the
// start found none, or not the remembered one, and the human chose no other meanwhile.
func (w *Workspace) choose(ctx context.Context, pool *agents.Pool) error {
	if !w.choice.AskOllama && w.choice.Lost == "" || cli.MainModel(pool) != w.choice.Name() {
		return nil
	}
	remembered, err := agents.RememberedChoices(ctx, w.db, nil)
	if err != nil {
		return err
	}
	choice, err := w.models.Choose("", remembered.Model, nil)
	if err != nil || choice.Name() == w.choice.Name() {
		return err
	}
	return cli.SetMain(ctx, pool, choice.Name())
}

// askOllama gives main the model of an Ollama that answers, once and if no other was chosen.
func (w *Workspace) askOllama(ctx context.Context, pool *agents.Pool, r ui.Remote) {
	if !w.choice.AskOllama || w.readOnly != nil || cli.MainModel(pool) != w.choice.Name() || !w.asked.CompareAndSwap(false, true) {
		return
	}
	choice, err := w.models.Choose("", "", func() string { return cli.Ollama(ctx, os.Getenv) })
	if err == nil && choice.Model != "" {
		err = cli.SetMain(ctx, pool, choice.Name())
	}
	if err != nil {
		r.Model("builtin — Ollama can't be used: " + err.Error())
		return
	}
	r.Model(choice.Why)
}

// offersModels tells a screen where main has no model which models could be had here.
func (w *Workspace) offersModels(ctx context.Context, pool *agents.Pool, r ui.Remote) {
	if w.readOnly != nil || cli.MainModel(pool) != config.Builtin {
		return
	}
	var ways []ui.Way
	if name, at := w.models.LocalModel(ctx); name != "" {
		ways = append(ways, ui.Way{Says: "use the server that answers at " + at, Type: "/model " + name})
	}
	if agent, install := w.models.VendorCLI(); agent != "" {
		plan, known := map[string]string{"claude": "Claude Code's", "codex": "Codex's"}[agent]
		if !known {
			plan = agent + "'s"
		}
		way := ui.Way{Says: "use " + plan + " plan", Type: fmt.Sprintf("/agent new %s agent=%[1]s", agent)}
		if install != "" {
			way.Says += ": " + install + ", then"
		}
		ways = append(ways, way)
	}
	r.Ways(ways)
}
