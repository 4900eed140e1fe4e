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

// obedient is a process that deposits on command.
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

// deposits makes the process deposit body; it returns the id, or the error's text.
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

// stored are the messages of the database: body: ids.
func stored(t *testing.T, path string) map[string][]int64 {
	t.Helper()
	got := map[string][]int64{}
	db, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Error(err)
		return got
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

// overwrite works like cp: the file gets another content.
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

// TestDeposit_whenTheFilesVanish: two processes whose database files are changed report that, acknowledge nothing more
// and write nothing back. Acknowledged messages are in the files, wherever these are then, whole and under their ids,
// unless these were deleted or overwritten; and a file that replaced one of theirs keeps its content.
//
// Spec: N-15.
func TestDeposit_whenTheFilesVanish(t *testing.T) {
	const lost, inPlace = "lost", ""
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, db, other string)
		says  string // in the first error
		where string // of acknowledged messages: lost, inPlace, or moved files by new and old suffix
		other bool   // another database is in its place
	}{
		{name: "shm deleted", says: "-shm was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-shm"))
		}},
		{name: "shm moved", says: "-shm was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db+"-shm", db+"-elsewhere"))
		}},
		{name: "shm replaced", says: "-shm was replaced", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-shm"), os.WriteFile(db+"-shm", make([]byte, 32768), 0o600))
		}},
		{name: "wal deleted", where: lost, says: "-wal was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"))
		}},
		{name: "wal moved", where: "-elsewhere -wal", says: "-wal was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db+"-wal", db+"-elsewhere"))
		}},
		{name: "both deleted", where: lost, says: "-wal was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"), os.Remove(db+"-shm"))
		}},
		{name: "wal replaced", where: lost, says: "-wal was replaced", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db+"-wal"), os.WriteFile(db+"-wal", make([]byte, 4096), 0o600))
		}},
		{name: "wal cut", where: lost, says: "-wal was cut short", do: func(t *testing.T, db, _ string) {
			must(t, os.Truncate(db+"-wal", 0))
		}},
		{name: "wal cut in a frame", where: lost, says: "-wal was cut short", do: func(t *testing.T, db, _ string) {
			must(t, os.Truncate(db+"-wal", 5000))
		}},
		{name: "wal overwritten", where: lost, says: "-wal was", do: func(t *testing.T, db, _ string) {
			must(t, os.WriteFile(db+"-wal", make([]byte, 1<<20), 0o600))
		}},
		{name: "database copied over", where: lost, other: true, says: "fantail.db was overwritten", do: func(t *testing.T, db, other string) {
			must(t, overwrite(other, db))
		}},
		{name: "database moved over", where: lost, other: true, says: "fantail.db was replaced", do: func(t *testing.T, db, other string) {
			must(t, os.Rename(other, db))
		}},
		{name: "database deleted", where: lost, says: "fantail.db was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.Remove(db))
		}},
		{name: "all deleted", where: lost, says: "fantail.db was deleted", do: func(t *testing.T, db, _ string) {
			must(t, os.RemoveAll(filepath.Dir(db)))
		}},
		{name: "database moved away", where: ".old ", says: "fantail.db was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(db, db+".old"))
		}},
		{name: "directory moved", where: "/../../data.old /..", says: "fantail.db was moved to ", do: func(t *testing.T, db, _ string) {
			must(t, os.Rename(filepath.Dir(db), filepath.Dir(db)+".old"))
		}},
		{name: "directory replaced", where: "/../../data.old /..", other: true, says: "fantail.db was replaced", do: func(t *testing.T, db, other string) {
			must(t, os.Rename(filepath.Dir(db), filepath.Dir(db)+".old"), os.Mkdir(filepath.Dir(db), 0o700), os.Rename(other, db))
		}},
		{name: "second name", says: "2 names", do: func(t *testing.T, db, _ string) {
			must(t, os.Link(db, db+"-twin"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o700))
			path, other := filepath.Join(dir, "fantail.db"), filepath.Join(filepath.Dir(dir), "other.db")
			must(t, at(t, path).db.Close())
			if c.other {
				full(t, other)
			}

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

			if len(refused) != 6 || len(acked) != 6 || !strings.Contains(refused[0], c.says) {
				t.Errorf("want six errors with %q: %q", c.says, refused)
			}
			if c.other {
				there := stored(t, path)
				if len(there) != foreigners {
					t.Errorf("the other database holds %d messages of %d", len(there), foreigners)
				}
			}
			if c.where == lost {
				return
			}
			must(t, os.RemoveAll(path+"-twin"))
			if now, was, moved := strings.Cut(c.where, " "); moved { // it is put back
				now, was = filepath.Clean(path+now), filepath.Clean(path+was)
				if c.other {
					must(t, os.RemoveAll(was))
				}
				must(t, os.Rename(now, was))
			}
			there := stored(t, path)
			if len(there) != len(acked) {
				t.Errorf("%d are stored, %d were acknowledged", len(there), len(acked))
			}
			for body, id := range acked {
				if got := there[body]; len(got) != 1 || got[0] != id {
					t.Errorf("%s was acknowledged as %d and is stored as %v; errors %q", body, id, got, refused)
				}
			}
		})
	}
}

