package vendortest

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Memory()
	goleak.VerifyTestMain(m)
}

type setting = agentstest.Setting

var check = agentstest.Check

// world is a pool and what these tests do with it.
type world struct{ *agentstest.World }

func open(t testing.TB, m llm.Provider, s setting) *world {
	t.Helper()
	return &world{agentstest.Open(t, m, s)}
}

// mailed sends main a message from a helper called ci, or, to be held, from outside.
func (w *world) mailed(d inbox.Deliver, body string) (id int64) {
	w.T.Helper()
	if d == inbox.Hold {
		sent, err := w.Pool.Door.Mail(w.T.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: body})
		check(w.T, err)
		return sent[0].ID
	}
	return w.writes("ci", mail.Letter{To: []string{"main"}, Body: body})
}

// writes sends a letter from a helper of that name.
func (w *world) writes(name string, l mail.Letter) (id int64) {
	w.T.Helper()
	if w.Info(name).ID == 0 {
		_, err := w.Pool.NewHelper(w.T.Context(), name, "test/"+name)
		check(w.T, err)
		w.Until(name+" is there", func() bool { return w.Info(name).ID != 0 })
	}
	sent, err := w.Pool.Letters.Mail(w.T.Context(), w.Info(name).ID, l)
	check(w.T, err)
	return sent[0].ID
}

// transcript is that of an agent, a line an entry.
func (w *world) transcript(name string) string {
	w.T.Helper()
	return transcribed(w.Entries(name))
}

// says waits until a line stands in the transcript of an agent.
func (w *world) says(name, line string) {
	w.T.Helper()
	w.Until(name+" says "+line, func() bool { return strings.Contains(w.transcript(name), line) })
}

// rests waits until an agent has ended that many turns and is idle.
func (w *world) rests(name string, turns int) {
	w.T.Helper()
	w.Until(name+" rests", func() bool {
		return w.Info(name).State == event.Idle && strings.Count(w.transcript(name), "ended: ") >= turns
	})
}

func transcribed(es []history.Entry) string {
	var lines []string
	for _, e := range es {
		switch e.Kind {
		case history.EntryCall:
			lines = append(lines, "call: "+e.Call.Title)
		case history.EntryResult:
			lines = append(lines, "result: "+e.Result.Text)
		case history.EntryEnded:
			lines = append(lines, "ended: "+string(e.End.Outcome)+" "+e.End.Error)
		case history.EntryMessage:
			for _, m := range e.Messages {
				lines = append(lines, "message: "+m.Body)
			}
		default:
			lines = append(lines, string(e.Kind)+": "+e.Text)
		}
	}
	return strings.Join(lines, "\n")
}
