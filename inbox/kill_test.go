package inbox

import (
	"context"
	"encoding/json"
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

// acks are the acknowledgements of killed children.
type acks struct {
	deposited map[string]int64 // body: id
	taken     map[int64]int64  // id: entry
}

// TestKill kills processes that deposit and take, at random moments after their start or after their first
// acknowledgement, and then checks that everything they acknowledged is there.
//
// Spec: N-15, Q-42.
func TestKill(t *testing.T) {
	n := long.Times(12, 150)
	const lanes = 2
	for lane := range lanes {
		t.Run(fmt.Sprint("lane", lane), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(storetest.Dir(t), "fantail.db")
			w := at(t, path)
			for i := range senders {
				w.agent(fmt.Sprint("s", i))
			}
			if err := w.db.Close(); err != nil {
				t.Fatal(err)
			}
			a := acks{map[string]int64{}, map[int64]int64{}}
			little := func() bool { return len(a.deposited) < n/lanes/3 || len(a.taken) < n/lanes/6 }
			for generation := 0; generation < n/lanes || generation < 100 && little(); generation++ { // a slow machine does little in each
				a.killed(t, path, generation)
				if (generation+1)%50 == 0 && !t.Failed() {
					a.check(t, path)
				}
			}
			a.check(t, path)
			t.Logf("at least %d kills, %d deposits and %d takes acknowledged", n/lanes, len(a.deposited), len(a.taken))
			if little() {
				t.Error("too little happened between the kills to prove anything")
			}
		})
	}
}

// killed runs a child for a while, kills it and records its acknowledgements. How long a child takes to start depends
// on the machine, so two of three are killed at work.
func (a acks) killed(t *testing.T, path string, generation int) {
	t.Helper()
	p := spawn(t, "live", path, generation)
	var first []string
	if generation%3 > 0 {
		line, ok := <-p.lines
		if !ok {
			t.Fatal("the child ended by itself")
		}
		first = append(first, line)
	}
	<-time.After(rand.N(50 * time.Millisecond))
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	lines := append(first, p.all()...)
	err := p.Wait()
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended by itself: %v", err)
	}
	for _, line := range lines {
		var id, entry int64
		var body, data string
		if _, err := fmt.Sscanf(line, "d %d %s", &id, &body); err == nil {
			a.deposited[body] = id
			continue
		}
		var ids []int64
		if _, err := fmt.Sscanf(line, "t %d %s", &entry, &data); err != nil || json.Unmarshal([]byte(data), &ids) != nil {
			t.Fatalf("the child said %q", line)
		}
		for _, id := range ids {
			if a.taken[id] != 0 {
				t.Errorf("message %d was taken into %d and into %d", id, a.taken[id], entry)
			}
			a.taken[id] = entry
		}
	}
}

type row struct {
	id, entry int64
	sender    string // generation/sender
	seq       int
	body      string
}

// check compares the file with the acknowledgements.
func (a acks) check(t *testing.T, path string) {
	t.Helper()
	w := at(t, path)
	defer w.db.Close()
	w.sound()
	rows, entries := w.content()

	byBody := make(map[string]row, len(rows))
	next := make(map[string]int)
	for _, r := range rows {
		if other, twice := byBody[r.body]; twice {
			t.Errorf("%s is stored twice: %d and %d", r.body, other.id, r.id)
		}
		byBody[r.body] = r
		if r.seq != next[r.sender] {
			t.Errorf("%s: message %d stands where %d is due", r.sender, r.seq, next[r.sender])
		}
		next[r.sender] = r.seq + 1
	}
	for body, id := range a.deposited {
		if r, ok := byBody[body]; !ok || r.id != id {
			t.Errorf("%s was acknowledged as %d and is %d", body, id, r.id)
		}
	}

	byID := make(map[int64]row, len(rows))
	pending := 0
	for _, r := range rows {
		byID[r.id] = r
		if r.entry == 0 {
			pending++
		}
	}
	read := make(map[string]int)
	count := 0
	for _, e := range entries {
		var ids []int64
		if err := json.Unmarshal([]byte(e.Data), &ids); err != nil || len(ids) == 0 {
			t.Fatalf("entry %d holds %q", e.Seq, e.Data)
		}
		for _, id := range ids {
			r := byID[id]
			if r.entry != e.Seq {
				t.Errorf("entry %d holds message %d, which says %d", e.Seq, id, r.entry)
			}
			if r.seq != read[r.sender] {
				t.Errorf("%s: message %d was taken where %d is due", r.sender, r.seq, read[r.sender])
			}
			read[r.sender] = r.seq + 1
			count++
		}
	}
	if count+pending != len(rows) {
		t.Errorf("%d messages: %d in entries and %d pending", len(rows), count, pending)
	}
	for id, entry := range a.taken {
		if byID[id].entry != entry {
			t.Errorf("message %d was acknowledged in entry %d and is in %d", id, entry, byID[id].entry)
		}
	}
}

