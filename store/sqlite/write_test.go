package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hold keeps the writer busy until the returned function is called, which waits for the write to end. Writes that queue
// meanwhile form one batch.
func hold(t *testing.T, db *DB) (release func()) {
	t.Helper()
	return during(t, func(wait func()) error {
		return db.onWriter(context.Background(), "hold", func(*conn) error {
			wait()
			return nil
		})
	})
}

// during runs f and returns when f waits. The returned function lets f go on, and waits for its end.
func during(t *testing.T, f func(wait func()) error) (release func()) {
	t.Helper()
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- f(func() {
			close(began)
			<-end
		})
	}()
	<-began
	return func() {
		close(end)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// queued waits until n writes are queued.
func queued(db *DB, n int) {
	for {
		db.writer.mu.Lock()
		got := len(db.writer.queue)
		db.writer.mu.Unlock()
		if got >= n {
			return
		}
		runtime.Gosched()
	}
}

// batch runs fs as one batch and returns their errors.
func batch(t *testing.T, db *DB, fs ...func(tx *Tx) error) []error {
	t.Helper()
	release := hold(t, db)
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = db.Write(context.Background(), fmt.Sprint("write ", i), f) })
		queued(db, i+1)
	}
	release()
	wg.Wait()
	return errs
}

func set(key string) func(tx *Tx) error {
	return func(tx *Tx) error { return note(tx, key) }
}

