package tasks

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

// SealKey seals rows. An agent's command runs as the same user and can write to the database, but it can't read this
// process's memory: what it writes there has no valid seal. The key is lost with the process, so that rows of an
// earlier host have no valid seal either.
type SealKey struct {
	secret [sha256.Size]byte

	mu    sync.Mutex
	spent map[int64]bool // tasks that began or ended
}

// NewSealKey returns a key that was never used.
func NewSealKey() *SealKey {
	k := &SealKey{spent: map[int64]bool{}}
	_, _ = rand.Read(k.secret[:]) // it ends the program rather than fail
	return k
}

// Task returns the seal of a task's row: it covers all that decides what the task does, with whose rights and after
// which others. It does not cover the task's state and its place in the queue.
func (k *SealKey) Task(t store.Task, trust string) string {
	return k.sum(
		"task", number(t.ID), number(t.Queue), t.Name, t.Prompt, t.Kind, t.Origin, t.Hint, number(t.Resumes), t.Model,
		number(t.Timeout.Milliseconds()), t.Deliver,
		strconv.FormatBool(t.Interactive), number(t.Idle.Milliseconds()), number(t.SpawnedBy), t.Needs, trust, t.Budget, t.Role, t.Sandbox,
	)
}

// Approval returns the seal of a question's row, with its answer if there is one.
func (k *SealKey) Approval(a store.Approval) string {
	return k.sum(
		"approval", number(a.ID), number(a.Agent), number(a.Turn), a.Call, a.Kind, a.Data, number(a.Message),
		strconv.FormatBool(!a.Answered.IsZero()), a.Answer,
	)
}

// SameSeal compares seals in constant time.
func SameSeal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// Spend notes that a task began or ended.
func (k *SealKey) Spend(task int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spent[task] = true
}

// Renew lets a task that was spent start again, because the human wants it once more.
func (k *SealKey) Renew(task int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.spent, task)
}

// Spent reports whether a task began or ended.
func (k *SealKey) Spent(task int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spent[task]
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// sum returns the seal of some fields. Each is preceded by its length, so that no two lists of fields read the same.
func (k *SealKey) sum(fields ...string) string {
	h := hmac.New(sha256.New, k.secret[:])
	var size [8]byte
	for _, f := range fields {
		binary.BigEndian.PutUint64(size[:], uint64(len(f)))
		h.Write(size[:])
		h.Write([]byte(f))
	}
	return hex.EncodeToString(h.Sum(nil))
}
