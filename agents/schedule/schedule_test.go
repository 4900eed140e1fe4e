package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"go.uber.org/goleak"

	"fantail/.ci/long"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Scheduler over a database of its own, whose wall clock can be set.
type bench struct {
	*testing.T
	db        *store.DB
	scheduler *Scheduler
	off       *atomic.Int64 // how far the clock is ahead
	main      int64
	wakes     atomic.Int64 // how often the Scheduler looked at the rows
	stop      func()
}

// start starts a Scheduler; call it inside a bubble. change may change its options.
func start(t *testing.T, path string, off *atomic.Int64, change func(o *Options)) *bench {
	t.Helper()
	b := &bench{T: t, off: off}
	db, err := storetest.Open(t.Context(), path, store.Options{Now: b.now})
	if err != nil {
		t.Fatal(err)
	}
	b.db = db
	b.write(func(tx *store.Tx) error {
		a, ok, err := tx.AgentByName("main")
		if b.main = a.ID; err == nil && !ok {
			b.main, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", State: "idle"})
		}
		return err
	})
	o := Options{
		DB: db, Seals: tasks.LoadLastingSeal(filepath.Dir(path)), Inbox: inbox.New(db, nil), Now: b.now, Zone: time.UTC, Changed: func() { b.wakes.Add(1) },
		Heir:    func(_ *store.Tx, agent int64) (int64, error) { return agent, nil },
		Trouble: func(err error) { t.Errorf("trouble: %v", err) },
	}
	if change != nil {
		change(&o)
	}
	b.scheduler = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		b.scheduler.Run(ctx)
		close(done)
	}()
	b.stop = func() {
		cancel()
		<-done
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	return b
}

func (b *bench) now() time.Time { return time.Now().Add(time.Duration(b.off.Load())).UTC() }

// leap sets the clock.
func (b *bench) leap(d time.Duration) {
	b.off.Add(int64(d))
	b.scheduler.Leapt()
	synctest.Wait()
}

func (b *bench) write(f func(tx *store.Tx) error) {
	b.Helper()
	if err := b.db.Write(context.Background(), "test", f); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) add(o Order, text string) Schedule {
	b.Helper()
	s, err := b.try(o, text)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// try schedules a text such as `30m tea`.
func (b *bench) try(o Order, text string) (Schedule, error) {
	w, rest, err := ParseWhen(text, b.now())
	if err != nil {
		return Schedule{}, err
	}
	o.When, o.Text, o.Owner, o.Origin = w, rest, b.main, cmp.Or(o.Origin, Human)
	s, err := b.scheduler.Add(context.Background(), o)
	synctest.Wait()
	return s, err
}

// mail returns the pending messages, oldest first, each as KIND: TEXT.
func (b *bench) mail() (all []string) {
	b.Helper()
	ms, err := inbox.New(b.db, nil).List(context.Background(), inbox.Query{Recipient: b.main})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range ms {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s: %s %s", m.Kind, m.Body, m.Error)))
	}
	return all
}

func (b *bench) list() (ss []Schedule) {
	b.Helper()
	if err := b.db.Read(context.Background(), func(rx *store.Rx) (err error) {
		ss, err = List(&rx.View, 0)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return ss
}

// bubble runs f with a new Scheduler in fake time.
func bubble(t *testing.T, change func(o *Options), f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, filepath.Join(t.TempDir(), "fantail.db"), new(atomic.Int64), change)
		defer func() { b.stop() }()
		f(t, b)
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Spec: O-4, O-35.
func TestReminder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		b.add(Order{Kind: Reminder}, "30m commit your work")
		pass(30*time.Minute - time.Second)
		if got := b.mail(); got != nil {
			t.Fatalf("it came early: %q", got)
		}
		pass(time.Second)
		if got := b.mail(); !slices.Equal(got, []string{"reminder: commit your work"}) {
			t.Fatalf("%q", got)
		}
		pass(48 * time.Hour)
		if got := b.mail(); len(got) != 1 || len(b.list()) != 0 {
			t.Errorf("it fired again: %q, %+v", got, b.list())
		}
	})
}

