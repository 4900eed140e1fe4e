package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/store"
	"fantail/store/storetest"
)

// moves are what a child does with every third message. Nothing else changes those, so they must be in the state that
// it last reported, or that its next move leads to.
var moves = [...]string{byArchive, bySnooze, "restore", "due", "pin"}

// shelve deposits, takes and sets aside until it is killed. It reports each move of a message before and after it.
func (c *worker) shelve() error {
	main, err := c.find("main")
	if err != nil {
		return err
	}
	box := New(c.db, nil)
	failed := make(chan error, 3)
	deposited := make(chan int64, 64)
	go func() {
		for n := 0; ; n++ {
			id, err := box.Deposit(context.Background(), Message{Recipient: main, Body: fmt.Sprint(c.argument, "/", n), Priority: [...]Priority{Normal, Urgent}[n%2]})
			if err == nil {
				err = c.say("d %d", id)
			}
			if err != nil {
				failed <- err
				return
			}
			deposited <- id
		}
	}()
	var aside []int64
	go func() { // nothing else changes every third message
		for id := range deposited {
			if id%3 == 0 {
				aside = append(aside, id)
			}
			for range min(len(aside), 3) {
				if err := c.move(box, main, aside[rand.IntN(len(aside))]); err != nil {
					failed <- err
					return
				}
			}
			if id%3 != 0 {
				if err := c.collect(box, main, Query{IDs: []int64{id - 3, id}}); err != nil {
					failed <- err
					return
				}
			}
		}
	}()
	return <-failed
}

func (c *worker) move(box *Inbox, main, id int64) error {
	how := moves[rand.IntN(len(moves))]
	if err := c.say("? %d %s", id, how); err != nil {
		return err
	}
	err := c.db.Write(context.Background(), how, func(tx *store.Tx) (err error) {
		switch how {
		case byArchive:
			_, err = box.SetAside(tx, main, []int64{id}, time.Time{})
		case bySnooze:
			_, err = box.SetAside(tx, main, []int64{id}, tx.Now().Add(time.Hour))
		case "due":
			if _, err = box.SetAside(tx, main, []int64{id}, tx.Now()); err == nil {
				_, err = box.Unsnooze(tx)
			}
		case "restore":
			_, err = box.Restore(tx, main, []int64{id})
		case "pin":
			err = box.Pin(tx, main, id, rand.IntN(2) == 0)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.say("! %d %s", id, how)
}

// fates are the reports of killed children.
type fates struct {
	deposited map[int64]bool
	taken     map[int64]int64  // id: entry
	was       map[int64]string // TakenBy of a message after its last move
	may       map[int64]string // or by its next one, which was begun
}

// TestKill_aside kills processes that archive, snooze, restore and take, at random moments: their reports are true, no
// message is lost or doubled, and the counts are right.
//
// Spec: N-15, Q-42.
func TestKill_aside(t *testing.T) {
	n := long.Times(6, 50)
	path := filepath.Join(storetest.Dir(t), "fantail.db")
	w := at(t, path)
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	f := fates{map[int64]bool{}, map[int64]int64{}, map[int64]string{}, map[int64]string{}}
	little := func() bool { return len(f.was) < n/5 || len(f.taken) < n/5 }
	for generation := 0; generation < n || generation < 50 && little(); generation++ { // a slow machine does little in each
		f.killed(t, path, generation)
		if (generation+1)%25 == 0 && !t.Failed() {
			f.check(t, path)
		}
	}
	f.check(t, path)
	t.Logf("at least %d kills, %d deposits, %d takes and %d messages moved", n, len(f.deposited), len(f.taken), len(f.was))
	if little() {
		t.Error("too little happened between the kills to prove anything")
	}
}

func (f fates) killed(t *testing.T, path string, generation int) {
	t.Helper()
	p := spawn(t, "shelve", path, generation)
	var lines []string
	if line, ok := <-p.lines; ok {
		lines = append(lines, line)
	}
	<-time.After(rand.N(60 * time.Millisecond))
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, p.all()...)
	if err := p.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended by itself: %v", err)
	}
	for _, line := range lines {
		var id, entry int64
		var word string
		switch what, _ := fmt.Sscanf(line[1:], "%d %s", &id, &word); {
		case line[0] == 'd' && what >= 1:
			f.deposited[id] = true
		case line[0] == '?' && what == 2:
			f.may[id] = word
		case line[0] == '!' && what == 2:
			f.was[id] = fate(f.was[id], word)
			delete(f.may, id)
		default:
			var ids []int64
			if _, err := fmt.Sscanf(line, "t %d %s", &entry, &word); err != nil || json.Unmarshal([]byte(word), &ids) != nil {
				t.Fatalf("the child said %q", line)
			}
			for _, id := range ids {
				if f.taken[id] != 0 {
					t.Errorf("message %d was taken into %d and into %d", id, f.taken[id], entry)
				}
				f.taken[id] = entry
			}
		}
	}
}

// fate is the TakenBy of a message after a move.
func fate(was, move string) string {
	switch move {
	case byArchive, bySnooze:
		return move
	case "pin":
		return was
	}
	return ""
}

func (f fates) check(t *testing.T, path string) {
	t.Helper()
	w := at(t, path)
	defer w.db.Close()
	w.sound()
	rows := map[int64]Message{}
	for _, m := range w.selected(Selection{Of: Everything, Limit: 1 << 20}) {
		rows[m.ID] = m
	}
	for id := range f.deposited {
		if _, ok := rows[id]; !ok {
			t.Errorf("message %d was acknowledged and is not there", id)
		}
	}
	entries := w.entriesOf()
	in := map[int64]int64{}
	for _, e := range entries {
		var ids []int64
		if err := json.Unmarshal([]byte(e.Data), &ids); err != nil {
			t.Fatalf("entry %d holds %q", e.Seq, e.Data)
		}
		for _, id := range ids {
			if in[id] != 0 {
				t.Errorf("message %d stands in %d and in %d", id, in[id], e.Seq)
			}
			in[id] = e.Seq
		}
	}
	for id, m := range rows {
		switch was, may := f.was[id], f.may[id]; {
		case m.Entry != in[id]:
			t.Errorf("message %d says it is in entry %d, and is in %d", id, m.Entry, in[id])
		case f.taken[id] != 0 && f.taken[id] != m.Entry:
			t.Errorf("message %d was acknowledged in entry %d and is in %d", id, f.taken[id], m.Entry)
		case id%3 == 0 && m.TakenBy != was && (may == "" || m.TakenBy != fate(was, may)):
			t.Errorf("message %d is %q; it was said to be %q, then to become %q", id, m.TakenBy, was, may)
		}
		f.was[id] = m.TakenBy // settles a move that a kill interrupted
		if id%3 != 0 {
			delete(f.was, id)
		}
		delete(f.may, id)
	}
}

// entriesOf returns all entries of main by seq.
func (w *world) entriesOf() (entries []store.Entry) {
	w.t.Helper()
	err := w.db.Read(context.Background(), func(rx *store.Rx) (err error) {
		entries, err = rx.EntriesAfter(w.main, 0, 0)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return entries
}
