package approval

import (
	"context"
	"fmt"

	"fantail/store"
	"fantail/tools/permission"
)

// Dispatch allows an agent to give work to a vendor's agent without asking if the human has allowed that before. A row
// that this program did not write does not count: the human is asked again.
func (qs *Questions) Dispatch(ctx context.Context, agent int64, v *permission.Verdict) error {
	if v.Vendor == "" || qs.lasting.Err() != nil {
		return nil
	}
	return qs.db.Read(ctx, func(rx *store.Rx) error {
		is, err := qs.lasting.Sealed(&rx.View, store.Dispatchers, dispatcher(agent, v.Vendor))
		if is {
			v.Decision, v.Reason = permission.Allow, "the user lets it hand work to "+v.Vendor
		}
		return err
	})
}

// LetDispatch lets an agent give work to the agents of a vendor from now on. If nothing can be sealed the human is
// asked again the next time.
func (qs *Questions) LetDispatch(tx *store.Tx, agent int64, vendor string) error {
	if qs.lasting.Err() != nil {
		return nil
	}
	if err := store.LetDispatch(tx, agent, vendor); err != nil {
		return err
	}
	return qs.lasting.Seal(tx, store.Dispatchers, dispatcher(agent, vendor))
}

// dispatcher returns the key of a row.
func dispatcher(agent int64, vendor string) string { return fmt.Sprintf("%d %s", agent, vendor) }
