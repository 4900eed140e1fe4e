package inbox

import "fantail/store"

// Any reports whether a pending message matches q, without taking it.
func (b *Inbox) Any(tx *store.Tx, q Query) (bool, error) { panic("contract") }
