package agents_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
)

// pingPong is a model that answers each piece of mail with mail to who wrote it, by
// the tool send or by a reply.
func pingPong() *model {
	var n atomic.Int64
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		said := last(req)
		for _, peer := range []string{"bob", "main"} {
			if strings.Contains(said, `from="`+peer) {
				return call(fmt.Sprint("c", n.Add(1)), "send", `{"to":"`+peer+`","message":"and you?"}`), nil
			}
		}
		return text("ok"), nil
	}
	return m
}

// TestMail_endsBetweenAgents: two agents that answer whatever comes stop after a
// row of messages, across a restart too; the human, whom both tabs tell, lets them go
// on. Mail of the human's own begins a row anew.
// Spec: M-2, R-48, R-51.
func TestMail_endsBetweenAgents(t *testing.T) {
	t.Parallel()
	for _, mode := range []policy.Mode{policy.Interrupt, policy.Queue, policy.Fork} {
		t.Run(string(mode), func(t *testing.T) {
			m := pingPong()
			dir := t.TempDir()
			var held inbox.Message
			play(t, m, setting{Dir: dir}, func(w *world) {
				bob := w.helper("bob")
				theirs := mode
				if mode == policy.Fork {
					theirs = policy.Interrupt // what a fork wrote is not forked
				}
				_, err := w.Pool.Mail.Override(w.T.Context(), bob, func(o *policy.Overrides) { o.Mode = theirs })
				check(t, err)
				w.mode(mode)
				_, err = w.Pool.Letters.Mail(w.T.Context(), w.Main(), mail.Letter{To: []string{"bob"}, Body: "how are you?"})
				check(t, err)
				time.Sleep(2 * time.Hour)

				w.rest()
				if n := len(m.Seen()); n > 4*inbox.MaxHops {
					t.Fatalf("%d requests", n)
				}
				for _, id := range []int64{bob, w.Main()} {
					for _, x := range w.inboxOf(id) {
						if x.Hops > inbox.MaxHops {
							held = x
						}
					}
				}
				if held.Hops != inbox.MaxHops+1 || held.Deliver != inbox.Hold {
					t.Fatalf("held: %+v", held)
				}
				w.decided(held.ID, "because agents wrote the 8 messages before it because of each other, without you. /check,")
				if told := w.transcript(held.Recipient); !strings.Contains(told, "is held: the agents wrote the 8 before it") {
					t.Errorf("the human is not told: %s", told)
				}
			})
			play(t, m, setting{Dir: dir}, func(w *world) {
				n := len(m.Seen())
				time.Sleep(time.Hour)
				w.rest()
				if len(m.Seen()) != n {
					t.Error("the restart let it in")
				}
				_, _, err := w.Pool.Pickup.Next(w.T.Context(), held.Recipient, held.ID)
				check(t, err)
				time.Sleep(2 * time.Hour)

				w.rest()
				if more := len(m.Seen()) - n; more < 2*(inbox.MaxHops-1) || more > 4*inbox.MaxHops {
					t.Errorf("%d requests after the human let it in", more)
				}
			})
		})
	}
}