// TestWrite_takesInWhatQueuesMeanwhile: writes that queue while a batch runs join it, and commit with it.
func TestWrite_takesInWhatQueuesMeanwhile(t *testing.T) {
	db := fresh(t)
	release := during(t, func(wait func()) error {
		return db.Write(context.Background(), "first", func(tx *Tx) error {
			wait()
			return note(tx, "a")
		})
	})
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, key := range []string{"b", "c"} {
		wg.Go(func() {
			errs[i] = db.Write(context.Background(), key, func(tx *Tx) error {
				if ok, err := noted(&tx.View, "a"); !ok || err != nil {
					return fmt.Errorf("it is not in one transaction with the first: %v, %w", ok, err)
				}
				if outside := notes(t, db); len(outside) > 0 {
					return fmt.Errorf("others see %q", outside)
				}
				return note(tx, key)
			})
		})
		queued(db, i+1)
	}
	release()
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_commitsABatchOnce(t *testing.T) {
	db := fresh(t)
	var inside, outside []string
	errs := batch(t, db, set("a"), func(tx *Tx) error {
		if ok, err := noted(&tx.View, "a"); !ok || err != nil {
			return fmt.Errorf("the batch is not one transaction: %v, %w", ok, err)
		}
		inside = append(inside, "a")
		outside = notes(t, db)
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if len(inside) != 1 || len(outside) != 0 {
		t.Errorf("inside %q, outside %q: want a only inside", inside, outside)
	}
}

func TestWrite_triesAFailedBatchOneByOne(t *testing.T) {
	db := fresh(t)
	bad := errors.New("bad")
	var mu sync.Mutex
	var ran []string
	runs := map[string]int{}
	f := func(key string, err error) func(tx *Tx) error {
		return func(tx *Tx) error {
			mu.Lock()
			runs[key]++
			mu.Unlock()
			tx.AfterCommit(func() { ran = append(ran, key) })
			return errors.Join(note(tx, key), err)
		}
	}
	errs := batch(t, db, f("a", nil), f("b", bad), f("c", nil))
	if errs[0] != nil || !errors.Is(errs[1], bad) || errs[2] != nil {
		t.Errorf("errors %v: only the second fails", errs)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("kept %q", got)
	}
	if !slices.Equal(ran, []string{"a", "c"}) {
		t.Errorf("hooks ran for %q: not for what was rolled back, and once each", ran)
	}
	if runs["a"] != 2 || runs["b"] != 2 || runs["c"] != 1 {
		t.Errorf("runs %v: a and b with the batch and alone, c alone", runs)
	}
}

func TestWrite_runsHooksAfterCommitBeforeReturn(t *testing.T) {
	db := fresh(t)
	var order []string
	write(t, db, func(tx *Tx) error {
		tx.AfterCommit(func() { order = append(order, "first", strings.Join(notes(t, db), "")) })
		tx.AfterCommit(func() { order = append(order, "second") })
		return note(tx, "seen")
	})
	if want := []string{"first", "seen", "second"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// catch runs f and returns the value of its panic.
func catch(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestWrite_whenItsFunctionPanics(t *testing.T) {
	db := fresh(t)
	release := hold(t, db)
	var caught any
	var other error
	var wg sync.WaitGroup
	wg.Go(func() {
		caught = catch(func() {
			_ = db.Write(context.Background(), "panics", func(tx *Tx) error {
				if err := note(tx, "lost"); err != nil {
					return err
				}
				panic("oh")
			})
		})
		// The transaction is undone by now.
		other = db.Write(context.Background(), "after", set("after"))
	})
	queued(db, 1)
	wg.Go(func() {
		if err := db.Write(context.Background(), "beside", set("beside")); err != nil {
			t.Error(err)
		}
	})
	queued(db, 2)
	release()
	wg.Wait()
	if caught != "oh" || other != nil {
		t.Errorf("caught %v, then %v", caught, other)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"beside", "after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_whenItsFunctionEndsTheGoroutine(t *testing.T) {
	db := fresh(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = db.Write(context.Background(), "ends", func(tx *Tx) error {
			if err := note(tx, "lost"); err != nil {
				return err
			}
			runtime.Goexit()
			return nil
		})
	})
	wg.Wait()
	write(t, db, set("after"))
	if got := notes(t, db); !slices.Equal(got, []string{"after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_whenAHookPanics(t *testing.T) {
	db := fresh(t)
	ran := false
	caught := catch(func() {
		_ = db.Write(context.Background(), "rings", func(tx *Tx) error {
			tx.AfterCommit(func() { panic("oh") })
			tx.AfterCommit(func() { ran = true })
			return note(tx, "stands")
		})
	})
	if s, _ := caught.(string); !strings.Contains(s, `hook of write "rings" panicked: oh`) {
		t.Errorf("caught %v", caught)
	}
	if !ran {
		t.Error("the hook behind it did not run")
	}
	write(t, db, set("after"))
	if got := notes(t, db); !slices.Equal(got, []string{"stands", "after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_whenAHookEndsTheGoroutine(t *testing.T) {
	db := fresh(t)
	release := hold(t, db)
	var wg sync.WaitGroup
	var ran []string
	var beside error
	wg.Go(func() {
		_ = db.Write(context.Background(), "rings", func(tx *Tx) error {
			tx.AfterCommit(runtime.Goexit)
			tx.AfterCommit(func() { ran = append(ran, "its next") })
			return note(tx, "stands")
		})
		t.Error("the write whose hook ended the goroutine returned")
	})
	queued(db, 1)
	wg.Go(func() {
		beside = db.Write(context.Background(), "beside", func(tx *Tx) error {
			tx.AfterCommit(func() { ran = append(ran, "the other's") })
			return note(tx, "beside")
		})
	})
	queued(db, 2)
	release()
	wg.Wait()
	if beside != nil || !slices.Equal(ran, []string{"its next", "the other's"}) {
		t.Errorf("beside: %v; rung: %q", beside, ran)
	}
	write(t, db, set("after"))
	if got := notes(t, db); !slices.Equal(got, []string{"stands", "beside", "after"}) {
		t.Errorf("kept %q", got)
	}
}

// TestWrite_whenItEndsTheGoroutineOfAnother: the goroutine with the turn is gone, and no other write waits for it.
func TestWrite_whenItEndsTheGoroutineOfAnother(t *testing.T) {
	db := fresh(t)
	release := hold(t, db)
	var wg sync.WaitGroup
	var last error
	wg.Go(func() { _ = db.Write(context.Background(), "first", set("first")) })
	queued(db, 1)
	wg.Go(func() {
		_ = db.Write(context.Background(), "ends", func(tx *Tx) error {
			if err := note(tx, "lost"); err != nil {
				return err
			}
			runtime.Goexit()
			return nil
		})
	})
	queued(db, 2)
	wg.Go(func() { last = db.Write(context.Background(), "last", set("last")) })
	queued(db, 3)
	release()
	wg.Wait()
	write(t, db, set("after"))
	if got := notes(t, db); last != nil || !slices.Equal(got, []string{"last", "after"}) {
		t.Errorf("%v; kept %q", last, got)
	}
}

// bomb is a debt that panics once.
type bomb struct{ gone bool }

func (b *bomb) Pay(*Tx) error {
	if !b.gone {
		b.gone = true
		panic("oh")
	}
	return nil
}

// TestWrite_whenADebtPanics: the holder of the turn gets the panic; nothing is stored, and the next write finds no open
// transaction.
func TestWrite_whenADebtPanics(t *testing.T) {
	db := fresh(t)
	b := &bomb{}
	owes := func(key string) func(tx *Tx) error {
		return func(tx *Tx) error {
			Owe(tx, "bomb", func() Debt { return b })
			return note(tx, key)
		}
	}
	release := hold(t, db)
	var caught any
	var beside error
	var wg sync.WaitGroup
	wg.Go(func() { caught = catch(func() { _ = db.Write(context.Background(), "first", owes("first")) }) })
	queued(db, 1)
	wg.Go(func() { beside = db.Write(context.Background(), "beside", owes("beside")) })
	queued(db, 2)
	release()
	wg.Wait()
	if caught != "oh" || beside != nil {
		t.Errorf("caught %v; beside: %v", caught, beside)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"beside"}) {
		t.Errorf("kept %q", got)
	}
}

// TestWrite_manyWhoPanicFailAndLeave: whatever the others of a batch do, each write ends, and its result is true.
func TestWrite_manyWhoPanicFailAndLeave(t *testing.T) {
	db := fresh(t)
	const each = 60
	var wg sync.WaitGroup
	var mu sync.Mutex
	want := map[string]bool{}
	for w := range 8 {
		wg.Go(func() {
			for i := range each {
				key, is := fmt.Sprint(w, "-", i), (w*7+i)%9
				ctx, cancel := context.WithCancel(context.Background())
				if is == 3 {
					go cancel()
				}
				var err error
				caught := catch(func() {
					err = db.Write(ctx, key, func(tx *Tx) error {
						if err := note(tx, key); err != nil {
							return err
						}
						switch is {
						case 1:
							return errors.New(key)
						case 2:
							panic(key)
						}
						return nil
					})
				})
				cancel()
				switch {
				case is == 1 && (err == nil || !strings.Contains(err.Error(), key)), is == 2 && caught != key,
					is == 3 && err != nil && !errors.Is(err, context.Canceled), is != 2 && caught != nil, is > 3 && err != nil:
					t.Errorf("%s (%d): %v, caught %v", key, is, err, caught)
				}
				mu.Lock()
				want[key] = is != 2 && err == nil
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	got := map[string]bool{}
	for _, key := range notes(t, db) {
		got[key] = true
	}
	for key, is := range want {
		if got[key] != is {
			t.Errorf("%s is kept: %v", key, got[key])
		}
	}
}

func TestWrite_insideAWrite(t *testing.T) {
	db, second := fresh(t), fresh(t)
	inner := func(db *DB) { _ = db.Write(context.Background(), "inner", set("inner")) }
	for name, f := range map[string]func(tx *Tx) error{
		"function":         func(*Tx) error { inner(db); return nil },
		"deep in it":       func(*Tx) error { deep(200, func() { inner(db) }); return nil },
		"Changed":          func(*Tx) error { _, err := db.Changed(context.Background()); return err },
		"Close":            func(*Tx) error { return db.Close() },
		"another database": func(*Tx) error { inner(second); return nil },
	} {
		caught := catch(func() { _ = db.Write(context.Background(), "outer", f) })
		if s, _ := caught.(string); !strings.Contains(s, "inside") ||
			(strings.Contains(s, `"inner"`) && !strings.Contains(s, `"outer"`) && !strings.Contains(s, "of another database")) {
			t.Errorf("%s: caught %v", name, caught)
		}
	}
	caught := catch(func() {
		_ = db.Write(context.Background(), "outer", func(tx *Tx) error {
			tx.AfterCommit(func() { inner(db) })
			return nil
		})
	})
	if s, _ := caught.(string); !strings.Contains(s, `write "inner" inside write "outer"`) {
		t.Errorf("hook: caught %v", caught)
	}
	write(t, db, set("after"))
}

//go:noinline
func deep(n int, f func()) {
	if n > 0 {
		deep(n-1, f)
		return
	}
	f()
}

func TestWrite_contextBoundsTheWaitOnly(t *testing.T) {
	db := fresh(t)
	release := hold(t, db)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- db.Write(ctx, "waits", set("waits")) }()
	queued(db, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
	release()

	ctx, cancel = context.WithCancel(context.Background())
	err := db.Write(ctx, "runs", func(tx *Tx) error {
		cancel()
		return note(tx, "runs")
	})
	if err != nil {
		t.Errorf("running: %v", err)
	}
	if err := db.Write(ctx, "late", set("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"runs"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_transactionAfterItsEnd(t *testing.T) {
	db := fresh(t)
	var kept *Tx
	write(t, db, func(tx *Tx) error { kept = tx; return nil })
	if caught := catch(func() { _, _ = kept.Exec("SELECT 1") }); caught == nil {
		t.Error("it can still be used")
	}
}

func TestWrite_closesRowsLeftOpen(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx *Tx) error {
		for range 3 { // the same statement, while its rows are open
			rows, err := tx.Query(`SELECT name FROM sqlite_schema`)
			if err != nil {
				return err
			}
			if !rows.Next() {
				return errors.New("no rows")
			}
		}
		return note(tx, "kept")
	})
	if got := notes(t, db); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_moreStatementsThanAreKept(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx *Tx) error {
		for i := range maxStatements + 20 {
			var n int
			if err := tx.QueryRow(fmt.Sprintf("SELECT %d", i)).Scan(&n); err != nil || n != i {
				return fmt.Errorf("statement %d: %d, %w", i, n, err)
			}
		}
		return nil
	})
}

// limit lets the file grow by only n pages; to SQLite that is a full disk.
func limit(t *testing.T, db *DB, n int64) {
	t.Helper()
	err := db.onWriter(context.Background(), "limit", func(c *conn) error {
		pages, err := c.number("PRAGMA page_count")
		if err == nil {
			_, err = c.number(fmt.Sprintf("PRAGMA max_page_count = %d", pages+n))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWrite_whenTheFileIsFull(t *testing.T) {
	db := fresh(t)
	write(t, db, set("before"))
	limit(t, db, 2)
	big := strings.Repeat("x", 1<<16)
	err := db.Write(context.Background(), "big", func(tx *Tx) error {
		return note(tx, big)
	})
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("big: %v", err)
	}
	// A function that ignores the error which ended its transaction.
	err = db.Write(context.Background(), "stubborn", func(tx *Tx) error {
		_ = note(tx, big)
		_ = note(tx, "stubborn")
		var n int
		_ = tx.QueryRow(`SELECT 1`).Scan(&n)
		return nil
	})
	if !errors.Is(err, ErrFull) {
		t.Errorf("stubborn: %v", err)
	}
	errs := batch(t, db, func(tx *Tx) error {
		return note(tx, big)
	}, set("small"))
	if !errors.Is(errs[0], ErrFull) || errs[1] != nil {
		t.Errorf("batch: %v", errs)
	}
	limit(t, db, 1000)
	write(t, db, set("after"))
	if got := notes(t, db); !slices.Equal(got, []string{"before", "small", "after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_whenAnotherProcessKeepsTheLock(t *testing.T) {
	db := fresh(t)
	other := reopen(t, db.Path())
	release := during(t, func(wait func()) error {
		return other.Write(context.Background(), "keep", func(*Tx) error {
			wait()
			return nil
		})
	})
	begun := 0
	err := db.onWriter(context.Background(), "hurry", func(c *conn) error {
		c.trace = func(statement string) {
			if statement == "BEGIN IMMEDIATE" {
				begun++
			}
		}
		_, err := c.exec("PRAGMA busy_timeout = 20")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(context.Background(), "locked", set("locked")); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("locked: %v", err)
	}
	begun = 0
	for i, err := range batch(t, db, set("one"), set("two"), set("three")) {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%d of a batch: %v", i, err)
		}
	}
	if begun != 1 {
		t.Errorf("a batch waited %d times, want once", begun)
	}
	release()
	write(t, db, set("after"))
	if got := notes(t, db); !slices.Equal(got, []string{"after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestWrite_whenANewerProgramMigrated(t *testing.T) {
	db := fresh(t)
	other := reopen(t, db.Path())
	err := other.onWriter(context.Background(), "migrate", func(c *conn) error {
		_, err := c.exec("PRAGMA user_version = 99")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(context.Background(), "old", set("old")); !errors.Is(err, ErrNewer) {
		t.Errorf("write: %v", err)
	}
}

func TestWrite_afterItsConnectionBroke(t *testing.T) {
	db := fresh(t)
	err := db.onWriter(context.Background(), "break", func(c *conn) error { return c.c.Close() })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(context.Background(), "broken", set("broken")); err == nil {
		t.Error("a write on a closed connection went well")
	}
	write(t, db, set("after"))
	if changed, err := db.Changed(context.Background()); err != nil || !changed {
		t.Errorf("Changed after a new connection: %v, %v; it can't know, so yes", changed, err)
	}
	if got := notes(t, db); !slices.Equal(got, []string{"after"}) {
		t.Errorf("kept %q", got)
	}
}

func TestClose_letsQueuedWritesEnd(t *testing.T) {
	db := fresh(t)
	release := hold(t, db)
	done := make(chan error)
	go func() { done <- db.Write(context.Background(), "queued", set("queued")) }()
	queued(db, 1)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	release()
	if err := <-done; err != nil {
		t.Errorf("queued before Close: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := db.Write(context.Background(), "late", set("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("write after Close: %v", err)
	}
	if err := db.Read(context.Background(), func(*Rx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if got := notes(t, reopen(t, db.Path())); !slices.Equal(got, []string{"queued"}) {
		t.Errorf("kept %q", got)
	}
}

func TestChanged(t *testing.T) {
	db := fresh(t)
	other := reopen(t, db.Path())
	changed := func() bool {
		t.Helper()
		c, err := db.Changed(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if changed() {
		t.Error("nobody wrote yet")
	}
	write(t, db, set("own"))
	if changed() {
		t.Error("an own write counts")
	}
	write(t, other, set("other"))
	if !changed() {
		t.Error("another's write doesn't count")
	}
	if changed() {
		t.Error("it counts twice")
	}
	write(t, other, set("others"))
	if db.SawOthers() {
		t.Error("seen without a write")
	}
	write(t, db, set("own again"))
	if !db.SawOthers() || !changed() || db.SawOthers() || changed() {
		t.Error("a write does not see that another wrote, or it counts twice")
	}
}

func TestTx_local(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx *Tx) error {
		n := 0
		for range 2 {
			*tx.Local("key", func() any { n++; return new(int) }).(*int) += 1
		}
		if got := *tx.Local("key", nil).(*int); got != 2 || n != 1 {
			return fmt.Errorf("value %d, made %d times", got, n)
		}
		return nil
	})
}

func TestDB_insideABubble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	synctest.Test(t, func(t *testing.T) {
		var started []string
		db, err := Open(t.Context(), path, schema, Options{Go: func(name string, f func()) {
			started = append(started, name)
			go f()
		}})
		if err != nil {
			t.Fatal(err)
		}
		db.Patrol(func(err error) { t.Error(err) })
		var at time.Time
		write(t, db, func(tx *Tx) error {
			at = tx.Now()
			return note(tx, "a")
		})
		if want := time.Now().UTC().Truncate(time.Millisecond); !at.Equal(want) || at.Location() != time.UTC {
			t.Errorf("a transaction's time is %v, want the bubble's %v", at, want)
		}
		if got := notes(t, db); len(got) != 1 {
			t.Errorf("read %q", got)
		}
		<-time.After(time.Hour)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if len(started) != 1 {
			t.Errorf("started %q", started)
		}
		synctest.Wait() // the bubble ends only when all goroutines have ended
	})
}