// TestReminder_afterARestart: a reminder that was due while no process ran comes once, at the next start, and says
// that it is late.
//
// Spec: R-2, E-28.
func TestReminder_afterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, off := filepath.Join(t.TempDir(), "fantail.db"), new(atomic.Int64)
		b := start(t, path, off, nil)
		b.add(Order{Kind: Reminder}, "30m tea")
		b.add(Order{Kind: Reminder}, "every 30m stretch")
		b.stop()
		pass(2*time.Hour + 10*time.Minute)
		b = start(t, path, off, nil)
		want := []string{
			"reminder: tea (late: it was due Sat 1 Jan 00:30)", "reminder: stretch (late: it was due Sat 1 Jan 00:30; 3 more missed)",
		}
		if got := b.mail(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		b.stop()
		b = start(t, path, off, nil)
		defer b.stop()
		pass(20*time.Minute - time.Second)
		if got := b.mail(); len(got) != 2 {
			t.Errorf("it fired twice: %q", got)
		}
		pass(time.Second)
		if got := b.mail(); len(got) != 3 || got[2] != "reminder: stretch" {
			t.Errorf("the next is not on time: %q", got)
		}
	})
}

// TestRun_twoProcesses: two processes over the same rows fire each schedule once.
func TestRun_twoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, off := filepath.Join(t.TempDir(), "fantail.db"), new(atomic.Int64)
		one := start(t, path, off, nil)
		defer one.stop()
		for n := range 8 {
			one.add(Order{Kind: Reminder}, fmt.Sprintf("1m tea %d", n))
		}
		two := start(t, path, off, nil)
		defer two.stop()
		pass(time.Minute)
		pass(time.Minute) // one may have waited for the other's lock
		if got := one.mail(); len(got) != 8 {
			t.Errorf("%d reminders: %q", len(got), got)
		}
	})
}

// TestRun_idle: between two fires the Scheduler reads no rows, with ten schedules; without any it never does.
func TestRun_idle(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		before := b.wakes.Load()
		pass(1000 * time.Hour)
		if n := b.wakes.Load() - before; n != 0 {
			t.Errorf("it looked %d times though nothing is scheduled", n)
		}
		for n := range 10 {
			b.add(Order{Kind: Reminder}, fmt.Sprintf("every %dh tea", 10+n))
		}
		before = b.wakes.Load()
		pass(10*time.Hour - time.Second)
		if n := b.wakes.Load() - before; n != 0 {
			t.Errorf("it looked %d times before anything was due", n)
		}
		pass(time.Second)
		if n := b.wakes.Load() - before; n == 0 || n > 2 {
			t.Errorf("it looked %d times when one was due", n)
		}
	})
}

// TestAlarm: on a machine whose sleep delays timers, an alarm is set for the next schedule, and none if there is none.
// One that can't be set is tried again.
func TestAlarm(t *testing.T) {
	var at time.Time
	var broken error
	var told []error
	var mu sync.Mutex // of these
	change := func(o *Options) {
		o.Alarm = func(next time.Time) error {
			mu.Lock()
			defer mu.Unlock()
			at = next
			return broken
		}
		o.Trouble = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		}
	}
	breaks := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		broken = err
	}
	bubble(t, change, func(t *testing.T, b *bench) {
		if !at.IsZero() {
			t.Errorf("nothing is due, and the alarm stands at %v", at)
		}
		b.add(Order{Kind: Reminder}, "2h supper")
		if tea := b.add(Order{Kind: Reminder}, "30m tea"); !at.Equal(tea.Due) {
			t.Errorf("it stands at %v, not %v", at, tea.Due)
		}
		b.off.Add(int64(time.Hour)) // the machine sleeps, and wakes up with the alarm
		b.scheduler.Leapt()
		synctest.Wait()
		if got := b.mail(); len(got) != 1 || !strings.HasPrefix(got[0], "reminder: tea (late") {
			t.Errorf("%q", got)
		}
		if supper := b.list()[0]; !at.Equal(supper.Due) {
			t.Errorf("it stands at %v, not %v", at, supper.Due)
		}
		if told != nil {
			t.Errorf("trouble: %v", told)
		}
		breaks(errors.New("no alarm"))
		b.add(Order{Kind: Reminder}, "3h night")
		synctest.Wait()
		breaks(nil)
		pass(retry)
		if len(told) != 2 || !strings.Contains(fmt.Sprint(told[0]), "no alarm") || told[1] != nil {
			t.Errorf("told %v", told)
		}
		pass(3 * time.Hour)
		if got := b.mail(); len(got) != 3 || !at.IsZero() {
			t.Errorf("%q, and the alarm stands at %v", got, at)
		}
	})
}

