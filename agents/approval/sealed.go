package approval

import (
	"maps"
	"slices"
	"strings"

	"fantail/agents/tasks"
	"fantail/store"
)

var _ tasks.SealKeeper = &Rules{}

// Unsealed returns the answers to allow rules of files, if the row is not as this program wrote it. It implements
// [tasks.SealKeeper]. It leaves out answers that allow nothing.
func (r *Rules) Unsealed(v *store.View) (rows []tasks.SealedRow, err error) {
	ok, err := r.o.Seals.Sealed(v, store.Settings, setting)
	if err != nil || ok {
		return nil, err
	}
	kept, wrong := recall(v)
	if wrong != nil {
		kept = nil // it can't be read, and so allows nothing
	}
	var says []string
	for _, file := range slices.Sorted(maps.Keys(kept)) {
		for _, text := range slices.Sorted(maps.Keys(kept[file])) {
			if kept[file][text] {
				says = append(says, text+", which "+file+" offers")
			}
		}
	}
	if len(says) == 0 {
		return nil, nil
	}
	return []tasks.SealedRow{{
		Kind: "list of accepted rules", Name: "of this project's files", Says: strings.Join(says, "\n"), Table: store.Settings, Key: setting,
	}}, nil
}

// Confirm applies the answers.
func (r *Rules) Confirm(tx *store.Tx, _ tasks.SealedRow) error {
	kept, err := recall(&tx.View)
	if err == nil {
		tx.AfterCommit(func() { r.answered(kept) })
	}
	return err
}

// Drop forgets the answers.
func (r *Rules) Drop(tx *store.Tx, _ tasks.SealedRow) error { return r.keep(tx, answers{}) }
