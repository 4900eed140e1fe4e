package figures

import (
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/history"
	"fantail/agents/mail"
	queued "fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/ui/uitest"

	"modernc.org/sqlite"
)

const (
	accepted  = "counts.txt"    // the counts that were accepted last
	explained = "explained.txt" // why a count was allowed to grow
)

var why = flag.String("why", "", "with -update, the `reason` why a count may grow")

// machine is what the accepted counts hold for: a release of Go, a system and an architecture.
func machine() string {
	release := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(release[:min(2, len(release))], ".") + " " + runtime.GOOS + "/" + runtime.GOARCH
}

// allowed is the part by which a count may grow unexplained.
func allowed(name string) float64 {
	if strings.HasPrefix(name, "program:") {
		return 0.03 // the linker repeats itself to the byte
	}
	return 0.10
}

// counts are values by name.
type counts map[string]float64

// readCounts reads lines of a name and a value. The first line says what machine they hold for.
func readCounts(text string) (of string, cs counts, err error) {
	of, rest, _ := strings.Cut(text, "\n")
	cs = counts{}
	for line := range strings.Lines(rest) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if cs[name], err = strconv.ParseFloat(value, 64); err != nil {
			return "", nil, fmt.Errorf("%q is no name, tab and value: %w", line, err)
		}
	}
	return of, cs, nil
}

// text is what readCounts reads.
func (cs counts) text() string {
	var b strings.Builder
	b.WriteString(machine() + "\n")
	names := make([]string, 0, len(cs))
	for name := range cs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s\t%.0f\n", name, cs[name])
	}
	return b.String()
}

// grown are the counts of now that are larger than cs allows, and fresh those that it lacks, each as a sentence.
func (cs counts) grown(now counts) (grown, fresh []string) {
	for name, n := range now {
		was, known := cs[name]
		switch {
		case !known:
			fresh = append(fresh, fmt.Sprintf("%s: %.0f, and no count was accepted before", name, n))
		case n > was*(1+allowed(name)):
			grown = append(grown, fmt.Sprintf("%s: from %.0f to %.0f (%+.0f %%)", name, was, n, 100*(n/was-1)))
		}
	}
	slices.Sort(grown)
	slices.Sort(fresh)
	return grown, fresh
}

