package agents

import (
	"context"
	"fmt"

	"fantail/store"
	"fantail/tools/permit"
)

// Choice is a thing the human chooses on a screen, which a workspace remembers.
type Choice string

// The things that are remembered. What a flag or a variable says is not chosen there.
const (
	ModelChoice Choice = "chosen model"
	ThemeChoice Choice = "chosen theme"
	modeChoice  Choice = "chosen mode" // auto, or what the configuration says
)

// Remember keeps what was chosen for the next start.
func Remember(ctx context.Context, db *store.DB, c Choice, name string) error {
	err := db.Write(ctx, "remember a choice", func(tx *store.Tx) error { return tx.SetSetting(string(c), name) })
	if err != nil {
		return fmt.Errorf("remember the %s: %w", c, err)
	}
	return nil
}

// Chosen is what was chosen last; a field is empty where nothing was.
type Chosen struct {
	Model, Theme string
	Mode         permit.Mode // auto, or none
}

// Remembered returns what was chosen last.
func Remembered(ctx context.Context, db *store.DB) (c Chosen, err error) {
	err = db.Read(ctx, func(rx *store.Rx) error {
		var mode string
		for choice, to := range map[Choice]*string{ModelChoice: &c.Model, ThemeChoice: &c.Theme, modeChoice: &mode} {
			if *to, _, err = rx.Setting(string(choice)); err != nil {
				return err
			}
		}
		if permit.Mode(mode) == permit.Auto { // no other mode is remembered
			c.Mode = permit.Auto
		}
		return nil
	})
	if err != nil {
		return Chosen{}, fmt.Errorf("recall what was chosen here: %w", err)
	}
	return c, nil
}