// foreigners is how many messages the other database holds.
const foreigners = 100

// full makes the other database. Its messages are long, so that the files differ in their layout.
func full(t *testing.T, path string) {
	t.Helper()
	w := at(t, path)
	w.write(func(tx *store.Tx) error {
		for i := range foreigners {
			m := Message{Recipient: w.main, From: "foreign", Body: fmt.Sprint("foreign ", i, strings.Repeat(" long", 1000))}
			if _, err := w.box.Add(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, w.db.Close())
}

// A change that leaves the content alone stops no process: setting times, modes and owners, reading, locking, copying;
// before anything was copied from the log into the file, after it, and again. In a long run each change has a database
// of its own.
func TestDeposit_whenTheFilesAreOnlyTouched(t *testing.T) {
	type change struct {
		name string
		do   func(t *testing.T, db string)
	}
	past := time.Now().Add(-time.Hour)
	changes := []change{
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
	}
	if all := changes; !long.Wanted() {
		changes = []change{{"all", func(t *testing.T, db string) {
			for _, c := range all {
				c.do(t, db)
			}
		}}}
	}
	for _, c := range changes {
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

// An older state of the same database that replaces it is not mistaken for it, however large both are.
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
	copy(older, now[:100]) // even its header is the same
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(older, 0)
	must(t, err, f.Close())
	if _, failed := a.deposits(t, "too late"); !strings.Contains(failed, "was overwritten") {
		t.Errorf("it says %q", failed)
	}
	a.ends(t)
}

// A process that starts when another one's log is gone waits for the other's end: until then they would not see each
// other's commits.
func TestDeposit_whoComesWhenFilesVanished(t *testing.T) {
	for _, gone := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(strings.Join(gone, ""), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "fantail.db")
			must(t, at(t, path).db.Close())
			a := obey(t, path)
			if _, failed := a.deposits(t, "a0"); failed != "" {
				t.Fatal(failed)
			}
			for _, suffix := range gone {
				must(t, os.Remove(path+suffix))
			}
			b := spawn(t, "obey", path, "")
			if second, failed := a.deposits(t, "a1"); failed == "" {
				t.Fatalf("nothing was noticed: %d", second)
			}
			a.ends(t) // while b waits, or before it checks
			if line := <-b.lines; line != "ready" {
				t.Fatalf("the process says %q", line)
			}
			o := &obedient{b, b.stdin.(io.Writer)}
			if _, failed := o.deposits(t, "b0"); failed != "" {
				t.Error(failed)
			}
			o.ends(t)
			there := stored(t, path)
			if len(there["b0"]) != 1 || len(there["a1"]) != 0 || gone[0] == "-shm" && len(there["a0"]) != 1 {
				t.Errorf("stored: %v", there)
			}
		})
	}
}
