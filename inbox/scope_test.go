package inbox

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/store"
	"fantail/store/storetest"
)

// Whatever happens to messages, by this program or another and rolled back or not, the stored and the reported numbers
// equal those of the rows, a glance finds no violation, and a search finds messages by their words where they are now.
func TestKept_whateverHappens(t *testing.T) {
	path := filepath.Join(storetest.Dir(t), "fantail.db")
	w, other := at(t, path), at(t, path)
	all := []int64{w.main, w.lint, w.agent("ci")}
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "alphabet", "beta", "alpha.beta", "gamma"}
	some := func() int64 { return all[r.IntN(len(all))] }
	text := map[int64]string{}
	var ids, entries []int64
	one := func() int64 { return ids[r.IntN(len(ids))] }
	step := func(tx *store.Tx, box *Inbox) error {
		do := r.IntN(14)
		if len(ids) == 0 {
			do = 0
		}
		switch do {
		default:
			m := Message{Recipient: some(), Sender: some(), Body: words[r.IntN(len(words))], Kind: []Kind{Mail, Result, Failure, Question, Notice}[r.IntN(5)]}
			m.Priority = []Priority{Normal, Normal, Urgent, Low}[r.IntN(4)]
			if r.IntN(3) == 0 && len(ids) > 0 {
				m.InReplyTo = one()
			}
			id, err := box.Add(tx, m)
			ids, text[id] = append(ids, id), m.Body
			return err
		case 5, 6:
			q := Query{Recipient: some(), Limit: r.IntN(4)}
			if r.IntN(2) == 0 {
				q.Priority = Urgent
			}
			_, _, err := box.Take(tx, q, "check", func(ms []Message) (int64, error) {
				entry, err := into(tx, q.Recipient)(ms)
				entries = append(entries, entry)
				return entry, err
			})
			return err
		case 7:
			_, err := box.SetAside(tx, some(), []int64{one(), one()}, []time.Time{{}, tx.Now().Add(-time.Second)}[r.IntN(2)])
			return err
		case 8:
			_, err := box.Restore(tx, some(), []int64{one(), one()})
			return err
		case 9:
			_, err := box.Unsnooze(tx)
			return err
		case 10:
			_, err := box.Mute(tx, some(), one(), r.IntN(2) == 0)
			return err
		case 11:
			if r.IntN(3) == 0 {
				return box.PassAll(tx, some(), some())
			}
			return box.Pass(tx, some(), some())
		case 12:
			m, _, err := Find(&tx.View, one())
			if err == nil && m.Asks() {
				err = box.Answer(tx, m.ID, ByAnswer)
			}
			return err
		case 13:
			if len(entries) == 0 {
				return nil
			}
			_, err := box.PutBack(tx, some(), entries[r.IntN(len(entries))])
			return err
		}
	}
	undone := errors.New("undone")
	for i := range long.Times(400, 1200) {
		by, wrong := w, error(nil)
		if i%200 >= 100 && r.IntN(4) == 0 {
			by = other
		}
		if r.IntN(8) == 0 {
			wrong = undone
		}
		n, e := len(ids), len(entries)
		err := by.db.Write(t.Context(), "test", func(tx *store.Tx) error { return cmp.Or(step(tx, by.box), wrong) })
		if wrong != nil {
			for _, id := range ids[n:] {
				delete(text, id)
			}
			ids, entries = ids[:n], entries[:e]
		}
		if !errors.Is(err, wrong) {
			t.Fatal(err)
		}
		for _, r := range by.bells.take() {
			c, err := by.box.Count(t.Context(), r.Recipient)
			if err != nil || r.Pending != c.Pending || r.Asks != c.Asks || r.Urgent != c.Urgent || wrong != nil {
				t.Errorf("step %d rang %+v, but %+v wait (%v)", i, r, c, err)
			}
		}
		if i%50 != 49 {
			continue
		}
		w.sound()
		w.balanced()
		for _, recipient := range all {
			for _, lane := range append(LaneOrder[:], "") {
				for _, of := range []string{Waiting, Archived, Snoozed, Everything} {
					for _, typed := range []string{"alpha", "alpha ", "beta", "alpha.b", "zeta"} {
						w.finds(Selection{Recipient: recipient, Lane: lane, Of: of, Search: typed}, text)
					}
				}
			}
		}
		if t.Failed() {
			t.Fatalf("after %d steps", i+1)
		}
	}
}

