package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fantail/store"
)

// Deposit writes m and returns its id after COMMIT: from then on the message survives kill -9 and power loss. With a
// Key, a retry returns the first id. An error does not mean that nothing was stored: retry with the same Key.
func (b *Inbox) Deposit(ctx context.Context, m Message) (id int64, err error) {
	if err := m.check(); err != nil {
		return 0, fmt.Errorf("deposit: %w", err)
	}
	err = b.db.Write(ctx, "deposit", func(tx *store.Tx) (err error) {
		id, err = b.Add(tx, m)
		return err
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// Add deposits m inside tx; the change hook is called after the commit. A closed recipient still gets mail. If the
// sender is an agent, From is replaced by its current name. If m is the second result or failure of one turn, or of a
// task outside of its turns, or a second message with the same key and body, Add returns the first one's id and changes
// nothing.
func (b *Inbox) Add(tx *store.Tx, m Message) (id int64, err error) {
	if err := m.check(); err != nil {
		return 0, fmt.Errorf("deposit: %w", err)
	}
	if m.Sender == 0 && m.From == "" {
		m.From = "outside"
	}
	id, err = earlier(tx, &m)
	if err != nil || id != 0 {
		return id, err
	}
	if err := m.join(tx); err != nil {
		return 0, fmt.Errorf("deposit: %w", err)
	}
	a, c, err := open(tx, m.Recipient)
	if err != nil {
		return 0, fmt.Errorf("deposit: %w", err)
	}
	id, err = insert(tx, &m)
	if err != nil {
		return 0, fmt.Errorf("deposit: %w", cmp.Or(strangers(tx, m), err))
	}
	var t tally
	t.count(m, 1)
	a.newest, c.came = id, c.came.plus(t, 1)
	b.ring(tx, c, t, m.rung(id))
	if id%slice == 0 {
		tx.AfterCommit(b.Words.LeftOut)
	}
	return id, nil
}

// rung is the change for m, which is pending from now on under that id.
func (m Message) rung(id int64) Change {
	r := Change{Deposited: true, First: id}
	if !m.Muted {
		r.Came, r.Wake = 1, m.Deliver == Wake
		if m.calls() {
			r.Calls = id
		}
	}
	return r
}

// join finds the thread that a reply belongs to, and whether it is muted.
func (m *Message) join(tx *store.Tx) error {
	m.Thread, m.Muted = 0, false
	if m.InReplyTo == 0 {
		return nil
	}
	var thread int64
	var muted bool
	err := tx.QueryRow(`SELECT ifnull(thread, id) FROM messages WHERE id = ?`, m.InReplyTo).Scan(&thread)
	if errors.Is(err, store.ErrNoRows) {
		return fmt.Errorf("there is no message %d to reply to", m.InReplyTo)
	}
	if err == nil {
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM mutes WHERE recipient = ? AND thread = ?)`, m.Recipient, thread).Scan(&muted)
	}
	if err != nil {
		return fmt.Errorf("find the thread of a reply to %d: %w", m.InReplyTo, err)
	}
	m.Thread, m.Muted = thread, muted
	return nil
}

// check returns an error for a message that no inbox takes, and sets defaults.
func (m *Message) check() error {
	if m.Kind == "" {
		m.Kind = Mail
	}
	if m.Deliver == "" {
		m.Deliver = Next
	}
	if m.Endless() {
		m.Deliver = Hold
	}
	if m.Priority == "" {
		m.Priority = Normal
	}
	switch m.Kind {
	case Result, Failure, Mail, Reminder, Scheduled, Question, Approval, Notice:
	default:
		return fmt.Errorf("unknown kind %q", m.Kind)
	}
	switch m.Deliver {
	case Hold, Next, Wake:
	default:
		return fmt.Errorf("unknown deliver %q: hold, next or wake", m.Deliver)
	}
	switch m.Priority {
	case Low, Normal, High, Urgent:
	default:
		return fmt.Errorf("unknown priority %q: low, normal, high or urgent", m.Priority)
	}
	if m.Body == "" && m.Kind != Failure {
		return ErrEmpty
	}
	for _, text := range []struct{ name, s string }{
		{"body", m.Body},
		{"output so far", m.Partial},
		{"error", m.Error},
		{"subject", m.Subject},
		{"sender", m.From},
		{"key", m.Key},
		{"tags", strings.Join(m.Tags, " ")},
	} {
		if len(text.s) > MaxBody {
			return fmt.Errorf("%w: its %s has %d bytes; send a shorter one that names a file", ErrTooLarge, text.name, len(text.s))
		}
	}
	return nil
}

// strangers says which of m's recipient and sender does not exist, so that its row was refused; nil: both exist.
func strangers(tx *store.Tx, m Message) error {
	if _, ok, err := tx.AgentName(m.Recipient); err != nil || !ok {
		return nobody("recipient", m.Recipient, err)
	}
	if m.Sender == 0 {
		return nil
	}
	if _, ok, err := tx.AgentName(m.Sender); err != nil || !ok {
		return nobody("sender", m.Sender, err)
	}
	return nil
}

func nobody(role string, id int64, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s %d: %w", role, id, ErrNobody)
}

// earlier returns the message that m repeats: the end of the same turn or task, or one
// with the same key. 0: there is none.
func earlier(tx *store.Tx, m *Message) (int64, error) {
	if m.ends() {
		where, of := "turn IS NULL AND task = ?", m.Task
		if m.Turn != 0 {
			where, of = "turn = ?", m.Turn
		}
		var id int64
		err := tx.QueryRow(`SELECT id FROM messages WHERE kind IN ('result', 'failure') AND `+where, of).Scan(&id)
		if !errors.Is(err, store.ErrNoRows) {
			return id, err
		}
	}
	if m.Key == "" {
		return 0, nil
	}
	outside := m.From
	if m.Sender != 0 {
		outside = ""
	}
	var id int64
	var same bool
	var from string
	err := tx.QueryRow(`SELECT id, body = ?, sender_name FROM messages
		WHERE recipient = ? AND ifnull(sender, 0) = ? AND iif(sender IS NULL, sender_name, '') = ? AND key = ?`,
		blob(m.Body), m.Recipient, m.Sender, outside, m.Key).Scan(&id, &same, &from) // what the row must not hold, m's body need not
	switch {
	case errors.Is(err, store.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("deposit: look for key %q: %w", m.Key, err)
	case !same:
		return 0, fmt.Errorf("deposit: %w: message %d from %s has key %q; use a new key for a new message", ErrKeyUsed, id, from, m.Key)
	}
	return id, nil
}

// ends reports whether m is the end of a task, or of a turn of a task.
func (m Message) ends() bool { return m.Task != 0 && (m.Kind == Result || m.Kind == Failure) }

// insert writes m's row and returns its id. Each value that a statement carries costs time: insert leaves out values
// that equal the column's default, half of them for most mail, and writes the words that check has verified into the
// statement's text.
func insert(tx *store.Tx, m *Message) (int64, error) {
	from := m.From
	if m.Sender != 0 {
		name, ok, err := store.NameOf(tx, m.Sender)
		if err != nil {
			return 0, err
		}
		if ok {
			from = name
		}
	}
	names := `kind, deliver, recipient, sender, sender_name, body, created_at`
	args := append(make([]any, 0, 8), m.Recipient, orNull(m.Sender), from, blob(m.Body), tx.Now().UnixMilli())
	also := func(name string, value any, is bool) {
		if is {
			names, args = names+", "+name, append(args, value)
		}
	}
	also("priority", string(m.Priority), m.Priority != Normal)
	if len(m.Tags) > 0 {
		tags, err := json.Marshal(m.Tags)
		if err != nil {
			return 0, fmt.Errorf("write tags: %w", err)
		}
		also("tags", string(tags), true)
	}
	also("subject", m.Subject, m.Subject != "")
	also("outcome", m.Outcome, m.Outcome != "")
	also("error", m.Error, m.Error != "")
	also("partial_output", []byte(m.Partial), m.Partial != "")
	also("task", m.Task, m.Task != 0)
	also("turn", m.Turn, m.Turn != 0)
	also("in_reply_to", m.InReplyTo, m.InReplyTo != 0)
	also("thread", m.Thread, m.Thread != 0)
	also("muted", m.Muted, m.Muted)
	also("key", m.Key, m.Key != "")
	also("by_fork", m.ByFork, m.ByFork)
	also("hops", m.Hops, m.Hops != 0)
	r, err := tx.Exec(`INSERT INTO messages (`+names+`) VALUES ('`+string(m.Kind)+`', '`+string(m.Deliver)+`'`+
		strings.Repeat(", ?", len(args))+`)`, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// blob is s as a BLOB; an empty one is not NULL.
func blob(s string) []byte { return append(make([]byte, 0, len(s)), s...) }

// orNull returns n for a column that may be NULL; 0 becomes NULL.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