// TestCounts compares what the machine does not decide, memory allocated and pages of the database read, with the counts
// in counts.txt. Where the program was built already, FANTAIL_FIGURES_FANTAIL names it, and its size and
// its errands are counted too.
func TestCounts(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too")
	}
	data, err := os.ReadFile(accepted)
	if err != nil {
		t.Fatal(err)
	}
	of, was, err := readCounts(string(data))
	if err != nil {
		t.Fatal(err)
	}
	update := flag.Lookup("update").Value.String() == "true"
	if of != machine() && !update {
		t.Skipf("the counts are those of %s, and this is %s: -update writes them anew", of, machine())
	}
	now := counts{}
	for _, count := range []func(*testing.T, counts){countQueue, countConversation, countInbox, countWaiting, countProgram, countErrands} {
		count(t, now)
	}
	if t.Failed() {
		return
	}
	t.Log("\n" + now.text())
	worse, fresh := was.grown(now)
	if !update {
		for _, line := range slices.Concat(worse, fresh) {
			t.Error(line)
		}
		if len(worse)+len(fresh) > 0 {
			t.Errorf("If that is right, say why: CGO_ENABLED=0 %s=PROGRAM go test ./ui/uitest/figures -run TestCounts -args -update -why REASON writes %s and %s. PROGRAM is the built program's path.",
				ours.variable(), accepted, explained)
		}
		return
	}
	if len(worse) > 0 && *why == "" {
		t.Fatalf("%s\nA count grows: give the reason with -why.", strings.Join(worse, "\n"))
	}
	for name, n := range now {
		was[name] = n
	}
	if err := os.WriteFile(accepted, []byte(was.text()), 0o644); err != nil {
		t.Fatal(err)
	}
	if len(worse) == 0 {
		return
	}
	reasons, err := os.ReadFile(explained)
	if err != nil {
		t.Fatal(err)
	}
	reasons = fmt.Appendf(reasons, "%s\n\t%s\n", strings.Join(worse, "\n"), *why)
	if err := os.WriteFile(explained, reasons, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGrown has counts that grow by little and by much.
func TestGrown(t *testing.T) {
	of, was, err := readCounts(counts{"a": 100, "b": 100, "program: size": 100}.text())
	if err != nil || of != machine() {
		t.Fatal(of, err)
	}
	if grown, fresh := was.grown(counts{"a": 110, "b": 1, "program: size": 103}); grown != nil || fresh != nil {
		t.Error(grown, fresh)
	}
	grown, fresh := was.grown(counts{"a": 111, "b": 100, "c": 1, "program: size": 104})
	want := "a: from 100 to 111 (+11 %)\nprogram: size: from 100 to 104 (+4 %)\nc: 1, and no count was accepted before"
	if got := strings.Join(slices.Concat(grown, fresh), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, _, err := readCounts("go\na\tx\n"); err == nil {
		t.Error("a word is taken for a count")
	}
}

// TestCountsFind has the program read the whole queue for each task that comes from another process.
func TestCountsFind(t *testing.T) {
	was, now := counts{}, counts{}
	countQueueWith(t, was, func(*store.DB) error { return nil })
	countQueueWith(t, now, func(db *store.DB) error {
		return db.Read(context.Background(), func(rx *store.Rx) error {
			_, err := rx.QueuedTasks()
			return err
		})
	})
	grown, _ := was.grown(now)
	for _, what := range []string{"push, allocations", "push, pages"} {
		if !slices.ContainsFunc(grown, func(line string) bool { return strings.Contains(line, what) }) {
			t.Errorf("the counts do not show it: %s is %v, and was %v", what, now["queue of 1,000: "+what], was["queue of 1,000: "+what])
		}
	}
}

// reader counts the pages that this process's connections to a database look at.
type reader struct {
	mu   sync.Mutex
	open []sqlite.ExecQuerierContext
}

func newReader() *reader {
	r := &reader{}
	sqlite.RegisterConnectionHook(func(c sqlite.ExecQuerierContext, _ string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open = append(r.open, c)
		return nil
	})
	return r
}

// pages is how many the open connections have looked at. None may work meanwhile.
func (r *reader) pages() (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		if !c.(interface{ IsValid() bool }).IsValid() {
			continue
		}
		for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
			n, _, _ := c.(sqlite.DBStatus).Status(op, false)
			sum += n
		}
	}
	return sum
}

// spent is what something took.
type spent struct{ allocations, bytes, pages float64 }

// least is what f takes, with all that it sets off in the session: the least of some runs, in which no memory is
// collected.
func least(s *uitest.Session, r *reader, runs int, f func(i int)) spent {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	all := spent{math.Inf(1), math.Inf(1), math.Inf(1)}
	var a, b runtime.MemStats
	for i := range runs {
		s.Wait(time.Second)
		read := r.pages()
		runtime.ReadMemStats(&a)
		f(i)
		s.Wait(time.Second)
		runtime.ReadMemStats(&b)
		all.allocations = math.Min(all.allocations, float64(b.Mallocs-a.Mallocs))
		all.bytes = math.Min(all.bytes, float64(b.TotalAlloc-a.TotalAlloc))
		all.pages = math.Min(all.pages, float64(r.pages()-read))
	}
	return all
}

