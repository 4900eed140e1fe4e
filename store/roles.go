package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrAltered is the error of a row whose content does not match its digest.
var ErrAltered = errors.New("it was altered")

// PutRole stores the role that a file gives an agent, as JSON, and returns its digest.
func PutRole(tx *Tx, data string) (digest string, err error) {
	digest = digestOf(data)
	if _, err := tx.count(`INSERT INTO roles (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING`, digest, data); err != nil {
		return "", fmt.Errorf("keep what an agent is: %w", err)
	}
	return digest, nil
}

// RoleOf returns the role with that digest.
func RoleOf(v *View, digest string) (data string, err error) {
	err = v.QueryRow(`SELECT data FROM roles WHERE digest = ?`, digest).Scan(&data)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read what an agent is: %w", err)
	}
	if digestOf(data) != digest {
		return "", fmt.Errorf("read what an agent is: %w", ErrAltered)
	}
	return data, nil
}

func digestOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}