// content returns all messages by id and all entries by seq.
func (w *world) content() (rows []row, entries []store.Entry) {
	w.t.Helper()
	err := w.db.Read(context.Background(), func(rx *store.Rx) error {
		found, err := rx.Query(`SELECT id, ifnull(entry, 0), CAST(body AS TEXT) FROM messages ORDER BY id`)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var r row
			var generation, sender int
			if err := found.Scan(&r.id, &r.entry, &r.body); err != nil {
				return err
			}
			if _, err := fmt.Sscanf(r.body, "%d/%d/%d", &generation, &sender, &r.seq); err != nil {
				return fmt.Errorf("body %q: %w", r.body, err)
			}
			r.sender = fmt.Sprint(generation, "/", sender)
			rows = append(rows, r)
		}
		if err := found.Err(); err != nil {
			return err
		}
		entries, err = rx.EntriesAfter(w.main, 0, 0)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows, entries
}

// fill deposits n messages in one transaction.
func (w *world) fill(n int) {
	w.t.Helper()
	w.write(func(tx *store.Tx) error {
		for i := range n {
			if _, err := w.box.Add(tx, Message{Recipient: w.main, Body: fmt.Sprintf("0/0/%d", i)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// partition fails the test unless the takes contain the n messages, each once, and each take in order.
func partition(t *testing.T, n int, takes [][]int64) {
	t.Helper()
	var all []int64
	for _, ids := range takes {
		if len(ids) == 0 {
			t.Error("one taker got nothing: they did not take beside each other")
		}
		if !slices.IsSorted(ids) {
			t.Error("a taker got them out of order")
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	if total, different := len(all), len(slices.Compact(all)); total != n || different != n {
		t.Errorf("%d taken, %d different, of %d", total, different, n)
	}
}

func TestTake_twoGoroutines(t *testing.T) {
	w := fresh(t)
	const n = 500
	w.fill(n)
	done := make(chan []int64)
	start := make(chan struct{})
	for range 2 {
		go func() {
			<-start
			var mine []int64
			for {
				var ms []Message
				err := w.db.Write(context.Background(), "take", func(tx *store.Tx) (err error) {
					ms, _, err = w.box.Take(tx, Query{Recipient: w.main, Limit: 3}, "check", into(tx, w.main))
					return err
				})
				if err != nil {
					t.Error(err)
				}
				for _, m := range ms {
					mine = append(mine, m.ID)
				}
				if len(ms) == 0 {
					done <- mine
					return
				}
			}
		}()
	}
	close(start)
	partition(t, n, [][]int64{<-done, <-done})
	w.sound()
}

// However many processes take at once, each message goes to one of them.
//
// Spec: N-19, N-20, E-5.
func TestTake_processes(t *testing.T) {
	w := fresh(t)
	n := long.Times(300, 3000)
	w.fill(n)
	began := time.Now()
	ps := make([]*process, 3)
	for i := range ps {
		ps[i] = spawn(t, "drain", w.db.Path(), "")
	}
	for _, p := range ps {
		if line := <-p.lines; line != "ready" {
			t.Fatalf("child said %q", line)
		}
	}
	for _, p := range ps {
		if err := p.stdin.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var takes [][]int64
	for _, p := range ps {
		var mine []int64
		for _, line := range p.all() {
			var entry int64
			var data string
			var ids []int64
			if _, err := fmt.Sscanf(line, "t %d %s", &entry, &data); err != nil || json.Unmarshal([]byte(data), &ids) != nil {
				t.Fatalf("child said %q", line)
			}
			mine = append(mine, ids...)
		}
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
		takes = append(takes, mine)
	}
	partition(t, n, takes)
	t.Logf("%d processes took %d messages in %v: none twice, none lost", len(ps), n, time.Since(began).Round(time.Millisecond))
	if changed, err := w.db.Changed(context.Background()); err != nil || !changed {
		t.Errorf("the parent sees no change: %v, %v", changed, err)
	}
	w.sound()
}

func TestDeposit_sameKeyFromAnotherProcess(t *testing.T) {
	w := fresh(t)
	id := w.deposit(Message{From: "ci", Body: "built", Key: "run 7"})
	for range 2 {
		p := spawn(t, "keyed", w.db.Path(), "run 7")
		lines := p.all()
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		if len(lines) != 1 || lines[0] != fmt.Sprint(id) {
			t.Errorf("the other process got %q, want %d", lines, id)
		}
	}
	p := spawn(t, "keyed", w.db.Path(), "run 8")
	lines := p.all()
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if again := w.deposit(Message{From: "ci", Body: "built", Key: "run 8"}); len(lines) != 1 || lines[0] != fmt.Sprint(again) {
		t.Errorf("this process got %d, the other before it %q", again, lines)
	}
	w.sound()
}
