package schedule

import (
	"strings"

	"fantail/agents/tasks"
	"fantail/store"
)

var _ tasks.SealKeeper = &Checks{}

// Unsealed returns the checks that are not as this program wrote them. It implements [tasks.SealKeeper].
func (r *Checks) Unsealed(v *store.View) (rows []tasks.SealedRow, err error) {
	all, err := store.Checks(v)
	for _, c := range all {
		var ok bool
		if err == nil {
			ok, err = r.o.Seals.Sealed(v, store.KeptChecks, c.Name)
		}
		if err != nil || ok {
			continue
		}
		says := strings.Join(c.Argv, " ")
		if c.Net != "" {
			says += "\nwith the network, for " + c.Net
		}
		rows = append(rows, tasks.SealedRow{Kind: "check", Name: c.Name, Says: says, Table: store.KeptChecks, Key: c.Name})
	}
	return rows, err
}

// Confirm lets a check run as it is.
func (r *Checks) Confirm(*store.Tx, tasks.SealedRow) error { return nil }

// Drop removes a check.
func (r *Checks) Drop(tx *store.Tx, row tasks.SealedRow) error {
	_, err := store.RemoveCheck(tx, row.Name)
	return err
}
