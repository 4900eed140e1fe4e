package crashtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
	"fantail/agents/agentstest"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// balances lets what is left go on in peace, and looks whether all is there. It returns how many messages and prompts were
// told, and how many of them were told again.
func (k *killed) balances(t *testing.T) (told, again int) {
	t.Helper()
	w := attached(t, k.dir, "calm")
	defer w.Close()
	_, err := w.Pool.Mail.Override(t.Context(), w.Main(), func(o *policy.Overrides) { o.Mode = policy.Manual })
	agentstest.Check(t, err)
	for range 3 { // what is taken is told with the next prompt
		k.calms(t, w)
		_, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
		agentstest.Check(t, err)
		w.Prompt("go on")
	}
	k.calms(t, w)
	l, err := w.Pool.Records.Balance(t.Context())
	agentstest.Check(t, err)
	if len(l.Wrong) > 0 || l.Running+l.Queued > 0 || l.Started != l.Delivered+l.Pending {
		t.Errorf("the books: %s", l)
	}
	k.messages(t, w)
	return k.talks(t, w)
}

// calms runs what is queued and answers what is asked until nothing goes on.
func (k *killed) calms(t *testing.T, w *agentstest.World) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	settled := make(chan error, 1)
	w.Consent(0)
	go func() { settled <- w.Pool.Settled(ctx) }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-settled:
			if err != nil {
				t.Fatalf("it does not settle: %v; agents %+v", err, w.Pool.Infos())
			}
			return
		case <-tick.C:
			decides(t, w)
		}
	}
}

// transcripts are those of all agents, by their ids.
func transcripts(t *testing.T, w *agentstest.World) map[int64][]history.Entry {
	t.Helper()
	all := map[int64][]history.Entry{}
	agentstest.Check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
		as, err := rx.Agents()
		if err != nil {
			return err
		}
		for _, a := range as {
			rows, err := rx.EntriesAfter(a.ID, 0, 1_000_000)
			if err != nil {
				return err
			}
			all[a.ID] = history.DecodeAll(rows)
		}
		return nil
	}))
	return all
}

// messages: each that was acknowledged is there: pending, or taken into one entry of one transcript.
func (k *killed) messages(t *testing.T, w *agentstest.World) {
	t.Helper()
	entered := map[int64]int{}
	for _, es := range transcripts(t, w) {
		for _, e := range es {
			for _, m := range e.Messages {
				if e.Kind == history.EntryMessage {
					entered[m.ID]++
				}
			}
		}
	}
	for id, n := range entered {
		if n > 1 {
			t.Errorf("message %d entered %d times", id, n)
		}
	}
	for id := range k.sent {
		m, ok, err := w.Pool.Letters.Message(t.Context(), id)
		if !ok || err != nil || m.Taken.IsZero() == (entered[id] == 1) {
			t.Errorf("message %d, which entered %d times: %+v, %v", id, entered[id], m, err)
		}
	}
	for id := range k.taken {
		if entered[id] != 1 {
			t.Errorf("message %d was taken and entered %d times", id, entered[id])
		}
	}
}

// talks: what entered main's conversation was told to its agent, and a second time only marked and after a crash; what an
// agent said is in no transcript twice.
func (k *killed) talks(t *testing.T, w *agentstest.World) (told, again int) {
	t.Helper()
	word := regexp.MustCompile(`<[0-9.-]+>`)
	all := transcripts(t, w)
	said := map[string]int{}
	for _, es := range all {
		for _, e := range es {
			if e.Kind == history.EntryText {
				for _, s := range word.FindAllString(e.Text, -1) {
					said[s]++
				}
			}
		}
	}
	for s, n := range said {
		if n > 1 && !strings.Contains(s, "-") { // a word of an agent's own
			t.Errorf("%s was said %d times", s, n)
		}
	}
	const mark = "(What follows may have reached you already"
	hears, crashes, marks := k.hears(t, w.Main()), 0, 0
	for _, n := range k.kills {
		crashes += n
	}
	for _, h := range hears {
		if strings.HasPrefix(h, mark) {
			marks++
		}
	}
	if marks > crashes {
		t.Errorf("after %d crashes %d things were told again", crashes, marks)
	}
	for _, e := range all[w.Main()] {
		var words []string
		switch e.Kind {
		case history.EntryPrompt:
			words = word.FindAllString(e.Text, -1)
		case history.EntryMessage:
			for _, m := range e.Messages {
				if m.Kind == inbox.Mail {
					words = append(words, word.FindAllString(m.Body, -1)...)
				}
			}
		}
		for _, s := range words {
			told++
			var marked, plain int
			for _, h := range hears {
				switch {
				case !strings.Contains(h, s):
				case strings.HasPrefix(h, mark):
					marked++
				default:
					plain++
				}
			}
			if marked+plain == 0 || plain > 1 {
				t.Errorf("%s was told %d times, %d of them marked: %s", s, marked+plain, marked, e.Kind)
			}
			if marked+plain > 1 {
				again++
			}
		}
	}
	return told, again
}

// hears is all that the vendor's agents heard that carried out the turns of an agent: what they were told, and what their
// calls of our tools returned.
func (k *killed) hears(t *testing.T, agent int64) (all []string) {
	t.Helper()
	dir := filepath.Join(k.dir, "sessions")
	names, err := os.ReadDir(dir)
	agentstest.Check(t, err)
	mark := fmt.Sprintf("[fantail-%d-", agent)
	for _, name := range names {
		updates, err := acptest.Session(dir, name.Name())
		agentstest.Check(t, err)
		var heard []string
		for _, text := range updates {
			_, u := acp.ParseUpdate(fmt.Appendf(nil, `{"update":%s}`, text))
			switch u := u.(type) {
			case acp.ContentChunk:
				if u.Kind == acp.UserMessage {
					heard = append(heard, u.Content.String())
				}
			case acp.ToolCallUpdate:
				for _, c := range u.Content.All {
					heard = append(heard, c.Content.String())
				}
			}
		}
		if len(heard) > 0 && strings.Contains(heard[0], mark) {
			all = append(all, heard...)
		}
	}
	return all
}
