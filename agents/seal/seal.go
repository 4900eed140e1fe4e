// Package seal tells rows that the living host wrote from all others.
//
// Does: seal tasks and approvals with a key that only the memory of this process holds, and remember which sealed tasks
// have begun or ended, so that no task starts twice on one seal.
//
// Does not: read or write rows, decide what becomes of a row without a right seal.
//
// Imports: store.
package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync"

	"fantail/store"
)

// Key seals rows. An agent's command runs as the same user and can write to the database, but it can't read this
// process's memory through it: what it writes there carries no right seal. The key dies with the process, so that rows
// of an earlier host carry none either.
type Key struct {
	secret [sha256.Size]byte

	mu    sync.Mutex
	spent map[int64]bool // tasks that began or ended
}

// New returns a key that was never used.
func New() *Key {
	k := &Key{spent: map[int64]bool{}}
	_, _ = rand.Read(k.secret[:]) // it ends the program rather than fail
	return k
}

// Task returns the seal of a task's row: it covers all that decides what the task does, with whose rights and after
// which others. Its state and its place in the queue are not covered.
func (k *Key) Task(t store.Task, trust string) string {
	return k.sum(
		"task", number(t.ID), number(t.Queue), t.Name, t.Prompt, t.Kind, t.Origin, t.Hint, number(t.Resumes), t.Model,
		number(t.Timeout.Milliseconds()), t.Deliver,
		strconv.FormatBool(t.Interactive), number(t.Idle.Milliseconds()), number(t.SpawnedBy), t.Needs, trust, t.Budget, t.Role,
	)
}

// Approval returns the seal of a question's row, with its answer if there is one.
func (k *Key) Approval(a store.Approval) string {
	return k.sum(
		"approval", number(a.ID), number(a.Agent), number(a.Turn), a.Call, a.Kind, a.Data, number(a.Message),
		strconv.FormatBool(!a.Answered.IsZero()), a.Answer,
	)
}

// Same compares seals, in a time that tells nothing about either.
func Same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// Spend notes that a task began or ended.
func (k *Key) Spend(task int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spent[task] = true
}

// Renew lets a task start that was spent: the human wants it once more.
func (k *Key) Renew(task int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.spent, task)
}

// Spent reports whether a task began or ended.
func (k *Key) Spent(task int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spent[task]
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// sum returns the seal of some fields. Each is preceded by its length, so that no two lists of fields read the same.
func (k *Key) sum(fields ...string) string {
	h := hmac.New(sha256.New, k.secret[:])
	var size [8]byte
	for _, f := range fields {
		binary.BigEndian.PutUint64(size[:], uint64(len(f)))
		h.Write(size[:])
		h.Write([]byte(f))
	}
	return hex.EncodeToString(h.Sum(nil))
}
