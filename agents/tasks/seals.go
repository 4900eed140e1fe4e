package tasks

import (
	"errors"

	"fantail/store"
)

// Sealed reports whether the row of a task, including its trust, is as this host wrote it.
func Sealed(v *store.View, k *SealKey, t Task) (bool, error) {
	if t.Seal == "" {
		return false, nil
	}
	right, err := SealOf(v, k, t)
	return err == nil && SameSeal(t.Seal, right), err
}

// SealOf returns the seal for the present content of a task's row.
func SealOf(v *store.View, k *SealKey, t Task) (string, error) {
	trust, err := TrustOf(v, t)
	return k.Task(t, trust.String()), err
}

// MayStart reports whether a queued task is sealed and has not started or ended before: another process could have
// queued an old row again.
func MayStart(v *store.View, k *SealKey, t Task) (bool, error) {
	if k.Spent(t.ID) {
		return false, nil
	}
	return Sealed(v, k, t)
}

// SealTask seals a task's row as it is in tx, and returns it.
func SealTask(tx *store.Tx, k *SealKey, task int64) (Task, error) {
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
func pass(tx *store.Tx, k *SealKey, from, to int64) error {
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
		if _, err := SealTask(tx, k, id); err != nil {
			return err
		}
	}
	return nil
}
