package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is a database whose clock the test sets.
func at(t *testing.T, now *time.Time) *DB {
	t.Helper()
	db, err := Open(t.Context(), t.TempDir()+"/fantail.db", Options{Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

func TestEntries_areAppendOnly(t *testing.T) {
	db := fresh(t)
	id := agent(t, db, "main")
	write(t, db, func(tx *Tx) error { _, err := tx.Append(id, 0, "text", "{}"); return err })
	for _, query := range []string{`UPDATE entries SET data = '[]'`, `DELETE FROM entries`, `REPLACE INTO entries SELECT * FROM entries`} {
		err := db.Write(context.Background(), "spoil", func(tx *Tx) error { _, err := tx.Exec(query); return err })
		if err == nil || !(strings.Contains(err.Error(), "append-only") || strings.Contains(err.Error(), "constraint")) {
			t.Errorf("%s: %v", query, err)
		}
	}
	read(t, db, func(rx *Rx) error {
		if es, err := rx.EntriesAfter(id, 0, 0); err != nil || len(es) != 1 || es[0].Data != "{}" {
			t.Errorf("%v, %v", es, err)
		}
		return nil
	})
}

func TestAgents(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	db := at(t, &now)
	main := agent(t, db, "main")
	var sub int64
	write(t, db, func(tx *Tx) (err error) {
		sub, err = tx.AddAgent(Agent{Name: "tests", Kind: "sub", Trust: "headless", Parent: main, Model: "m", State: "running"})
		return err
	})
	first := now.Truncate(time.Millisecond)
	want := Agent{ID: sub, Name: "tests", Kind: "sub", Trust: "headless", Parent: main, Model: "m", State: "running", Created: first}
	get := func(name string) (a Agent, ok bool) {
		t.Helper()
		read(t, db, func(rx *Rx) (err error) { a, ok, err = rx.AgentByName(name); return err })
		return a, ok
	}
	if got, _ := get("tests"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, ok := get("nobody"); ok {
		t.Error("nobody exists")
	}
	taken := db.Write(context.Background(), "again", func(tx *Tx) error {
		_, err := tx.AddAgent(Agent{Name: "tests", Kind: "sub", Model: "m", State: "idle"})
		return err
	})
	if !errors.Is(taken, ErrTaken) || !strings.Contains(taken.Error(), `"tests"`) {
		t.Errorf("same name: %v", taken)
	}
	if err := db.Write(context.Background(), "rename", func(tx *Tx) error { return tx.RenameAgent(sub, "main") }); !errors.Is(err, ErrTaken) {
		t.Errorf("rename: %v", err)
	}
	if err := db.Write(context.Background(), "nobody", func(tx *Tx) error { return tx.SetAgentState(99, "x", false) }); !errors.Is(err, ErrNoRows) {
		t.Errorf("state of nobody: %v", err)
	}

	step := func(f func(tx *Tx) error) Agent {
		t.Helper()
		now = now.Add(time.Minute)
		write(t, db, f)
		a, _ := get("tests")
		return a
	}
	a := step(func(tx *Tx) error { return tx.SetAgentState(sub, "done", true) })
	ended := now.Truncate(time.Millisecond)
	if a.State != "done" || !a.Ended.Equal(ended) {
		t.Errorf("ended: %+v", a)
	}
	if a = step(func(tx *Tx) error { return tx.SetAgentState(sub, "killed", true) }); !a.Ended.Equal(ended) {
		t.Errorf("the end moved: %+v", a)
	}
	if a = step(func(tx *Tx) error { return tx.SetAgentState(sub, "idle", false) }); !a.Ended.IsZero() {
		t.Errorf("alive again: %+v", a)
	}
	if a = step(func(tx *Tx) error { return tx.SetAgentModel(sub, "n") }); a.Model != "n" {
		t.Errorf("model: %+v", a)
	}
	a = step(func(tx *Tx) error { return tx.CloseAgent(sub) })
	if a.Closed.IsZero() {
		t.Errorf("closed: %+v", a)
	}
	read(t, db, func(rx *Rx) error {
		as, err := rx.Agents()
		if err != nil || len(as) != 1 || as[0].Name != "main" {
			t.Errorf("%+v, %v: closed ones are left out", as, err)
		}
		return nil
	})
	next := agent(t, db, "tests")
	if a, _ = get("tests"); a.ID != next {
		t.Errorf("%+v: the open one comes first", a)
	}
}

func TestTurns(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := at(t, &now)
	id := agent(t, db, "main")
	var one, two int64
	write(t, db, func(tx *Tx) (err error) {
		if one, err = tx.BeginTurn(Turn{Agent: id, Kind: "agent"}); err != nil {
			return err
		}
		for i := range 2 {
			if err := tx.AddStep(one, Step{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40, Cost: 50, Context: 100 * (i + 1)}); err != nil {
				return err
			}
		}
		if err := tx.SetSentUpTo(one, 0); err != nil {
			return err
		}
		if err := tx.EndTurn(one, "completed", ""); err != nil {
			return err
		}
		return tx.EndTurn(one, "killed", "too late")
	})
	now = now.Add(time.Second)
	write(t, db, func(tx *Tx) (err error) {
		two, err = tx.BeginTurn(Turn{Agent: id, Parent: one, Conversation: one, SpawnedBy: one, Kind: "agent"})
		return err
	})
	begun := now.Add(-time.Second)
	want := []Turn{
		{
			ID: one, Agent: id, Conversation: one, Kind: "agent", Outcome: "completed", Steps: 2, Input: 20, Output: 40, CacheRead: 60,
			CacheWrite: 80, Cost: 100, Context: 200, Started: begun, Ended: begun,
		},
		{ID: two, Agent: id, Parent: one, Conversation: one, SpawnedBy: one, Kind: "agent", Started: now},
	}
	read(t, db, func(rx *Rx) error {
		turns, err := rx.Turns(id)
		if err != nil || !reflect.DeepEqual(turns, want) {
			t.Errorf("turns %+v, %v\nwant %+v", turns, err, want)
		}
		if last, ok, err := rx.LastTurn(id); !ok || err != nil || !reflect.DeepEqual(last, want[1]) {
			t.Errorf("last %+v %v %v", last, ok, err)
		}
		if _, ok, err := rx.LastTurn(99); ok || err != nil {
			t.Errorf("nobody's last turn: %v %v", ok, err)
		}
		open, err := rx.OpenTurns()
		if err != nil || len(open) != 1 || open[0].ID != two {
			t.Errorf("open %+v, %v", open, err)
		}
		sum, err := rx.SumTurns(id)
		if err != nil || sum != (Turn{Agent: id, Steps: 2, Input: 20, Output: 40, CacheRead: 60, CacheWrite: 80, Cost: 100, Context: 200}) {
			t.Errorf("sum %+v, %v", sum, err)
		}
		if sum, err := rx.SumTurns(99); err != nil || sum != (Turn{Agent: 99}) {
			t.Errorf("nobody's sum %+v, %v", sum, err)
		}
		return nil
	})
}

func TestEntries(t *testing.T) {
	db := fresh(t)
	id, other := agent(t, db, "main"), agent(t, db, "other")
	odd := "nul \x00, not UTF-8 \xff\xfe, \r\n 🐦"
	var turn int64
	write(t, db, func(tx *Tx) (err error) {
		if turn, err = tx.BeginTurn(Turn{Agent: id, Kind: "agent"}); err != nil {
			return err
		}
		for i := range 10 {
			if _, err := tx.Append(id, map[bool]int64{true: turn}[i >= 5], fmt.Sprint("kind", i%2), fmt.Sprint(i)+odd); err != nil {
				return err
			}
			if _, err := tx.Append(other, 0, "kind0", "other"); err != nil {
				return err
			}
		}
		return nil
	})
	seqs := func(es []Entry, err error) (s string) {
		if err != nil {
			t.Error(err)
		}
		for _, e := range es {
			if e.Agent != id || !strings.HasSuffix(e.Data, odd) || e.Created.IsZero() {
				t.Errorf("%+v", e)
			}
			s += e.Data[:1]
		}
		return s
	}
	read(t, db, func(rx *Rx) error {
		es, err := rx.EntriesAfter(id, 0, 0)
		if got := seqs(es, err); got != "0123456789" {
			t.Errorf("all: %s", got)
		}
		fourth, eighth := es[4].Seq, es[8].Seq
		for want, got := range map[string]string{
			"567":    seqs(rx.EntriesAfter(id, fourth, 3)),
			"56789":  seqs(rx.EntriesAfter(id, fourth, 0)),
			"567 ":   seqs(rx.EntriesBefore(id, eighth, 3)) + " ",
			"789":    seqs(rx.EntriesBefore(id, 0, 3)),
			"0123":   seqs(rx.EntriesBefore(id, fourth, 0)),
			"56789 ": seqs(rx.TurnEntries(turn)) + " ",
		} {
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		if e, ok, err := rx.LastEntry(id, "kind0"); !ok || err != nil || e.Seq != eighth || e.Turn != turn {
			t.Errorf("last: %+v %v %v", e, ok, err)
		}
		if _, ok, err := rx.LastEntry(id, "none"); ok || err != nil {
			t.Errorf("last of none: %v %v", ok, err)
		}
		if seq, err := rx.LastSeq(id); seq != es[9].Seq || err != nil {
			t.Errorf("last seq %d, %v", seq, err)
		}
		if seq, err := rx.LastSeq(99); seq != 0 || err != nil {
			t.Errorf("last seq of nobody %d, %v", seq, err)
		}
		return nil
	})
}

func TestPrompts(t *testing.T) {
	db := fresh(t)
	id := agent(t, db, "main")
	var ids [4]int64
	var entry int64
	write(t, db, func(tx *Tx) (err error) {
		for i := range ids {
			if ids[i], err = tx.AddPrompt(id, fmt.Sprint("p", i), false); err != nil {
				return err
			}
		}
		entry, err = tx.Append(id, 0, "prompt", "{}")
		return errors.Join(err, tx.EnterPrompt(ids[0], entry))
	})
	write(t, db, func(tx *Tx) error {
		for i, want := range []bool{false, true} {
			if ok, err := tx.RemovePrompt(ids[i]); ok != want || err != nil {
				return fmt.Errorf("remove %d: %v, %w", i, ok, err)
			}
		}
		if err := tx.EnterPrompt(ids[1], entry); !errors.Is(err, ErrNoRows) {
			return fmt.Errorf("enter a removed prompt: %w", err)
		}
		if ps, err := tx.WaitingPrompts(id); err != nil || len(ps) != 2 || ps[0].Text != "p2" || ps[1].Text != "p3" || ps[0].Held {
			return fmt.Errorf("waiting %+v, %w", ps, err)
		}
		return tx.HoldPrompts(0)
	})
	read(t, db, func(rx *Rx) error {
		if ps, err := rx.Prompts(id); err != nil || len(ps) != 2 || !ps[0].Held || !ps[1].Held || ps[0].Created.IsZero() || ps[0].Agent != id {
			t.Errorf("held %+v, %v", ps, err)
		}
		return nil
	})
}

func TestTasks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := at(t, &now)
	id := agent(t, db, "main")
	add := func(tx *Tx, name string) (int64, error) {
		return tx.AddTask(Task{Queue: id, Name: name, Prompt: "do " + name, Model: "m", Timeout: 90 * time.Second, Deliver: "hold"})
	}
	var ids [3]int64
	write(t, db, func(tx *Tx) (err error) {
		for i := range ids {
			if ids[i], err = add(tx, fmt.Sprint("t", i)); err != nil {
				return err
			}
		}
		return nil
	})
	err := db.Write(context.Background(), "twice", func(tx *Tx) error { _, err := add(tx, "t1"); return err })
	if !errors.Is(err, ErrTaken) {
		t.Errorf("same name: %v", err)
	}
	yes := func(want bool) func(bool, error) {
		return func(got bool, err error) {
			t.Helper()
			if got != want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
	write(t, db, func(tx *Tx) error {
		if queued, err := tx.QueuedTasks(); err != nil || len(queued) != 3 || queued[0].ID != ids[0] || queued[2].ID != ids[2] {
			t.Errorf("queued %+v %v", queued, err)
		}
		yes(true)(tx.StartTask(ids[0], id))
		yes(false)(tx.StartTask(ids[0], id))
		yes(false)(tx.RemoveTask(ids[0]))
		yes(true)(tx.RemoveTask(ids[1]))
		yes(false)(tx.FinishTask(ids[1], "completed", ""))
		if queued, err := tx.QueuedTasks(); err != nil || len(queued) != 1 || queued[0].ID != ids[2] {
			t.Errorf("queued %+v %v", queued, err)
		}
		if running, err := tx.RunningTasks(); err != nil || len(running) != 1 || running[0].ID != ids[0] {
			t.Errorf("running %+v %v", running, err)
		}
		yes(true)(tx.TaskQueued("t0"))
		yes(false)(tx.TaskQueued("t1"))
		yes(true)(tx.FinishTask(ids[0], "failed", "why"))
		yes(false)(tx.FinishTask(ids[0], "completed", ""))
		yes(true)(tx.FinishTask(ids[2], "failed", "could not start"))
		if queued, err := tx.QueuedTasks(); len(queued) != 0 || err != nil {
			t.Errorf("queued of none %+v %v", queued, err)
		}
		_, err := add(tx, "t0") // free again
		return err
	})
	want := Task{
		ID: ids[0], Queue: id, Name: "t0", Prompt: "do t0", Model: "m", Timeout: 90 * time.Second, Deliver: "hold",
		Kind: "prompt", Origin: "human", State: "finished", Outcome: "failed", Error: "why", Agent: id, Created: now, Started: now, Finished: now, Place: ids[0], After: []string{},
	}
	read(t, db, func(rx *Rx) error {
		if got, ok, err := rx.Task(ids[0]); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("task %+v %v %v\nwant %+v", got, ok, err, want)
		}
		if _, ok, err := rx.Task(99); ok || err != nil {
			t.Errorf("no task %v %v", ok, err)
		}
		if ts, err := rx.Tasks(id); err != nil || len(ts) != 3 {
			t.Errorf("%+v %v: removed ones are left out", ts, err)
		}
		if turn, conversation, err := rx.Spawner(ids[0]); turn != 0 || conversation != 0 || err != nil {
			t.Errorf("spawner %d %d %v", turn, conversation, err)
		}
		return nil
	})
}

func TestNeeds(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := at(t, &now)
	id := agent(t, db, "main")
	write(t, db, func(tx *Tx) error {
		var ids [3]int64
		for i := range ids {
			var err error
			task := Task{Queue: id, Name: fmt.Sprint("t", i), Kind: "command", Origin: "cli", Resumes: id, Prompt: "x", Model: "m", Deliver: "hold"}
			var needs []int64
			if i == 2 {
				needs = []int64{ids[1], ids[0], ids[1]}
			}
			if ids[i], err = tx.AddTask(task, needs...); err != nil {
				return err
			}
		}
		if _, err := tx.FinishTask(ids[0], "completed", ""); err != nil {
			return err
		}
		ts, err := tx.Needs(ids[2])
		if err != nil || len(ts) != 2 || ts[0].ID != ids[0] || ts[0].State != "finished" || ts[1].ID != ids[1] {
			t.Errorf("%+v, %v", ts, err)
		}
		if a := ts[1]; a.Kind != "command" || a.Origin != "cli" || a.Resumes != id {
			t.Errorf("%+v", a)
		}
		if ts, err := tx.Needs(ids[0]); len(ts) != 0 || err != nil {
			t.Errorf("%+v, %v", ts, err)
		}
		if t2, _, err := tx.Task(ids[2]); t2.Needs != fmt.Sprint(ids[0], " ", ids[1]) || err != nil {
			t.Errorf("it needs %q, %v", t2.Needs, err)
		}
		if _, err := tx.AddTask(Task{Queue: id, Name: "t3", Prompt: "x", Model: "m", Deliver: "hold"}, 99); err == nil {
			t.Error("a task waits for one that does not exist")
		}
		return nil
	})
}

func TestPassTasks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := at(t, &now)
	from, to := agent(t, db, "from"), agent(t, db, "to")
	write(t, db, func(tx *Tx) error {
		var ids [3]int64
		for i := range ids {
			var err error
			if ids[i], err = tx.AddTask(Task{Queue: from, Name: fmt.Sprint("t", i), Prompt: "x", Model: "m", Deliver: "hold"}); err != nil {
				return err
			}
		}
		for _, id := range ids[:2] {
			if _, err := tx.StartTask(id, from); err != nil {
				return err
			}
		}
		if _, err := tx.FinishTask(ids[0], "completed", ""); err != nil {
			return err
		}
		if err := tx.PassTasks(from, to); err != nil {
			return err
		}
		for queue, want := range map[int64][]int64{from: ids[:1], to: ids[1:]} {
			ts, err := tx.Tasks(queue)
			var got []int64
			for _, x := range ts {
				got = append(got, x.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("queue %d has %v, want %v; %v", queue, got, want, err)
			}
		}
		return nil
	})
}

func TestSettings(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx *Tx) error { return errors.Join(tx.SetSetting("k", "1"), tx.SetSetting("k", "2")) })
	read(t, db, func(rx *Rx) error {
		if v, ok, err := rx.Setting("k"); v != "2" || !ok || err != nil {
			t.Errorf("%q %v %v", v, ok, err)
		}
		if _, ok, err := rx.Setting("none"); ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
		return nil
	})
}

// Every read that people wait for uses an index: it scans and sorts nothing.
func TestReads_walkIndexes(t *testing.T) {
	var ran []string
	db, err := Open(t.Context(), t.TempDir()+"/fantail.db", Options{Trace: func(statement string) { ran = append(ran, statement) }})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	write(t, db, func(tx *Tx) error {
		_, _ = tx.EntriesAfter(1, 1, 1)
		_, _ = tx.EntriesBefore(1, 1, 1)
		_, _ = tx.EntriesBefore(1, 0, 1)
		_, _, _ = tx.LastEntry(1, "x")
		_, _ = tx.TurnEntries(1)
		_, _, _ = tx.FirstOfTurn(1, "x")
		_, _ = tx.Turns(1)
		_, _ = tx.LastSeq(1)
		_, _, _ = tx.LastTurn(1)
		_, _ = tx.SumTurns(1)
		_, _ = tx.OpenTurns()
		_, _ = tx.Prompts(1)
		_, _ = tx.RunningTasks()
		_, _ = tx.QueuedTasks()
		_, _ = tx.KindAfter("notice", 1)
		_, _ = tx.TaskQueued("x")
		_, _, _ = tx.Task(1)
		_, _, _ = tx.Spawner(1)
		_, _, _ = tx.Memory("x", "y", 0)
		_, _ = tx.MemoryLog("x", "y", 1)
		_, _ = tx.KindOf(1, "memory", 1)
		slices.Sort(ran)
		queries := slices.DeleteFunc(slices.Compact(ran), func(q string) bool { return !strings.HasPrefix(q, "SELECT") })
		if len(queries) < 15 {
			t.Errorf("only %d queries", len(queries))
		}
		for _, q := range queries {
			args := make([]any, strings.Count(q, "?")-2*strings.Count(q, "?1")/2)
			plan, err := all(&tx.View, func(s scanner) (detail string, err error) {
				var n int
				err = s.Scan(&n, &n, &n, &detail)
				return detail, err
			}, "EXPLAIN QUERY PLAN "+q, append(args, nil)...)
			if err != nil {
				t.Errorf("%s: %v", q, err)
			}
			for _, step := range plan {
				walks := strings.Contains(step, "USING") || !strings.HasPrefix(step, "SCAN") || step == "SCAN CONSTANT ROW"
				if !walks || strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("%s\n%s", q, strings.Join(plan, "\n"))
					break
				}
			}
		}
		return nil
	})
}
