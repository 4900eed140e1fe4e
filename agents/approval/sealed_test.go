package approval_test

import (
	_ "embed"
	"strings"
	"testing"
	"testing/synctest"

	"fantail/store"
	"fantail/tools/permission"
)

//go:embed testdata/dispatchers.sql
var dispatchers string

// TestDispatch: a row that another program wrote lets no agent give work to a vendor's agent; the human's yes does,
// for that agent and vendor alone, until another program changes the row.
func TestDispatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		lets := func(who *agent, vendor string) bool {
			t.Helper()
			v := permission.Verdict{Decision: permission.AskHuman, Vendor: vendor}
			if err := d.Dispatch(t.Context(), who.id, &v); err != nil {
				t.Fatal(err)
			}
			return v.Decision == permission.Allow
		}
		does := func(f func(tx *store.Tx) error) {
			t.Helper()
			if err := d.db.Write(t.Context(), "test", f); err != nil {
				t.Fatal(err)
			}
		}
		sql := func(line int) {
			does(func(tx *store.Tx) error {
				_, err := tx.Exec(strings.Split(dispatchers, "\n")[line], d.main.id)
				return err
			})
		}
		sql(0)
		if lets(d.main, "claude") {
			t.Error("another program's row lets it")
		}
		does(func(tx *store.Tx) error { return d.LetDispatch(tx, d.main.id, "claude") })
		if !lets(d.main, "claude") || lets(d.main, "codex") || lets(d.sub, "claude") || lets(d.main, "") {
			t.Error("a yes lets not only what was asked, or not even that")
		}
		sql(1)
		sql(2)
		if lets(d.main, "codex") || lets(d.sub, "claude") {
			t.Error("a copied seal lets it")
		}
		sql(3)
		if lets(d.main, "claude") {
			t.Error("without its seal the row lets it")
		}
	})
}
