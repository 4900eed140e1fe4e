package agents

import (
	"context"
	"fmt"

	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

// Choice is something the human chooses on a screen and the workspace remembers.
type Choice string

// The choices that are remembered. Values from flags or environment variables are not among them.
const (
	Model Choice = "chosen model"
	Theme Choice = "chosen theme"
	Mode  Choice = "chosen mode" // auto; "" for what the configuration says
	Rail  Choice = "chosen rail" // Hidden; "" for shown
)

// Hidden is the choice to hide a part of the screen.
const Hidden = "hidden"

// RememberChoice stores what was chosen for the next start. A mode is sealed, because it grants
// permissions.
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

// Chosen holds the last choices. A field is empty if nothing was chosen.
type Chosen struct {
	Model, Theme string
	Rail         string          // Hidden or empty
	Mode         permission.Mode // auto or empty
}

// RememberedChoices returns the last choices. A mode counts only with a valid seal; without seals
// there is no mode.
func RememberedChoices(ctx context.Context, db *store.DB, seals *tasks.LastingSeal) (c Chosen, err error) {
	err = db.Read(ctx, func(rx *store.Rx) error {
		var mode string
		for choice, to := range map[Choice]*string{Model: &c.Model, Theme: &c.Theme, Mode: &mode, Rail: &c.Rail} {
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