// TestRun_random sets clocks and lets machines sleep over schedules, and compares the fires with the due times.
//
// Spec: E-28.
func TestRun_random(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for range long.Times(1, 5) {
		bubble(t, func(o *Options) { o.Zone = berlin }, func(t *testing.T, b *bench) {
			b.leap(time.Duration(rng.IntN(365*5*24)) * time.Hour)
			type track struct {
				Schedule
				next time.Time
				want []string
			}
			var tracks []*track
			for n, form := range []string{
				"every %dm x", "every %dh x", "every day %d:30 x", "every monday %d:00 x", "cron %d 2 * * * x", "%dh x", "%dd x",
			} {
				s := b.add(Order{Kind: Reminder, Name: fmt.Sprint("s", n)}, fmt.Sprintf(form, 5+rng.IntN(18)))
				tracks = append(tracks, &track{Schedule: s, next: s.Due})
			}
			// expect calculates what must have fired by now: each due time or, after a leap, one catch-up.
			expect := func(leapt bool) {
				now := milli(b.now())
				for _, tr := range tracks {
					var all []time.Time
					for !tr.next.IsZero() && !tr.next.After(now) && len(tr.want)+len(all) < MaxRuns || leapt && len(all) > 0 && !tr.next.IsZero() && !tr.next.After(now) {
						due := tr.next
						all, tr.next = append(all, due), time.Time{}
						if !tr.When.Repeats() {
							break
						}
						if tr.next, _, err = tr.When.Next(due, due.In(berlin)); err != nil {
							t.Fatal(err)
						}
					}
					if leapt && len(all) > 0 {
						tr.want = append(tr.want, fmt.Sprint(all[0].UTC().Format(time.DateTime), now.UTC().Format(time.DateTime), len(all)-1))
						continue
					}
					for _, due := range all {
						tr.want = append(tr.want, fmt.Sprint(due.UTC().Format(time.DateTime), due.UTC().Format(time.DateTime), 0))
					}
				}
			}
			for range 25 {
				if rng.IntN(3) == 0 {
					b.leap(time.Duration(rng.IntN(20*24*60)) * time.Minute)
					expect(true)
					continue
				}
				pass(time.Duration(rng.IntN(36*60)) * time.Minute)
				expect(false)
			}
			for _, tr := range tracks {
				var got []string
				if err := b.db.Read(context.Background(), func(rx *store.Rx) error {
					rs, err := Runs(&rx.View, tr.ID, 1000)
					for _, r := range slices.Backward(rs) {
						got = append(got, fmt.Sprint(r.Due.UTC().Format(time.DateTime), r.Fired.UTC().Format(time.DateTime), r.Missed))
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, tr.want) {
					t.Errorf("%s (%s): fired\n%s\nnot\n%s", tr.Name, tr.When.Text, strings.Join(got, "\n"), strings.Join(tr.want, "\n"))
				}
			}
		})
	}
}

// TestLeap: a clock put back fires nothing again, and nothing waits for the time it showed.
//
// Spec: E-28.
func TestLeap(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		b.add(Order{Kind: Reminder}, "every day 9:00 tea")
		b.add(Order{Kind: Reminder}, "every 30m stretch")
		pass(9*time.Hour + time.Minute)
		fired := len(b.mail())
		b.leap(-time.Hour)
		pass(29 * time.Minute)
		if n := len(b.mail()); n != fired {
			t.Fatalf("an hour back, %d more fired", n-fired)
		}
		pass(time.Minute)
		if n := len(b.mail()); n != fired+1 {
			t.Fatalf("the half hour is lost: %q", b.mail())
		}
		b.leap(365 * 24 * time.Hour)
		if n := len(b.mail()); n != fired+3 {
			t.Fatalf("a year ahead, %d fired: %q", n-fired-1, b.mail())
		}
		b.leap(-365 * 24 * time.Hour)
		for _, s := range b.list() {
			if d := s.Due.Sub(b.now()); d > 24*time.Hour {
				t.Errorf("%s is due in %s", s.Name, d)
			}
		}
		if n := len(b.mail()); n != fired+3 {
			t.Errorf("back again, %d fired: %q", n-fired-3, b.mail())
		}
	})
}

// TestRuns: after 100 runs a schedule stops, and says so.
//
// Spec: R-7, E-28.
func TestRuns(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		b.add(Order{Kind: Reminder, Name: "tea"}, "every 5m tea")
		pass(24 * time.Hour)
		got := b.mail()
		last := ""
		for _, m := range got {
			if strings.HasPrefix(m, "notice") {
				last = m
			}
		}
		if len(got) != MaxRuns+1 || !strings.Contains(last, "The schedule tea (every 5m) ended: it ran 100 times") {
			t.Errorf("%d messages, %q", len(got), last)
		}
	})
}

