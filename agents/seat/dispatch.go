package seat

import (
	"context"

	"fantail/store"
	"fantail/tools/permit"
)

// Dispatch allows what would ask whether an agent may hand work to a vendor's, where the human has said so before.
func Dispatch(ctx context.Context, db *store.DB, agent int64, v *permit.Verdict) error {
	if v.Vendor == "" {
		return nil
	}
	return db.Read(ctx, func(rx *store.Rx) error {
		is, err := store.Dispatches(&rx.View, agent, v.Vendor)
		if is {
			v.Decision, v.Reason = permit.Allow, "the user lets it hand work to "+v.Vendor
		}
		return err
	})
}
