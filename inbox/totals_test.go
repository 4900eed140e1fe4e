package inbox

import (
	"strings"
	"testing"

	"fantail/store"
)

func TestLedger_findsWhatIsWrong(t *testing.T) {
	w := fresh(t)
	a, b := w.main, w.lint
	ids := []int64{w.deposit(Message{Recipient: a, Sender: b, Body: "one"}), w.deposit(Message{Recipient: a, Sender: b, Body: "two"})}
	w.counted()
	look := func() (l Totals) {
		t.Helper()
		if err := w.db.Read(t.Context(), func(rx *store.Rx) (err error) { l, err = w.box.Totals(rx); return err }); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := look(); l.Pending != 2 || l.Taken != 0 || len(l.Wrong) != 0 {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct{ spoil, mend, says string }{
		{`UPDATE counts SET pending = 1`, `UPDATE counts SET pending = 2`, "holds 1 messages more"},
		{`UPDATE messages SET taken_at = 1 WHERE id = 1`, `UPDATE messages SET taken_at = NULL WHERE id = 1`, "stands in no transcript"},
		{`INSERT INTO counts (recipient, pending) VALUES (2, 3)`, `DELETE FROM counts WHERE recipient = 2`, "empty, but its count says 3"},
		{`INSERT INTO entries (agent, kind, data, created_at) VALUES (1, 'message', '{}', 1)`, ``, ""},
		{`UPDATE messages SET entry = 1 WHERE id = 2`, `UPDATE messages SET entry = NULL WHERE id = 2`, "is pending, but stands"},
	} {
		exec := func(query string) {
			t.Helper()
			if query == "" {
				return
			}
			if err := w.db.Write(t.Context(), "spoil", func(tx *store.Tx) error { _, err := tx.Exec(query); return err }); err != nil {
				t.Fatal(err)
			}
		}
		exec(c.spoil)
		if got := strings.Join(look().Wrong, "; "); !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.spoil, got, c.says)
		}
		exec(c.mend)
	}
	if l := look(); len(l.Wrong) != 0 || ids[1] != 2 {
		t.Errorf("%+v", l)
	}
}
