package tasks

import (
	"strings"

	"fantail/agents/event"
	"fantail/store"
)

// Trust restricts how an agent's calls are judged: by the mode and the rules of the session, unless one of these
// holds. The tasks that an agent dispatches inherit it.
type Trust struct {
	Outside    bool // no rules, and no mode looser than ask: a process outside the program requested its work
	Unattended bool // no human answers its questions, even if one is at a screen
}

// The words of rows.
const (
	attended   = "attended"
	outside    = "outside"
	unattended = "unattended"
)

// TrustIn reads the trust in an agent's row. An unknown word comes from a later version: it trusts little.
func TrustIn(row store.Agent) (t Trust) {
	for _, word := range strings.Fields(row.Trust) {
		switch word {
		case attended:
		case unattended:
			t.Unattended = true
		default:
			t.Outside = true
		}
	}
	return t
}

// String spells the trust as rows do.
func (t Trust) String() string {
	var words []string
	if t.Outside {
		words = append(words, outside)
	}
	if t.Unattended {
		words = append(words, unattended)
	}
	if len(words) == 0 {
		return attended
	}
	return strings.Join(words, " ")
}

// Mark records the trust in the agent's info.
func (t Trust) Mark(i *event.Info) { i.Outside, i.Unattended = t.Outside, t.Unattended }

// TrustOf returns the trust of the agent that carries out t. It is as tight as the task's origin, the agent whose
// queue it is in, the one that pushed it and the one it continues; whether it is unattended depends only on its queue.
func TrustOf(v *store.View, t store.Task) (trust Trust, err error) {
	_, pusher, err := v.Pusher(t.ID)
	if err != nil {
		return trust, err
	}
	trust.Outside = FromOutside(t.Origin) || TrustIn(store.Agent{Trust: pusher}).Outside
	for _, id := range []int64{t.Queue, t.Resumes} {
		if id == 0 {
			continue
		}
		a, _, err := v.Agent(id)
		if err != nil {
			return trust, err
		}
		its := TrustIn(a)
		trust.Outside = trust.Outside || its.Outside
		trust.Unattended = trust.Unattended || id == t.Queue && its.Unattended
	}
	return trust, nil
}
