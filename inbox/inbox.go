package inbox

import (
	"context"
	"errors"

	"fantail/store"
)

// Rung is what the bell says after a commit that changed somebody's inbox.
type Rung struct {
	Recipient int64
	Pending   int  // after the commit
	Urgent    int  // of those, with priority urgent
	Deposited bool // a message came; false: messages were taken
	Wake      bool // one that came asks to wake
}

// Bell is called after each commit that changed an inbox, by the store's
// writer: it must be quick and must not write. Only a commit hook rings.
type Bell func(Rung)

// Inbox deposits and takes. It is safe for concurrent use.
type Inbox struct {
	db   *store.DB
	bell Bell
}

// New returns the inboxes of db. bell may be nil.
func New(db *store.DB, bell Bell) *Inbox { return &Inbox{db, bell} }

var (
	ErrEmpty    = errors.New("the message is empty")
	ErrTooLarge = errors.New("the message is larger than 1 MiB")
	ErrKeyUsed  = errors.New("the key was used for another message")
)

// Query selects pending messages of one recipient.
type Query struct {
	Recipient int64
	From      string               // exact sender name; "" means any
	LIFO      bool                 // newest first
	ByUrgency bool                 // urgent, high, normal, low; FIFO inside a class; LIFO is ignored
	ID        int64                // this one message; From and the order are ignored
	Deliver   []Deliver            // only these; empty means any
	Limit     int                  // at most so many; 0 means all
	Fit       func(m Message) bool // in order: a message it refuses ends the take and stays pending; nil takes all
}

// Into appends all that was taken to a transcript as one entry, in the take's
// transaction, and returns that entry. It is called once, and not at all when
// nothing matches; its error undoes the take.
type Into func(ms []Message) (entry int64, err error)

// Add deposits m inside tx and hangs the bell on its commit.
func (b *Inbox) Add(tx *store.Tx, m Message) (id int64, err error) { panic("contract") }

// Deposit writes m and returns its id after COMMIT: from then on the message
// survives kill -9 and power loss. With a Key, a retry returns the first id.
// An error does not mean that nothing was stored: retry with the same Key.
func (b *Inbox) Deposit(ctx context.Context, m Message) (id int64, err error) { panic("contract") }

// Take marks the pending messages that match q as taken by `by` and appends them with into,
// all in tx; it returns them in the order of q. It cannot take a message twice:
// the row is pending or taken, one writer at a time looks, and the mark and the
// entry commit together. left counts pending messages that match but were not taken.
func (b *Inbox) Take(tx *store.Tx, q Query, by string, into Into) (ms []Message, left int, err error) {
	panic("contract")
}

// Count returns how many messages wait for recipient, in constant time.
func (b *Inbox) Count(ctx context.Context, recipient int64) (pending, urgent int, err error) {
	panic("contract")
}

// Counts returns the non-zero pending counts of all recipients.
func (b *Inbox) Counts(ctx context.Context) (map[int64]Rung, error) { panic("contract") }

// List returns pending messages of recipient in q's order without taking any
// (q.Limit, q.From, q.LIFO and q.ByUrgency count). Bodies are whole.
func (b *Inbox) List(ctx context.Context, q Query) ([]Message, error) { panic("contract") }

// Get returns one message, taken or pending; ok is false if there is none.
func (b *Inbox) Get(ctx context.Context, id int64) (m Message, ok bool, err error) { panic("contract") }
