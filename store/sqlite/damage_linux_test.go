package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// try writes a note, and calls within in the transaction.
func try(db *DB, name string, within func()) error {
	return db.Write(context.Background(), "try", func(tx *Tx) error {
		err := note(tx, name)
		if within != nil {
			within()
		}
		return err
	})
}

// do fails the test at an error.
func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// inPlaces runs f with a path and with one that leads there by a link. above is a directory two levels over the file.
func inPlaces(t *testing.T, f func(t *testing.T, path, above string)) {
	for _, linked := range []bool{false, true} {
		t.Run(fmt.Sprintf("linked=%v", linked), func(t *testing.T) {
			t.Parallel()
			above := filepath.Join(t.TempDir(), "above")
			dir := filepath.Join(above, "between", "data")
			do(t, os.MkdirAll(dir, 0o700))
			path := filepath.Join(dir, "fantail.db")
			if linked {
				do(t, os.Symlink(dir, above+"-link"))
				path = filepath.Join(above+"-link", "fantail.db")
			}
			f(t, path, above)
		})
	}
}

// opened is a database with a note in its log. Errors of closing it do not matter. after, if it is not nil, is called
// after each COMMIT.
func opened(t *testing.T, path string, after func()) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, schema, Options{Trace: func(statement string) {
		if after != nil && statement == "COMMIT" {
			after()
		}
	}})
	do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	do(t, try(db, "first", nil))
	return db
}

// TestWrite_whileItsFilesAreTakenAway: damage to the files during a transaction, or once it is committed, is noticed
// before the write is acknowledged. The error says what happened and what to do next, and nothing is written any more
// unless the files may come back (torture M25, M26).
func TestWrite_whileItsFilesAreTakenAway(t *testing.T) {
	replaced := func(t *testing.T, path string) {
		do(t, os.WriteFile(path+"-new", []byte("another one"), 0o600), os.Rename(path+"-new", path))
	}
	for _, c := range []struct {
		name, says, next string
		do               func(t *testing.T, db string)
	}{
		{"log emptied", "-wal was cut short", "put back the log or a backup", func(t *testing.T, db string) { do(t, os.Truncate(db+"-wal", 0)) }},
		{"log cut in its last frame", "-wal was cut short", "put back the log or a backup", func(t *testing.T, db string) {
			info, err := os.Stat(db + "-wal")
			do(t, err, os.Truncate(db+"-wal", info.Size()-100))
		}},
		{"log overwritten", "-wal was", "put back the log or a backup", func(t *testing.T, db string) { do(t, os.WriteFile(db+"-wal", make([]byte, 1<<20), 0o600)) }},
		{"log deleted", "-wal was deleted", "put back the log or a backup", func(t *testing.T, db string) { do(t, os.Remove(db+"-wal")) }},
		{"log replaced", "-wal was replaced", "put back the log or a backup", func(t *testing.T, db string) { replaced(t, db+"-wal") }},
		{"index deleted", "-shm was deleted", "nothing is lost. End this program", func(t *testing.T, db string) { do(t, os.Remove(db+"-shm")) }},
		{"file deleted", "fantail.db was deleted", "its log is now", func(t *testing.T, db string) { do(t, os.Remove(db)) }},
		{"file replaced", "fantail.db was replaced", "see which file is to be there", replaced},
		{"file emptied", "fantail.db was overwritten", "see which file is to be there", func(t *testing.T, db string) { do(t, os.Truncate(db, 0)) }},
		{"file given a second name", "2 names", "undo that", func(t *testing.T, db string) { do(t, os.Link(db, filepath.Join(above(db), "twin"))) }},
		{"directory moved", "fantail.db was moved to", "undo that", func(t *testing.T, db string) { do(t, os.Rename(above(db), above(db)+"-elsewhere")) }},
	} {
		for _, when := range []string{"before the commit", "after the commit"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				inPlaces(t, func(t *testing.T, path, _ string) {
					damage := func() {}
					db := opened(t, path, func() { damage() })
					if strings.HasPrefix(c.name, "log cut in") { // frames that were copied before can't be missed
						write(t, db, func(tx *Tx) error { return note(tx, strings.Repeat("x", 8000)) })
					}
					once := sync.OnceFunc(func() { c.do(t, path) })
					within := once
					if when == "after the commit" {
						damage, within = once, nil
					}
					err := try(db, "second", within)
					if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.next) {
						t.Errorf("the write says %v", err)
					}
					again := try(db, "third", nil)
					if stops := c.next != "undo that"; !errors.Is(again, ErrChanged) || errors.Is(again, ErrStopped) != stops {
						t.Errorf("the next write says %v", again)
					}
				})
			})
		}
	}
}

// A rename of a directory above the files is noticed by the next write; writes go on once it is back.
func TestWrite_whenADirectoryAboveIsMoved(t *testing.T) {
	inPlaces(t, func(t *testing.T, path, above string) {
		db := opened(t, path, nil)
		do(t, os.Rename(above, above+"-elsewhere"))
		if err := try(db, "second", nil); !errors.Is(err, ErrChanged) {
			t.Errorf("a write says %v", err)
		}
		do(t, os.Rename(above+"-elsewhere", above), try(db, "third", nil))
	})
}