// filled runs the program after fill wrote rows for main.
func filled(t *testing.T, fill func(tx *store.Tx, box *inbox.Inbox, main int64) error) *uitest.Session {
	t.Helper()
	s := uitest.Start(t, uitest.Options{Cap: 200})
	s.Stop()
	db := open(t, s.Home)
	err := db.Write(t.Context(), "fill", func(tx *store.Tx) error {
		main, _, err := tx.AgentByName("main")
		if err != nil {
			return err
		}
		return fill(tx, inbox.New(db, nil), main.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return uitest.Start(t, uitest.Options{Home: s.Home, Cap: 200})
}

// open opens the database of a session beside it.
func open(t *testing.T, h *uitest.Home) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(h.Data, "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// countQueue counts what a task and a letter from another process cost beside 1,000 that are queued.
func countQueue(t *testing.T, now counts) {
	countQueueWith(t, now, func(*store.DB) error { return nil })
}

// countQueueWith counts that together with what more does to the database.
func countQueueWith(t *testing.T, now counts, more func(*store.DB) error) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		s := filled(t, func(tx *store.Tx, _ *inbox.Inbox, main int64) error {
			for n := range 1000 {
				if _, err := tx.AddTask(store.Task{Queue: main, Name: fmt.Sprint("job", n), Prompt: "x", Origin: queued.OriginCLI, Deliver: "hold"}); err != nil {
					return err
				}
			}
			return nil
		})
		db := open(t, s.Home)
		d := &mail.Client{DB: db, Origin: queued.OriginCLI, Model: "builtin", Ring: func() {}}
		for _, c := range []struct {
			what string
			do   func() error
		}{
			{"push", func() error { _, err := d.Push(t.Context(), mail.OutsideOrder{Prompt: "x"}); return err }},
			{"send", func() error {
				_, err := d.Mail(t.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: "x"})
				return err
			}},
		} {
			took := least(s, r, 10, func(int) {
				if err := errors.Join(c.do(), more(db)); err != nil {
					t.Error(err)
				}
				s.Pool.Refresh(t.Context())
			})
			now["queue of 1,000: "+c.what+", allocations"] = took.allocations
			now["queue of 1,000: "+c.what+", pages"] = took.pages
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// countConversation counts the first turn of a conversation of 20,000 entries, and a key.
func countConversation(t *testing.T, now counts) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		s := filled(t, func(tx *store.Tx, _ *inbox.Inbox, main int64) error {
			for n := range 10_000 {
				for _, e := range []history.Entry{
					{Kind: history.EntryPrompt, Text: fmt.Sprintf("say answer %d with some words of prose", n)},
					{Kind: history.EntryText, Text: fmt.Sprintf("Answer **%d** with `code` and some words of prose.", n), Model: "builtin"},
				} {
					data, err := json.Marshal(e)
					if err == nil {
						_, err = tx.Append(main, 0, string(e.Kind), string(data))
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
		took := least(s, r, 1, func(int) {
			s.Enter("say the first turn is over")
			s.See("the first turn is over")
		})
		now["conversation of 20,000: first turn, bytes"] = took.bytes
		now["conversation of 20,000: first turn, pages"] = took.pages
		took = least(s, r, 20, func(int) { s.Type("x") })
		now["conversation of 20,000: key, allocations"] = took.allocations
		now["conversation of 20,000: key, bytes"] = took.bytes
	})
}

// countInbox counts what a page of an inbox of 20,000 messages costs.
func countInbox(t *testing.T, now counts) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		s := filled(t, func(tx *store.Tx, box *inbox.Inbox, main int64) error {
			for n := range 20_000 {
				if _, err := box.Add(tx, inbox.Message{Recipient: main, From: "ci", Deliver: inbox.Hold, Body: fmt.Sprintf("run %d is red: three tests of the parser fail since yesterday", n)}); err != nil {
					return err
				}
			}
			return nil
		})
		took := least(s, r, 5, func(int) {
			s.Enter("/inbox")
			s.See("run 19999 is red")
			s.Press("esc")
			s.Gone("run 19999 is red")
		})
		now["inbox of 20,000: a page, allocations"] = took.allocations
		now["inbox of 20,000: a page, pages"] = took.pages
	})
}

// countWaiting counts the memory of an agent that waits.
func countWaiting(t *testing.T, now counts) {
	const waiting = 100
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Cap: 200})
		held := func() float64 {
			var m runtime.MemStats
			for range 3 {
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc + m.StackInuse)
		}
		s.Wait(time.Second)
		before := held()
		for n := range waiting {
			s.Enter(fmt.Sprintf("/push name=w%d wait 1h", n))
		}
		s.Enter("/run")
		s.See(fmt.Sprintf("%d running", waiting))
		s.Wait(time.Minute)
		now["agent that waits: bytes"] = (held() - before) / waiting
	})
}

// countProgram counts the bytes of the built program that are loaded, which no stripping changes.
func countProgram(t *testing.T, now counts) {
	if ours.path() == "" {
		return
	}
	f, err := elf.Open(ours.path())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			now["program: bytes loaded"] += float64(p.Filesz)
		}
	}
}
