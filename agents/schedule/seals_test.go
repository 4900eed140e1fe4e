package schedule

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/tasks"
	"fantail/store"
)

func (b *bench) exec(statement string, args ...any) {
	b.Helper()
	b.write(func(tx *store.Tx) error { _, err := tx.Exec(statement, args...); return err })
}

// rows returns the rows that await confirmation.
func (b *bench) rows() *tasks.SealedRows {
	return &tasks.SealedRows{
		DB: b.db, Key: b.scheduler.o.Seals, Keepers: []tasks.SealKeeper{b.scheduler},
		Note: func(context.Context, *store.Tx, tasks.SealedRow, string) error { return nil },
	}
}

// TestSealed_anotherHand: a row that another program wrote, copied or changed does not fire, and the human is told
// once it was due. After a yes it fires, a no ends it; the human's other schedules are unaffected.
func TestSealed_anotherHand(t *testing.T) {
	const columns = `owner, origin, kind, text, deliver, priority, said, every_ms, due_at, created_at, seal`
	soon := func(b *bench) int64 { return b.now().Add(time.Minute).UnixMilli() }
	type c struct {
		name string
		do   func(b *bench)
	}
	set := func(what string) c {
		return c{what, func(b *bench) { b.exec(`UPDATE schedules SET ` + what + ` WHERE name = 'made'`) }}
	}
	all := []c{
		{"written without a seal", func(b *bench) {
			b.exec(`DELETE FROM schedules`)
			b.exec(`INSERT INTO schedules (name, `+columns+`) SELECT 'made', id, 'human', 'command', 'evil', 'next', 'normal', 'every 1h', 3600000, ?, 1, '' FROM agents`, soon(b))
		}},
		{"written with a seal of its own", func(b *bench) {
			b.exec(`DELETE FROM schedules`)
			b.exec(`INSERT INTO schedules (name, `+columns+`) SELECT 'made', id, 'human', 'command', 'evil', 'next', 'normal', 'every 1h', 3600000, ?, 1, hex(randomblob(32)) FROM agents`, soon(b))
		}},
		{"copied under another number", func(b *bench) {
			b.exec(`CREATE TEMP TABLE copy AS SELECT * FROM schedules`)
			b.exec(`DELETE FROM schedules`)
			b.exec(`INSERT INTO schedules (id, name, ` + columns + `) SELECT id + 1, name, ` + columns + ` FROM copy`)
		}},
		{"replaced under its number", func(b *bench) {
			b.exec(`INSERT OR REPLACE INTO schedules (id, name, ` + columns + `) SELECT id, name, owner, origin, kind, 'evil', deliver, priority, said, every_ms, due_at, created_at, seal FROM schedules`)
		}},
		{"its seal taken off", func(b *bench) { b.exec(`UPDATE schedules SET seal = ''`) }},
		{"paused, and active again", func(b *bench) {
			if _, err := b.scheduler.Pause(context.Background(), "made", 0); err != nil {
				b.Error(err)
			}
			b.exec(`UPDATE schedules SET state = 'active', due_at = ?`, soon(b))
		}},
		{"removed, and active again", func(b *bench) {
			if _, err := b.scheduler.Remove(context.Background(), "made", 0, "test"); err != nil {
				b.Error(err)
			}
			b.exec(`UPDATE schedules SET state = 'active', due_at = ?`, soon(b))
		}},
		{"due at once", func(b *bench) { b.exec(`UPDATE schedules SET due_at = ?`, b.now().UnixMilli()) }},
	}
	for _, what := range []string{
		`text = 'evil'`, `text = text || ' '`, `kind = 'task'`, `kind = 'reminder'`, `sandbox = 'off'`, `origin = 'agent'`, `dir = '/'`, `cancel_when = 'x'`,
		`checks = 'x'`, `always = 1`, `deliver = 'wake'`, `priority = 'urgent'`, `every_ms = 60000`, `delay_ms = 1`, `cron = '* * * * *'`, `at = 1`,
		`said = 'never'`, `name = 'mad' || 'e '`, `why = 'x'`, `runs = -1000`, `failures = -1000`, `created_at = 0`,
	} {
		all = append(all, set(what))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			var fires, holds record
			bubble(t, func(o *Options) {
				o.Fire = func(_ *store.Tx, f Firing) error { fires.add(f.Text); return nil }
				o.Held = func(_ context.Context, name string) { holds.add(name) }
			}, func(t *testing.T, b *bench) {
				b.add(Order{Kind: Command, Name: "made"}, "every 1h make")
				c.do(b)
				b.add(Order{Kind: Command, Name: "beside"}, "every 2h look")
				pass(3 * time.Hour)
				fired, held := fires.taken(), holds.taken()
				if !slices.Equal(fired, []string{"look"}) || len(held) != 1 || b.mail() != nil {
					t.Fatalf("fired: %q, held: %q, told: %q", fired, held, b.mail())
				}
				if s, _, err := b.scheduler.About(t.Context(), held[0]); err != nil || s.State != Held || !s.Due.IsZero() {
					t.Errorf("%+v, %v", s, err)
				}
				for verb, f := range map[string]func(context.Context, string, int64) (Schedule, error){"fire": b.scheduler.Fire, "pause": b.scheduler.Pause, "resume": b.scheduler.Resume} {
					if _, err := f(t.Context(), held[0], 0); err == nil || !strings.Contains(err.Error(), "/confirm") {
						t.Errorf("%s: %v", verb, err)
					}
				}
				wait, err := b.rows().Waiting(t.Context())
				if err != nil || len(wait) != 1 {
					t.Fatalf("%+v, %v", wait, err)
				}
				if err := b.rows().Confirm(t.Context(), wait...); err != nil {
					t.Fatal(err)
				}
				pass(3 * time.Hour)
				fired, held = fires.taken(), holds.taken()
				if len(held) != 0 || len(fired)+len(b.mail()) == 0 { // no run ends here
					t.Errorf("after the yes fired: %q, held: %q, told: %q", fired, held, b.mail())
				}
			})
		})
	}
	t.Logf("%d changes", len(all))
}