// TestWrite_whenItsConnectionBroke: a writer that reopens its connection does not continue in another file.
func TestWrite_whenItsConnectionBroke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	do(t, opened(t, path+"-other", nil).Close())
	db := opened(t, path, nil)
	breaks := func() {
		do(t, db.onWriter(t.Context(), "break", func(c *conn) error {
			db.writer.conn = nil
			return c.close()
		}))
	}
	breaks()
	do(t, try(db, "second", nil))
	breaks()
	do(t, os.Rename(path+"-other", path))
	if err := try(db, "third", nil); !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("the write says %v", err)
	}
}

// TestOpen_neverMakesADeletedFileAnew: a connection that is opened later does not put an empty file in its place.
func TestOpen_neverMakesADeletedFileAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	db := opened(t, path, nil)
	do(t, os.Remove(path))
	err := db.Read(t.Context(), func(rx *Rx) error {
		_, err := noted(&rx.View, "first")
		return err
	})
	if err == nil || strings.Contains(err.Error(), "no such table") {
		t.Errorf("a read says %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there again: %v", err)
	}
}

// TestOpen_leavesALogWithoutItsFileAlone: a file that was moved away and back has its log, which SQLite would have
// deleted.
func TestOpen_leavesALogWithoutItsFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	db := opened(t, path, nil)
	do(t, os.Rename(path, path+"-elsewhere"))
	if err := db.Close(); !errors.Is(err, ErrChanged) {
		t.Errorf("Close says %v", err)
	}
	other, err := Open(t.Context(), path, schema, Options{})
	if err == nil {
		_ = other.Close()
	}
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "put the file back") {
		t.Fatalf("it is opened: %v", err)
	}
	do(t, os.Rename(path+"-elsewhere", path))
	if got := notes(t, reopen(t, path)); len(got) != 1 {
		t.Errorf("kept %q", got)
	}
}

// above is the directory above the one of the database.
func above(db string) string { return filepath.Dir(filepath.Dir(db)) }

// Damage to the files without reads or writes is reported within five seconds, once, and nothing is written any more
// unless the files may come back (torture M25, M26). A directory that is gone stays gone.
func TestPatrol(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, db string)
		want []string
		ends bool                          // writes fail afterwards
		undo func(t *testing.T, db string) // called five seconds later; may be nil
	}{
		{"nothing", func(*testing.T, string) {}, nil, false, nil},
		{"log deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-wal")) }, []string{"-wal was deleted"}, true, nil},
		{"index deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-shm")) }, []string{"-shm was deleted"}, true, nil},
		{"file deleted", func(t *testing.T, db string) { do(t, os.Remove(db)) }, []string{"fantail.db was deleted"}, true, nil},
		{"directory deleted", func(t *testing.T, db string) { do(t, os.RemoveAll(above(db))) }, []string{"fantail.db was deleted"}, true, nil},
		{"directory moved", func(t *testing.T, db string) { do(t, os.Rename(above(db), above(db)+"-elsewhere")) }, []string{"fantail.db was moved to", "is gone"}, true, nil},
		{"another directory", func(t *testing.T, db string) {
			do(t, os.Rename(above(db), above(db)+"-elsewhere"), os.MkdirAll(filepath.Dir(db), 0o700))
		}, []string{"fantail.db was moved to", "is gone"}, true, nil},
		{"directory moved, and back", func(t *testing.T, db string) {
			do(t, os.Rename(above(db), above(db)+"-elsewhere"))
		}, []string{"fantail.db was moved to", "undone"}, false, func(t *testing.T, db string) {
			do(t, os.Rename(above(db)+"-elsewhere", above(db)))
		}},
		{"log cut", func(t *testing.T, db string) { do(t, os.Truncate(db+"-wal", 0)) }, []string{"-wal was cut short"}, true, nil},
		{"file replaced", func(t *testing.T, db string) {
			do(t, os.WriteFile(db+"-new", []byte("another one"), 0o600), os.Rename(db+"-new", db))
		}, []string{"fantail.db was replaced"}, true, nil},
		{"file moved, and back", func(t *testing.T, db string) {
			do(t, os.Rename(db, db+"-elsewhere"))
		}, []string{"fantail.db was moved to", "undone"}, false, func(t *testing.T, db string) {
			do(t, os.Rename(db+"-elsewhere", db))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "above", "data", "fantail.db")
				do(t, os.MkdirAll(filepath.Dir(path), 0o700))
				db := opened(t, path, nil)
				var mu sync.Mutex
				var told []string
				db.Patrol(func(err error) {
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						err = errors.New("undone")
					}
					told = append(told, err.Error())
				})
				c.do(t, path)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if c.undo != nil {
					c.undo(t, path)
					time.Sleep(5 * time.Second)
					synctest.Wait()
				}
				mu.Lock()
				soon := len(told)
				mu.Unlock()
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(c.want) == 2 && c.undo == nil {
					soon++ // it may come back for a while
				}
				if len(told) != len(c.want) || soon != len(told) {
					t.Fatalf("told %d times in five seconds, then %q", soon, told)
				}
				for i, want := range c.want {
					if !strings.Contains(told[i], want) {
						t.Errorf("it says %q, want %q", told[i], want)
					}
				}
				if err := try(db, "second", nil); errors.Is(err, ErrStopped) != c.ends || err != nil && !c.ends {
					t.Errorf("a write says then %v", err)
				}
				_ = db.Close()
				if there, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(there) > 0 && strings.Contains(c.name, "directory") && c.undo == nil {
					t.Errorf("there is %q again", there)
				}
				if _, err := os.Stat(filepath.Dir(path)); c.name == "directory deleted" && err == nil {
					t.Error("its directory is there again")
				}
			})
		})
	}
}

