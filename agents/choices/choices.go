// Package choices remembers what the human chooses on a screen: model, theme, mode.
//
// Does: keep a choice for the workspace's next start, and recall what was chosen.
//
// Does not: know what follows from a choice.
//
// Imports: store, tools/permit.
package choices

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
	Model Choice = "chosen model"
	Theme Choice = "chosen theme"
	Mode  Choice = "chosen mode" // auto, or what the configuration says
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
		for choice, to := range map[Choice]*string{Model: &c.Model, Theme: &c.Theme, Mode: &mode} {
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