// TestLimits. Spec: R-7.
func TestLimits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		for range MaxTasks {
			b.add(Order{Kind: Task}, "every 1h look")
		}
		if _, err := b.try(Order{Kind: Task}, "1h look"); err == nil || !strings.Contains(err.Error(), "10 schedules are active") {
			t.Errorf("one more task: %v", err)
		}
		for range Ceiling {
			b.add(Order{Kind: Reminder}, "1h tea")
		}
		if _, err := b.try(Order{Kind: Reminder}, "1h tea"); err == nil || !strings.Contains(err.Error(), "50 reminders are active") {
			t.Errorf("one more reminder: %v", err)
		}
		if _, err := b.scheduler.Pause(t.Context(), "task-1", 0); err != nil {
			t.Fatal(err)
		}
		b.add(Order{Kind: Task}, "every 1h look")
		if _, err := b.scheduler.Resume(t.Context(), "task-1", 0); err == nil {
			t.Error("an eleventh was resumed")
		}
		for text, want := range map[string]string{"every 4m x": "least", "1h": "needs a prompt", "1h " + strings.Repeat("x", 4001): "4000"} {
			if _, err := b.try(Order{Kind: Task}, text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.20q: %v", text, err)
			}
		}
		for _, o := range []Order{
			{Name: "task-2"},
			{Name: "a b"},
			{Name: "1st"},
			{Name: strings.Repeat("n", 41)},
			{Kind: "x"},
			{CancelWhen: "green"},
			{Kind: Reminder, Checks: "test"},
			{Kind: Reminder, CancelWhen: "green"},
			{Kind: Command, Origin: Agent},
			{Kind: Command, Origin: CLI},
			{Kind: Command, Origin: Agent, Sandbox: NoSandbox},
			{Kind: Command, Origin: Human, Sandbox: "none"},
			{Kind: Task, Origin: Human, Sandbox: NoSandbox},
			{Kind: Reminder, Origin: Human, Sandbox: NoSandbox},
		} {
			if s, err := b.try(o, "1h look"); err == nil {
				t.Errorf("%+v is scheduled: %+v", o, s)
			}
		}
	})
}

// firings is a Fire that records what fired, or refuses.
type firings struct {
	all    []Firing
	mu     sync.Mutex // where refuse changes meanwhile
	refuse error
}

// refuses makes it refuse from now on; nil: fire.
func (f *firings) refuses(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = err
}

func (f *firings) fire(_ *store.Tx, g Firing) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse == nil {
		f.all = append(f.all, g)
	}
	return f.refuse
}

// TestFire: while the work of a task goes on, its schedule does not fire again.
//
// Spec: O-86.
func TestFire(t *testing.T) {
	f := &firings{}
	bubble(t, func(o *Options) { o.Fire = f.fire }, func(t *testing.T, b *bench) {
		b.add(Order{Name: "ci", CancelWhen: "green"}, "every 10m look at ci")
		pass(35 * time.Minute)
		if len(f.all) != 1 || f.all[0].Name != "ci" || f.all[0].Run.ID == 0 || f.all[0].Recipient != b.main || f.all[0].CancelWhen != "green" {
			t.Fatalf("%+v", f.all)
		}
		if _, err := b.scheduler.Fire(t.Context(), "ci", 0); err == nil || !strings.Contains(err.Error(), "runs already") {
			t.Errorf("fired by hand beside itself: %v", err)
		}
		b.write(func(tx *store.Tx) error {
			ended, err := End(tx, f.all[0].Run.ID, "completed", strings.Repeat("ä", 400), 0)
			if again, _ := End(tx, f.all[0].Run.ID, "failed", "", 0); !ended || again {
				t.Errorf("ended %v, again %v", ended, again)
			}
			return err
		})
		pass(5 * time.Minute)
		if len(f.all) != 2 || f.all[1].Runs != 2 {
			t.Fatalf("it does not go on: %+v", f.all)
		}
		if last := b.list()[0].Last; last.ID != f.all[1].Run.ID || !last.Ended.IsZero() {
			t.Errorf("%+v", last)
		}
		b.write(func(tx *store.Tx) error {
			before, ok, err := Before(&tx.View, f.all[1].Run)
			if !ok || before.Outcome != "completed" || len(before.Finding) > maxFinding+len("…") {
				t.Errorf("%+v", before)
			}
			return err
		})
	})
}

