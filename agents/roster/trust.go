package roster

import (
	"fantail/store"
)

// An agent's trust says what its calls are judged by. It is inherited and can only tighten.
const (
	TrustAttended = "attended" // the mode and the rules of the session
	TrustOutside  = "outside"  // no rules, and no mode looser than ask: someone outside the program requested its work
)

// TrustOf returns the trust of the agent that carries out t: the tightest of the task's origin, the agent whose queue
// it is in, the one that pushed it and the one it continues.
func TrustOf(tx *store.Tx, t store.Task) (string, error) {
	pusher, err := tx.PusherTrust(t.ID)
	if err != nil {
		return "", err
	}
	tight := FromOutside(t.Origin) || pusher == TrustOutside
	for _, id := range []int64{t.Queue, t.Resumes} {
		if id == 0 {
			continue
		}
		a, _, err := tx.Agent(id)
		if err != nil {
			return "", err
		}
		tight = tight || a.Trust == TrustOutside
	}
	if tight {
		return TrustOutside, nil
	}
	return TrustAttended, nil
}
