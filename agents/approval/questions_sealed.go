package approval

import (
	"fmt"

	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

var _ tasks.SealKeeper = &Questions{}

// Unsealed returns the rules for good that are not as this program wrote them. It implements [tasks.SealKeeper].
func (qs *Questions) Unsealed(v *store.View) (rows []tasks.SealedRow, err error) {
	all, err := store.Grants(v)
	for _, g := range all {
		var ok bool
		if err == nil {
			ok, err = qs.lasting.Sealed(v, store.GrantedRules, g.Rule)
		}
		if err != nil || ok {
			continue
		}
		rows = append(rows, tasks.SealedRow{
			Kind: "rule", Name: g.Rule, Says: "is allowed always in this project", Table: store.GrantedRules, Key: g.Rule,
		})
	}
	return rows, err
}

// Confirm applies a rule.
func (qs *Questions) Confirm(tx *store.Tx, r tasks.SealedRow) error {
	if err := permission.Rule(r.Name).Readable(); err != nil {
		return fmt.Errorf("%w; say no to it, which deletes it", err) // otherwise no start could read it
	}
	tx.AfterCommit(func() { _ = qs.gate.Keep(permission.Rule(r.Name)) })
	return nil
}

// Drop removes a rule.
func (qs *Questions) Drop(tx *store.Tx, r tasks.SealedRow) error {
	return store.RemoveGrant(tx, r.Name)
}