// TestFire_inVainThenNot: a start in between resets the count of failures.
//
// Spec: O-60.
func TestFire_inVainThenNot(t *testing.T) {
	f := &firings{}
	bubble(t, func(o *Options) { o.Fire = f.fire }, func(t *testing.T, b *bench) {
		b.add(Order{Name: "ci"}, "every 10m look at ci")
		for range 3 {
			f.refuses(errors.New("no sandbox here"))
			pass((maxFails - 1) * 10 * time.Minute)
			f.refuses(nil)
			pass(10 * time.Minute)
			b.write(func(tx *store.Tx) error {
				_, err := End(tx, f.all[len(f.all)-1].Run.ID, "completed", "", 0)
				return err
			})
		}
		if got := b.mail(); len(got) != 3*(maxFails-1) || len(f.all) != 3 || len(b.list()) != 1 {
			t.Errorf("%d started, %d schedules are left, and the mail says %q", len(f.all), len(b.list()), got)
		}
	})
}

// TestFire_inVain: work that can't start is reported each time, with its prompt and the reason, and after five times
// in a row the schedule ends.
//
// Spec: O-60.
func TestFire_inVain(t *testing.T) {
	f := &firings{refuse: errors.New("no sandbox here")}
	bubble(t, func(o *Options) { o.Fire = f.fire }, func(t *testing.T, b *bench) {
		b.add(Order{Name: "ci"}, "every 10m look at ci")
		pass(10 * time.Minute)
		if got := b.mail(); !slices.Equal(got, []string{"failure:  it could not start: no sandbox here"}) {
			t.Fatalf("%q", got)
		}
		pass(time.Hour * 5)
		got := b.mail()
		if len(got) != maxFails+1 || !strings.Contains(got[5], "could not start 5 times in a row: no sandbox here") || len(b.list()) != 0 {
			t.Errorf("%q", got)
		}
		if _, err := b.scheduler.Fire(t.Context(), "ci", 0); err == nil {
			t.Error("an ended one fired")
		}
		b.add(Order{Name: "ci"}, "every 10m look at ci") // its name is free again
		if _, err := b.scheduler.Fire(t.Context(), "ci", 0); err == nil || !strings.Contains(err.Error(), "no sandbox here") {
			t.Errorf("%v", err)
		}
	})
}