// balanced fails the test if Glance or Totals finds a violation, or if they differ.
func (w *world) balanced() {
	w.t.Helper()
	err := w.db.Read(w.t.Context(), func(rx *store.Rx) error {
		l, err := w.box.Totals(rx)
		g, err2 := Glance(rx)
		if err != nil || err2 != nil || len(l.Wrong)+len(g.Wrong) > 0 || l.Taken != g.Taken || l.Aside != g.Aside || l.Pending != g.Pending ||
			fmt.Sprint(l.Asking, l.Ends) != fmt.Sprint(g.Asking, g.Ends) {
			w.t.Errorf("%v %v\n%+v\n%+v", err, err2, l, g)
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// finds fails the test if a search finds other messages than rows and texts say.
func (w *world) finds(s Selection, text map[int64]string) {
	w.t.Helper()
	s.Limit = 10_000
	var got, want []int64
	for _, m := range w.selected(s) {
		got = append(got, m.ID)
	}
	typed := s.Search
	s.Search = ""
	for _, m := range w.selected(s) {
		word, whole := strings.CutSuffix(typed, " ")
		body := " " + strings.ReplaceAll(text[m.ID], ".", " ") + " "
		word = " " + strings.ReplaceAll(word, ".", " ")
		if whole {
			word += " "
		}
		if strings.Contains(body, word) {
			want = append(want, m.ID)
		}
	}
	slices.Sort(want)
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		s.Search = typed
		w.t.Errorf("%+v finds %v, want %v", s, got, want)
	}
}

// A glance finds messages that are lost or doubled compared with the stored numbers.
func TestGlance_findsWhatIsWrong(t *testing.T) {
	for spoil, says := range map[string]string{
		`UPDATE counts SET pending = pending + 1 WHERE recipient = 1`:                                           "3 messages came, but the counts of the inboxes add up to 4",
		`UPDATE counts SET pending = pending - 1, taken = taken + 1 WHERE recipient = 1`:                        "holds 1 messages more than its count says",
		`UPDATE counts SET failed = 1 WHERE recipient = 1`:                                                      "the lane failed",
		`UPDATE messages SET taken_at = 1, taken_by = 'check' WHERE id = 1`:                                     "message 1 to agent 1 was taken, but stands in no transcript",
		`UPDATE messages SET entry = 1 WHERE id = 2`:                                                            "is pending, but stands in a transcript",
		`UPDATE messages SET taken_at = 1, taken_by = 'snooze' WHERE id = 2`:                                    "is snoozed for ever",
		`UPDATE messages SET taken_at = 1, taken_by = 'check', entry = 1 WHERE id = 3`:                          "is a question to the human, but stands",
		`DROP TRIGGER messages_stay; DELETE FROM messages WHERE id = 2`:                                         "of the newest messages, 1 are gone",
		`DROP TRIGGER messages_stay; DELETE FROM messages; UPDATE counts SET pending = 0, needs = 0, done = 0;`: "",
	} {
		w := fresh(t)
		for _, m := range []Message{{Body: "one"}, {Body: "two"}, {Body: "three", Kind: Question}} {
			m.Sender = w.lint
			w.deposit(m)
		}
		w.counted()
		w.write(func(tx *store.Tx) error {
			if _, err := tx.Append(w.main, 0, "message", "[]"); err != nil {
				return err
			}
			for s := range strings.SplitSeq(spoil, ";") {
				if _, err := tx.Exec(s); err != nil {
					return err
				}
			}
			return nil
		})
		for name, look := range map[string]func(rx *store.Rx) (Totals, error){"glance": Glance, "ledger": w.box.Totals} {
			err := w.db.Read(t.Context(), func(rx *store.Rx) error {
				l, err := look(rx)
				if got := strings.Join(l.Wrong, "; "); name == "glance" && !strings.Contains(got, says) || got == "" && says != "" {
					t.Errorf("%s, %s: %q, want %q", spoil, name, got, says)
				}
				return err
			})
			if err != nil {
				t.Error(spoil, err)
			}
		}
	}
}

// Messages are not deleted.
func TestMessages_stay(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Body: "one"})
	err := w.db.Write(t.Context(), "spoil", func(tx *store.Tx) error {
		_, err := tx.Exec(`DELETE FROM messages`)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "messages are kept") {
		t.Error(err)
	}
}

// The rest is counted only up to a limit, and the text says so.
func TestTake_countsSoFar(t *testing.T) {
	w := fresh(t)
	w.fill(maxCounted + 6)
	for _, c := range []struct {
		limit int
		left  string
	}{{4, "1000+"}, {1, "1000+"}, {1, "1000"}, {2, "998"}} {
		if _, left := w.take(Query{Priority: Normal, Limit: c.limit}); Left(left) != c.left {
			t.Errorf("%s are left, want %s", Left(left), c.left)
		}
	}
	w.fill(500)
	if _, left := w.take(Query{Limit: 1}); Left(left) != "1497" {
		t.Errorf("%s are left: what is kept is known", Left(left))
	}
}

// Queries that must be cheap for any number of messages use an index.
func TestPlans(t *testing.T) {
	w := fresh(t)
	p := Query{Recipient: w.main, sender: w.lint, From: "lint"}.condition()
	from, _ := p.walks("1")
	urgent, _ := Query{Recipient: w.main, Priority: Urgent}.condition().walks("1")
	due, _ := Query{Recipient: w.main, Deliver: []Deliver{Next, Wake}}.condition().walks("1")
	list, _ := Query{Recipient: w.main, Asks: true}.condition().walk("id", "IS NULL")
	listAll, _ := Query{Recipient: w.main, Asks: true}.condition().walk("id", "IS NOT NULL")
	for query, index := range map[string]string{
		from: "messages_pending_sender", urgent: "messages_pending_priority", due: "messages_pending_deliver",
		list + ` ORDER BY id LIMIT 50`: "messages_pending", listAll + ` ORDER BY id DESC LIMIT 50`: "messages_taken",
		`SELECT 1 FROM messages WHERE recipient = 1 AND lane = 'needs' AND taken_at IS NULL`: "messages_pending_lane",
		`SELECT count(*) FROM messages WHERE recipient = 1 AND taken_at IS NULL`:             "messages_pending",
		asking: "messages_asking",
	} {
		err := w.db.Read(t.Context(), func(rx *store.Rx) error {
			rows, err := rx.Query("EXPLAIN QUERY PLAN "+query, slices.Repeat([]any{nil}, strings.Count(query, "?"))...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				scans := strings.Contains(detail, "messages") && !strings.Contains(detail+" ", " "+index+" ")
				if scans || strings.Contains(detail, "TEMP B-TREE") {
					t.Errorf("%s\n%s, want %s", query, detail, index)
				}
			}
			return rows.Err()
		})
		if err != nil {
			t.Error(query, err)
		}
	}
}
