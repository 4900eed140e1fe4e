package roster

import (
	"errors"

	"fantail/agents/seal"
	"fantail/store"
)

// Sealed reports whether this host wrote the row of a task as it is, trust and all.
func Sealed(v *store.View, k *seal.Key, t Task) (bool, error) {
	if t.Seal == "" {
		return false, nil
	}
	right, err := SealOf(v, k, t)
	return err == nil && seal.Same(t.Seal, right), err
}

// SealOf returns the seal that the row of a task would have, as it is.
func SealOf(v *store.View, k *seal.Key, t Task) (string, error) {
	trust, err := TrustOf(v, t)
	return k.Task(t, trust.String()), err
}

// MayStart reports whether a queued task is sealed and did not start or end before: its row alone could have been queued
// once more.
func MayStart(v *store.View, k *seal.Key, t Task) (bool, error) {
	if k.Spent(t.ID) {
		return false, nil
	}
	return Sealed(v, k, t)
}

// Seal seals a task's row as it is in tx, and returns it.
func Seal(tx *store.Tx, k *seal.Key, task int64) (Task, error) {
	t, ok, err := tx.Task(task)
	if err != nil || !ok {
		return t, errors.Join(err, store.Missing(ok, "task %d", task))
	}
	if t.Seal, err = SealOf(&tx.View, k, t); err != nil {
		return t, err
	}
	return t, tx.SealTask(task, t.Seal)
}

// pass puts the open tasks of one queue into another; sealed ones stay sealed.
func pass(tx *store.Tx, k *seal.Key, from, to int64) error {
	ts, err := tx.Tasks(from)
	if err != nil {
		return err
	}
	var sealed []int64
	for _, t := range ts {
		if t.State != TaskQueued {
			continue
		}
		ok, err := Sealed(&tx.View, k, t)
		if err != nil {
			return err
		}
		if ok {
			sealed = append(sealed, t.ID)
		}
	}
	if err := tx.PassTasks(from, to); err != nil {
		return err
	}
	for _, id := range sealed {
		if _, err := Seal(tx, k, id); err != nil {
			return err
		}
	}
	return nil
}