// TestPatrol_rests: where the kernel reports changes, the files are checked only after one, with the same results. Fake
// time would stand still during the wait for the kernel.
func TestPatrol_rests(t *testing.T) {
	for _, c := range []struct {
		name, says string
		do         func(t *testing.T, db string)
	}{
		{"file deleted", "fantail.db was deleted", func(t *testing.T, db string) { do(t, os.Remove(db)) }},
		{"log cut", "-wal was cut short", func(t *testing.T, db string) { do(t, os.Truncate(db+"-wal", 0)) }},
		{"index deleted", "-shm was deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-shm")) }},
		{"directory moved", "was moved to", func(t *testing.T, db string) {
			above := filepath.Dir(filepath.Dir(db))
			do(t, os.Rename(above, above+"-elsewhere"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "above", "data", "fantail.db")
			do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			db, err := Open(t.Context(), path, schema, Options{Hears: true})
			do(t, err)
			t.Cleanup(func() { _ = db.Close() })
			do(t, try(db, "first", nil))
			db.rounds.every = 200 * time.Millisecond
			told := make(chan error, 9)
			db.Patrol(func(err error) { told <- err })
			until := func(want bool, why string) {
				t.Helper()
				for start := time.Now(); ; {
					if db.rounds.rests.Load() == want {
						return
					}
					if time.Since(start) > time.Minute {
						t.Fatal(why)
					}
					<-time.After(time.Millisecond)
				}
			}
			until(true, "nothing was done to the files, and they are looked at")
			do(t, try(db, "second", nil))
			until(false, "after a write nobody will look")
			until(true, "after the look that followed a write there is no rest")
			c.do(t, path)
			select {
			case err := <-told:
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("it says %v", err)
				}
			case <-time.NewTimer(time.Minute).C:
				t.Error("nothing is told")
			}
		})
	}
}

// A reader without locks gets an error if the file changed meanwhile: its reads may mix two states. Changed reopens the
// file, and reading goes on.
func TestRead_whenSomebodyWroteMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, path string)
	}{
		{"another content", func(t *testing.T, path string) {
			do(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		}},
		{"another size", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			do(t, err, os.Truncate(path, info.Size()+4096), os.Chtimes(path, time.Time{}, info.ModTime()))
		}},
		{"another file", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			do(t, err)
			data, err := os.ReadFile(path)
			do(t, err, os.Rename(path, path+"-old"), os.WriteFile(path, data, 0o600), os.Chtimes(path, time.Time{}, info.ModTime()))
		}},
		{"a log", func(t *testing.T, path string) { do(t, os.WriteFile(path+"-wal", []byte("a frame"), 0o600)) }},
		{"no file", func(t *testing.T, path string) { do(t, os.Remove(path)) }},
	} {
		for _, when := range []string{"before", "during"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "fantail.db")
				do(t, opened(t, path, nil).Close())
				db := readOnly(t, path)
				look := func(f func()) error {
					return db.Read(context.Background(), func(rx *Rx) error {
						ok, err := noted(&rx.View, "first")
						if f(); err == nil && !ok {
							err = errors.New("the note is gone")
						}
						return err
					})
				}
				do(t, look(func() {}))
				if _, err := db.Changed(context.Background()); err != nil {
					t.Errorf("before anything happened: %v", err)
				}
				now := func() { c.do(t, path) }
				if when == "before" {
					now()
					now = func() {}
				}
				ran := false
				err := look(func() {
					ran = true
					now()
				})
				if !errors.Is(err, ErrChanged) || ran != (when == "during") {
					t.Errorf("the read ran: %v, and says %v", ran, err)
				}
				changed, err := db.Changed(context.Background()) // it reopens the file
				if again := look(func() {}); c.name == "no file" {
					if err == nil || !errors.Is(again, ErrChanged) {
						t.Errorf("without a file: Changed says %v, a read %v", err, again)
					}
				} else if err != nil || !changed || again != nil {
					t.Errorf("Changed says %v, %v, the next read %v", changed, err, again)
				}
			})
		}
	}
}

// readOnly opens the file as if it, or its directory, were not writable.
func readOnly(t *testing.T, path string) *DB {
	t.Helper()
	steps, err := load(schema)
	do(t, err)
	db := &DB{path: path, schema: len(steps), now: time.Now}
	db.writer.init()
	db.readers.init()
	do(t, db.openReading(t.Context(), os.ErrPermission))
	t.Cleanup(func() { _ = db.Close() })
	return db
}