// record collects lines from any goroutine.
type record struct {
	mu   sync.Mutex
	list []string
}

func (r *record) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, text)
}

// taken returns the lines since the last call.
func (r *record) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// TestSealed_earlier: a schedule of an older version does not fire, is unchanged, and continues after a yes; a no ends
// it. A paused one stays paused.
func TestSealed_earlier(t *testing.T) {
	var fires record
	bubble(t, func(o *Options) {
		o.Fire = func(_ *store.Tx, f Firing) error { fires.add(f.Text); return nil }
	}, func(t *testing.T, b *bench) {
		for _, name := range []string{"on", "off", "away", "once"} {
			text := "every 1h "
			if name == "once" {
				text = "30m "
			}
			b.add(Order{Kind: Command, Name: name}, text+name)
		}
		if _, err := b.scheduler.Pause(t.Context(), "off", 0); err != nil {
			t.Fatal(err)
		}
		b.exec(`UPDATE schedules SET seal = ''`)
		if err := b.scheduler.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Hour)
		if fired := fires.taken(); len(fired) != 0 {
			t.Fatalf("fired: %q", fired)
		}
		if n, next := b.scheduler.Summary(); n != 0 || !next.IsZero() {
			t.Errorf("%d are active, the next %v", n, next)
		}
		wait, err := b.rows().Waiting(t.Context())
		if err != nil || len(wait) != 4 {
			t.Fatalf("%+v, %v", wait, err)
		}
		for _, r := range wait {
			if !strings.Contains(r.Says, "!"+r.Name) {
				t.Errorf("%s says %q", r.Name, r.Says)
			}
			answer := b.rows().Confirm
			if r.Name == "away" {
				answer = b.rows().Drop
			}
			if err := answer(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		pass(90 * time.Minute)
		fired := fires.taken()
		if slices.Sort(fired); !slices.Equal(fired, []string{"on", "once"}) {
			t.Errorf("fired: %q", fired)
		}
		if s, _, err := b.scheduler.About(t.Context(), "off"); err != nil || s.State != Paused {
			t.Errorf("%+v, %v", s, err)
		}
		if s, _, err := b.scheduler.About(t.Context(), "away"); err != nil || s.State != Ended || s.Why != "you did not confirm it" {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := b.scheduler.Resume(t.Context(), "off", 0); err != nil {
			t.Error(err)
		}
	})
}

// TestSealed_runs: a schedule that runs, is paused, resumed and fired stays sealed, over the next start and after the
// clock was set.
func TestSealed_runs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, off := filepath.Join(t.TempDir(), "fantail.db"), new(atomic.Int64)
		b := start(t, path, off, nil)
		b.add(Order{Kind: Reminder, Name: "tea"}, "every 1h tea")
		pass(3 * time.Hour)
		b.leap(-2 * time.Hour)
		pass(2 * time.Hour)
		for _, f := range []func(context.Context, string, int64) (Schedule, error){b.scheduler.Pause, b.scheduler.Resume, b.scheduler.Fire} {
			if _, err := f(t.Context(), "tea", 0); err != nil {
				t.Error(err)
			}
		}
		b.stop()
		b = start(t, path, off, nil)
		defer b.stop()
		if err := b.scheduler.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := len(b.mail())
		pass(time.Hour)
		if wait, err := b.rows().Waiting(t.Context()); err != nil || len(wait) != 0 || len(b.mail()) != before+1 || b.list()[0].State != Active {
			t.Errorf("%+v, %v, %q, %+v", wait, err, b.mail(), b.list())
		}
	})
}

// TestSealed_noKey: while the key can't be used nothing fires or is scheduled, and the rows stay as they are; once it
// can, they fire.
func TestSealed_noKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, off := filepath.Join(t.TempDir(), "fantail.db"), new(atomic.Int64)
		key := filepath.Join(filepath.Dir(path), tasks.KeyFile)
		b := start(t, path, off, nil)
		b.add(Order{Kind: Reminder, Name: "tea"}, "30m tea")
		was := fmt.Sprintf("%+v", b.list())
		b.stop()
		if err := os.Chmod(key, 0o644); err != nil {
			t.Fatal(err)
		}
		b = start(t, path, off, nil)
		if err := b.scheduler.Recover(t.Context()); err != nil {
			t.Error(err)
		}
		pass(time.Hour)
		b.leap(-time.Minute)
		if got := b.mail(); got != nil || fmt.Sprintf("%+v", b.list()) != was {
			t.Errorf("%q, %+v", got, b.list())
		}
		if _, err := b.try(Order{Kind: Reminder}, "5m more"); err == nil || !strings.Contains(err.Error(), "0644") {
			t.Errorf("it can be scheduled: %v", err)
		}
		b.stop()
		if err := os.Chmod(key, 0o600); err != nil {
			t.Fatal(err)
		}
		b = start(t, path, off, nil)
		defer b.stop()
		if got := b.mail(); len(got) != 1 || !strings.Contains(got[0], "tea") {
			t.Errorf("%q", got)
		}
	})
}
