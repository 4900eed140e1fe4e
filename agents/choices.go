package agents

import (
	"context"
	"fmt"

	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

// Choice is a thing the human chooses on a screen, which a workspace remembers.
type Choice string

// The things that are remembered. What a flag or a variable says is not chosen there.
const (
	Model Choice = "chosen model"
	Theme Choice = "chosen theme"
	Mode  Choice = "chosen mode" // auto, or what the configuration says
)

// RememberChoice keeps what was chosen for the next start. A mode is sealed: it allows something.
func RememberChoice(ctx context.Context, db *store.DB, seals *tasks.LastingSeal, c Choice, name string) error {
	err := db.Write(ctx, "remember a choice", func(tx *store.Tx) error {
		err := tx.SetSetting(string(c), name)
		if err == nil && c == Mode && name != "" {
			err = seals.Seal(tx, store.Settings, string(c))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remember the %s: %w", c, err)
	}
	return nil
}

// Chosen is what was chosen last; a field is empty where nothing was.
type Chosen struct {
	Model, Theme string
	Mode         permission.Mode // auto, or none
}

// RememberedChoices returns what was chosen last. A mode counts only with its seal; without seals none does.
func RememberedChoices(ctx context.Context, db *store.DB, seals *tasks.LastingSeal) (c Chosen, err error) {
	err = db.Read(ctx, func(rx *store.Rx) error {
		var mode string
		for choice, to := range map[Choice]*string{Model: &c.Model, Theme: &c.Theme, Mode: &mode} {
			if *to, _, err = rx.Setting(string(choice)); err != nil {
				return err
			}
		}
		if permission.Mode(mode) != permission.Auto || seals.Err() != nil { // no other mode is remembered
			return nil
		}
		ok, err := seals.Sealed(&rx.View, store.Settings, string(Mode))
		if ok {
			c.Mode = permission.Auto
		}
		return err
	})
	if err != nil {
		return Chosen{}, fmt.Errorf("recall what was chosen here: %w", err)
	}
	return c, nil
}
