package store

import "fmt"

// SetSetting stores a setting of the workspace.
func (tx *Tx) SetSetting(key, value string) error {
	_, err := tx.Exec(`INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
	if err != nil {
		return fmt.Errorf("keep setting %s: %w", key, err)
	}
	return nil
}

// Setting returns a setting of the workspace, and whether it is set.
func (v *View) Setting(key string) (string, bool, error) {
	s, ok, err := first(v, scanText, `SELECT value FROM settings WHERE key = ?`, key)
	if err != nil {
		return "", false, fmt.Errorf("read setting %s: %w", key, err)
	}
	return s, ok, nil
}
