package inbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/store"
	"fantail/store/storetest"
)

// obedient is a process that deposits what it is told.
type obedient struct {
	*process
	in io.Writer
}

func obey(t *testing.T, path string) *obedient {
	t.Helper()
	p := spawn(t, "obey", path, "")
	o := &obedient{p, p.stdin.(io.Writer)}
	if line := <-p.lines; line != "ready" {
		t.Fatalf("the process says %q", line)
	}
	return o
}

// deposits has body deposited; it returns the id, or the error's text.
func (o *obedient) deposits(t *testing.T, body string) (id int64, failed string) {
	t.Helper()
	if _, err := io.WriteString(o.in, body+"\n"); err != nil {
		t.Fatal(err)
	}
	line := <-o.lines
	if failed, is := strings.CutPrefix(line, "e "); is {
		return 0, failed
	}
	if _, err := fmt.Sscanf(line, "d %d", &id); err != nil {
		t.Fatalf("the process says %q", line)
	}
	return id, ""
}

func (o *obedient) ends(t *testing.T) {
	t.Helper()
	if err := o.stdin.Close(); err != nil {
		t.Error(err)
	}
	_ = o.all()
	_ = o.Wait() // what it finds on the way out it says
}

// stored are the messages of the files that match: body: ids.
func stored(t *testing.T, pattern string) map[string][]int64 {
	t.Helper()
	got := map[string][]int64{}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		db, err := store.Open(context.Background(), path, store.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		err = db.Read(context.Background(), func(rx *store.Rx) error {
			rows, err := rx.Query("SELECT id, body FROM messages")
			if err != nil {
				return err
			}
			for rows.Next() {
				var id int64
				var body string
				if err := rows.Scan(&id, &body); err != nil {
					return err
				}
				got[body] = append(got[body], id)
			}
			var sound string
			if err := rx.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
				return fmt.Errorf("%s is damaged: %s %w", path, sound, err)
			}
			return rows.Err()
		})
		if err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	return got
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// overwrite is cp: the file stays the same one and gets another content.
func overwrite(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// What becomes of two processes' mail when the files change under them: what was
// acknowledged is stored once, where it was or in a file that an error names; no
// id is acknowledged for two messages; and where the content still exists both go on.
// Spec: N-15.
func TestDeposit_whenTheFilesVanish(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, db, other string)
		on    bool   // both go on
		whole bool   // all that was acknowledged is in the database
		gone  bool   // what was overwritten may be lost; it is told
		says  string // in the first error
	}{
		{name: "shm deleted", on: true, whole: true, says: "-shm was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-shm"))
		}},
		{name: "shm moved", on: true, whole: true, says: "-shm was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db+"-shm", db+"-elsewhere"))
		}},
		{name: "shm replaced", on: true, whole: true, says: "-shm was replaced", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-shm"), os.WriteFile(db+"-shm", make([]byte, 32768), 0o600))
		}},
		{name: "wal deleted", on: true, whole: true, says: "-wal was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"))
		}},
		{name: "wal moved", on: true, whole: true, says: "-wal was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db+"-wal", db+"-elsewhere"))
		}},
		{name: "both deleted", on: true, whole: true, says: "-wal was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"), os.Remove(db+"-shm"))
		}},
		{name: "wal replaced", says: "-wal was replaced", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"), os.WriteFile(db+"-wal", make([]byte, 4096), 0o600))
		}},
		{name: "wal cut", gone: true, says: "-wal was cut short", do: func(t *testing.T, db, _ string) {
			must(t, os.Truncate(db+"-wal", 0))
		}},
		{name: "wal cut in a frame", gone: true, says: "-wal was cut short", do: func(t *testing.T, db, _ string) {
			must(t, os.Truncate(db+"-wal", 5000))
		}},
		{name: "wal overwritten", gone: true, says: "-wal was", do: func(t *testing.T, db, _ string) {
			must(t, os.WriteFile(db+"-wal", make([]byte, 1<<20), 0o600))
		}},
		{name: "database copied over", gone: true, says: "fantail.db was overwritten", do: func(t *testing.T, db, other string) {
			must(t, overwrite(other, db))
		}},
		{name: "database moved over", says: "fantail.db was replaced", do: func(t *testing.T, db, other string) {
			must(t, os.Rename(other, db))
		}},
		{name: "database deleted", whole: true, says: "fantail.db was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db))
		}},
		{name: "all deleted", whole: true, says: "fantail.db was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.RemoveAll(filepath.Dir(db)))
		}},
		{name: "database moved away", says: "fantail.db was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db, db+".old"))
		}},
		{name: "directory moved", says: "fantail.db was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(filepath.Dir(db), filepath.Dir(db)+".old"))
		}},
		{name: "directory replaced", says: "fantail.db was replaced", do: func(t *testing.T, db, other string) {
			must(t, os.Rename(filepath.Dir(db), filepath.Dir(db)+".old"), os.Mkdir(filepath.Dir(db), 0o700), os.Rename(other, db))
		}},
		{name: "second name", whole: true, says: "2 names", do: func(t *testing.T, db, _ string) {
			must(t, os.Link(db, db+"-twin"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o700))
			path, other := filepath.Join(dir, "fantail.db"), filepath.Join(filepath.Dir(dir), "other.db")
			foreign := at(t, other)
			foreign.deposit(Message{From: "foreign", Body: "foreign"})
			must(t, at(t, path).db.Close(), foreign.db.Close())

			a, b := obey(t, path), obey(t, path)
			acked, refused := map[string]int64{}, []string{}
			last := [2]string{}
			send := func(n int, body string) {
				id, failed := [2]*obedient{a, b}[n].deposits(t, body)
				if last[n] = failed; failed != "" {
					refused = append(refused, failed)
					return
				}
				acked[body] = id
			}
			for i := range 3 {
				send(0, fmt.Sprint("a", i))
				send(1, fmt.Sprint("b", i))
			}
			if len(acked) != 6 {
				t.Fatalf("before anything happened: %v", refused)
			}
			c.do(t, path, other)
			for i := range 3 {
				send(0, fmt.Sprint("a", 3+i))
				send(1, fmt.Sprint("b", 3+i))
			}
			a.ends(t)
			b.ends(t)

			if len(refused) == 0 || !strings.Contains(refused[0], c.says) {
				t.Errorf("want an error with %q: %q", c.says, refused)
			}
			if on := last == [2]string{}; on != c.on && !c.whole {
				t.Errorf("both went on: %v; %q", on, refused)
			}
			if c.on && len(acked) != 10 {
				t.Errorf("%d acknowledged, want all but the first of each: %q", len(acked), refused)
			}
			if c.name == "second name" {
				must(t, os.Remove(path+"-twin"))
			}
			ids := map[int64]string{}
			for body, id := range acked {
				if ids[id] != "" {
					t.Errorf("id %d was acknowledged for %s and for %s", id, ids[id], body)
				}
				ids[id] = body
			}
			if c.gone {
				return
			}
			there := stored(t, path)
			saved := stored(t, path+".saved-*")
			if c.name == "database moved away" || c.name == "directory moved" || c.name == "directory replaced" {
				saved = merge(saved, stored(t, filepath.Join(dir+".old", "fantail.db")))
			}
			for body, id := range acked {
				got := there[body]
				if len(got) == 0 && !c.whole {
					if got = saved[body]; len(got) > 1 {
						got = got[:1] // both saved it
					}
				}
				if len(got) != 1 || got[0] != id {
					t.Errorf("%s was acknowledged as %d and is stored as %v; errors %q", body, id, got, refused)
				}
			}
		})
	}
}