func TestChange(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.add(Order{Kind: Reminder, Name: "tea", Origin: Agent}, "1h tea")
		b.add(Order{Kind: Reminder, Name: "walk", Origin: Agent}, "every 1h walk")
		b.add(Order{Kind: Reminder, Name: "mine"}, "1d the human's")
		if none := (*NoneError)(nil); !errors.As(second(b.scheduler.Remove(ctx, "mine", b.main, "x")), &none) {
			t.Error("an agent removed what the human made")
		}
		if _, err := b.scheduler.Remove(ctx, "mine", 0, "x"); err != nil {
			t.Error(err)
		}
		other := b.main + 1
		for what, err := range map[string]error{
			"paused":  second(b.scheduler.Pause(ctx, "tea", other)),
			"removed": second(b.scheduler.Remove(ctx, "tea", other, "x")),
			"fired":   second(b.scheduler.Fire(ctx, "tea", other)),
			"resumed": second(b.scheduler.Resume(ctx, "tea", other)),
		} {
			if none := (*NoneError)(nil); !errors.As(err, &none) {
				t.Errorf("another's was %s: %v", what, err)
			}
		}
		for _, name := range []string{"tea", "walk"} {
			if s, err := b.scheduler.Pause(ctx, name, b.main); err != nil || s.State != Paused || !s.Due.IsZero() {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		if second(b.scheduler.Pause(ctx, "tea", 0)) == nil {
			t.Error("paused twice")
		}
		pass(90 * time.Minute)
		if got := b.mail(); got != nil {
			t.Fatalf("a paused one fired: %q", got)
		}
		if active, next := b.scheduler.Summary(); active != 0 || !next.IsZero() || b.scheduler.Stays(b.now()) != 0 {
			t.Errorf("%d active, next %s", active, next)
		}
		for _, name := range []string{"tea", "walk"} {
			if _, err := b.scheduler.Resume(ctx, name, 0); err != nil {
				t.Fatal(err)
			}
		}
		if second(b.scheduler.Resume(ctx, "walk", 0)) == nil {
			t.Error("resumed twice")
		}
		synctest.Wait()
		if got := b.mail(); len(got) != 1 || !strings.HasPrefix(got[0], "reminder: tea (late") {
			t.Errorf("%q", got)
		}
		if active, next := b.scheduler.Summary(); active != 1 || !next.Equal(milli(b.now().Add(time.Hour))) || b.scheduler.Stays(b.now()) != time.Hour+time.Second {
			t.Errorf("%d active, next %s", active, next)
		}
		if s, err := b.scheduler.Fire(ctx, "walk", 0); err != nil || s.Runs != 1 || s.Last.Outcome != "completed" {
			t.Errorf("%+v, %v", s, err)
		}
		if second(b.scheduler.Fire(ctx, "tea", 0)) == nil {
			t.Error("one that fired fired again")
		}
		if s, err := b.scheduler.Remove(ctx, "walk", b.main, "you removed it"); err != nil || s.State != Ended || s.Why != "you removed it" {
			t.Errorf("%+v, %v", s, err)
		}
		if err := b.db.Read(ctx, func(rx *store.Rx) error {
			s, err := Known(&rx.View, "walk")
			if s.Why != "you removed it" || s.Last.ID == 0 {
				t.Errorf("%+v", s)
			}
			if _, none := Known(&rx.View, "nap"); none == nil {
				t.Error("there is one that never was")
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		pass(3 * time.Hour)
		if got := b.mail(); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
}

func second(_ Schedule, err error) error { return err }

// TestStays: a schedule due within a day keeps the process that has the agents alive.
func TestStays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		b.add(Order{Kind: Reminder}, "25h tea")
		if b.scheduler.Stays(b.now()) != 0 {
			t.Error("it stays for more than a day")
		}
		pass(2 * time.Hour)
		if b.scheduler.Stays(b.now()) != 23*time.Hour+time.Second {
			t.Error("it does not stay for less than a day")
		}
	})
}

// TestRun_trouble: a database that refuses is tried again, and due schedules fire then.
func TestRun_trouble(t *testing.T) {
	var told []error
	broken := errors.New("no heir")
	var mended atomic.Bool
	heir := func(_ *store.Tx, agent int64) (int64, error) {
		if mended.Load() {
			return agent, nil
		}
		return 0, broken
	}
	bubble(t, func(o *Options) { o.Heir, o.Trouble = heir, func(err error) { told = append(told, err) } }, func(t *testing.T, b *bench) {
		b.add(Order{Kind: Reminder}, "1h tea")
		pass(time.Hour)
		if len(told) != 1 || !errors.Is(told[0], broken) || b.mail() != nil {
			t.Fatalf("%v, %q", told, b.mail())
		}
		mended.Store(true)
		pass(retry)
		if len(told) != 2 || told[1] != nil || len(b.mail()) != 1 {
			t.Errorf("%v, %q", told, b.mail())
		}
	})
}

// TestPast: ended schedules are read by pages, in both directions, and searched.
func TestPast(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *bench) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			if _, err := b.scheduler.Add(t.Context(), Order{Name: name, Owner: b.main, Kind: Reminder, Text: "Tea with " + name, When: After(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"b", "a", "e", "d"} {
			if _, err := b.scheduler.Remove(t.Context(), name, 0, "you removed it"); err != nil {
				t.Fatal(err)
			}
		}
		ids := map[string]int64{}
		list := func(p Past) (names string) {
			t.Helper()
			ss, err := b.scheduler.Past(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range ss {
				ids[s.Name] = s.ID
				names += s.Name
			}
			return names
		}
		if got := list(Past{Limit: 9}); got != "edba" {
			t.Errorf("all: %s", got)
		}
		for want, p := range map[string]Past{
			"ed": {Limit: 2}, "ba": {Limit: 2, Back: true}, "a": {Limit: 2, Before: ids["b"]}, "db": {Limit: 2, Before: ids["a"], Back: true},
			"b": {Limit: 2, Search: "tea WITH b"}, "e": {Limit: 1, Search: "REMOVED"}, "": {Limit: 2, Search: "with c"},
		} {
			if got := list(p); got != want {
				t.Errorf("%+v: %s, not %s", p, got, want)
			}
		}
		s, runs, err := b.scheduler.Look(t.Context(), ids["b"])
		if err != nil || s.Name != "b" || s.Why != "you removed it" || len(runs) != 0 {
			t.Errorf("%+v, %v, %v", s, runs, err)
		}
		if _, _, err := b.scheduler.Look(t.Context(), 99); err == nil {
			t.Error("a schedule that is not there was found")
		}
	})
}
