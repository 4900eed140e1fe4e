package agents

import (
	"context"
	"fmt"

	"fantail/store"
)

// Choice is a thing the human chooses on a screen, which a workspace remembers.
type Choice string

// The things that are remembered. What a flag or a variable says is not chosen there.
const (
	ModelChoice Choice = "chosen model"
	ThemeChoice Choice = "chosen theme"
)

// Remember keeps what was chosen for the next start.
func Remember(ctx context.Context, db *store.DB, c Choice, name string) error {
	err := db.Write(ctx, "remember a choice", func(tx *store.Tx) error { return tx.SetSetting(string(c), name) })
	if err != nil {
		return fmt.Errorf("remember the %s: %w", c, err)
	}
	return nil
}

// Remembered returns what was chosen last, "" where nothing was.
func Remembered(ctx context.Context, db *store.DB) (model, theme string, err error) {
	err = db.Read(ctx, func(rx *store.Rx) error {
		if model, _, err = rx.Setting(string(ModelChoice)); err != nil {
			return err
		}
		theme, _, err = rx.Setting(string(ThemeChoice))
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("recall what was chosen here: %w", err)
	}
	return model, theme, nil
}