// What leaves the content as it is stops nobody: setting times, modes and owners,
// reading, locking, copying; before anything was copied from the log into the file,
// after it, and again.
func TestDeposit_whenTheFilesAreOnlyTouched(t *testing.T) {
	past := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name string
		do   func(t *testing.T, db string)
	}{
		{"touch", func(t *testing.T, db string) { must(t, os.Chtimes(db, time.Now(), time.Now())) }},
		{"touch with another time", func(t *testing.T, db string) { must(t, os.Chtimes(db, past, past)) }},
		{"touch all", func(t *testing.T, db string) {
			must(t, os.Chtimes(db, past, past), os.Chtimes(db+"-wal", past, past), os.Chtimes(db+"-shm", past, past))
		}},
		{"chmod", func(t *testing.T, db string) { must(t, os.Chmod(db, 0o640), os.Chmod(db, 0o600)) }},
		{"chown", func(t *testing.T, db string) { must(t, os.Chown(db, os.Geteuid(), os.Getegid())) }},
		{"backup", func(t *testing.T, db string) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				data, err := os.ReadFile(db + suffix)
				must(t, err, os.WriteFile(db+suffix+".bak", data, 0o600))
			}
		}},
		{"the same content", func(t *testing.T, db string) {
			f, err := os.OpenFile(db, os.O_RDWR, 0)
			must(t, err)
			b := make([]byte, 100)
			_, err = f.ReadAt(b, 0)
			must(t, err)
			_, err = f.WriteAt(b, 0)
			must(t, err, f.Close())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(storetest.Dir(t), "fantail.db")
			must(t, at(t, path).db.Close())
			a, b := obey(t, path), obey(t, path)
			deposits, padding := long.Times(120, 200), strings.Repeat("long ", 5000)
			for i := range deposits { // the log is copied several times
				if i%50 == 0 {
					c.do(t, path)
				}
				for name, o := range map[string]*obedient{"a": a, "b": b} {
					if _, failed := o.deposits(t, fmt.Sprint(name, i, padding)); failed != "" {
						t.Fatalf("deposit %d: %s", i, failed)
					}
				}
			}
			a.ends(t)
			b.ends(t)
			if n := len(stored(t, path)); n != 2*deposits {
				t.Errorf("%d of %d are stored", n, 2*deposits)
			}
		})
	}
}

// An older state of the same database, put in its place, is not taken for it,
// however large both are.
func TestDeposit_whenAnOlderStateIsCopiedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	must(t, at(t, path).db.Close())
	a := obey(t, path)
	long := strings.Repeat("long ", 10000)
	for i := range 100 {
		if _, failed := a.deposits(t, fmt.Sprint(i, long)); failed != "" {
			t.Fatal(failed)
		}
	}
	older, err := os.ReadFile(path)
	must(t, err)
	size := len(older)
	for i := 0; ; i++ {
		if _, failed := a.deposits(t, fmt.Sprint("later", i, long)); failed != "" {
			t.Fatal(failed)
		}
		info, err := os.Stat(path)
		must(t, err)
		if info.Size() != int64(size) { // the log was copied
			older = append(older, make([]byte, info.Size()-int64(size))...)
			break
		}
	}
	now, err := os.ReadFile(path)
	must(t, err)
	copy(older, now[:100]) // not even its head tells
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(older, 0)
	must(t, err, f.Close())
	if _, failed := a.deposits(t, "too late"); !strings.Contains(failed, "was overwritten") {
		t.Errorf("it says %q", failed)
	}
	a.ends(t)
}

// A process that comes when another one's files are gone does not begin anew: it
// would acknowledge ids that the other one has acknowledged.
func TestDeposit_whoComesWhenFilesVanished(t *testing.T) {
	for _, gone := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(strings.Join(gone, ""), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "fantail.db")
			must(t, at(t, path).db.Close())
			a := obey(t, path)
			first, failed := a.deposits(t, "a0")
			if failed != "" {
				t.Fatal(failed)
			}
			for _, suffix := range gone {
				must(t, os.Remove(path+suffix))
			}
			b := spawn(t, "obey", path, "")
			second, failed := a.deposits(t, "a1") // while b waits, or before it looks
			if failed == "" {
				t.Fatalf("nothing was noticed: %d", second)
			}
			if line := <-b.lines; line != "ready" {
				t.Fatalf("the process says %q", line)
			}
			o := &obedient{b, b.stdin.(io.Writer)}
			id, failed := o.deposits(t, "b0")
			if failed != "" || id == first {
				t.Errorf("acknowledged as %d, after %d: %s", id, first, failed)
			}
			a.ends(t)
			o.ends(t)
			if there := stored(t, path); len(there["a0"]) != 1 || len(there["b0"]) != 1 {
				t.Errorf("stored: %v", there)
			}
		})
	}
}

func merge(a, b map[string][]int64) map[string][]int64 {
	for body, ids := range b {
		a[body] = append(a[body], ids...)
	}
	return a
}
