package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fantail/store/files"
)

// try is what becomes of a write that adds a note, and calls within.
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

// inPlaces runs f with a path that is watched and with one that leads there by a link,
// where each look asks for the paths. above is a directory two levels over the file.
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

// watchFrom is after how many writes the kernel is asked to watch the files.
const watchFrom = 64

// watched reports whether the kernel watches a file for this process.
func watched(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	do(t, err)
	fds, err := os.ReadDir("/proc/self/fdinfo")
	do(t, err)
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^inotify wd:[0-9a-f]+ ino:%x `, info.Sys().(*syscall.Stat_t).Ino))
	for _, fd := range fds {
		about, err := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
		if err == nil && line.Match(about) { // else it was closed meanwhile
			return true
		}
	}
	return false
}

// opened is a database with a note in its log. What it finds when it is closed is
// not the test's concern.
func opened(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, schema, Options{})
	do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	do(t, try(db, "first", nil))
	for range watchFrom {
		do(t, db.Write(t.Context(), "set", func(tx *Tx) error { return note(tx, "x") }))
	}
	if is := watched(t, path); is == strings.Contains(path, "-link") {
		t.Errorf("%s is watched: %v", path, is)
	}
	return db
}

// What is done to the files while a transaction runs is noticed before anybody is told
// that it was kept.
func TestWrite_whileItsFilesAreTakenAway(t *testing.T) {
	for _, c := range []struct {
		name, says string
		do         func(t *testing.T, db string)
	}{
		{"log emptied", "-wal was cut short", func(t *testing.T, db string) { do(t, os.Truncate(db+"-wal", 0)) }},
		{"log cut in its last frame", "-wal was cut short", func(t *testing.T, db string) {
			info, err := os.Stat(db + "-wal")
			do(t, err, os.Truncate(db+"-wal", info.Size()-100))
		}},
		{"log overwritten", "-wal was", func(t *testing.T, db string) { do(t, os.WriteFile(db+"-wal", make([]byte, 1<<20), 0o600)) }},
		{"log deleted", "-wal was deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-wal")) }},
		{"index deleted", "-shm was deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-shm")) }},
		{"file deleted", "fantail.db was deleted", func(t *testing.T, db string) { do(t, os.Remove(db)) }},
		{"file given a second name", "2 names", func(t *testing.T, db string) {
			do(t, os.Link(db, filepath.Join(filepath.Dir(filepath.Dir(db)), "twin")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inPlaces(t, func(t *testing.T, path, _ string) {
				db := opened(t, path)
				if strings.HasPrefix(c.name, "log cut in") { // what was already in the file can't be missed
					write(t, db, func(tx *Tx) error { return note(tx, strings.Repeat("x", 8000)) })
				}
				err := try(db, "second", func() { c.do(t, path) })
				if !errors.Is(err, files.ErrChanged) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the write says %v", err)
				}
			})
		})
	}
}

// A log that is cut when it has just been written does not count as written.
func TestWrite_whenItsLogIsCutAfterTheCommit(t *testing.T) {
	path, armed := filepath.Join(t.TempDir(), "fantail.db"), false
	db, err := Open(t.Context(), path, schema, Options{Trace: func(statement string) {
		if info, err := os.Stat(path + "-wal"); armed && statement == "COMMIT" {
			armed = false
			do(t, err, os.Truncate(path+"-wal", info.Size()-100))
		}
	}})
	do(t, err)
	defer db.Close()
	do(t, try(db, "first", nil))
	if err := try(db, "second", func() { armed = true }); !errors.Is(err, files.ErrChanged) || !strings.Contains(err.Error(), "-wal was cut short") {
		t.Errorf("the write says %v", err)
	}
}

// A directory that is moved above the files is noticed with the next write and read.
func TestWrite_whenADirectoryAboveIsMoved(t *testing.T) {
	inPlaces(t, func(t *testing.T, path, above string) {
		db := opened(t, path)
		do(t, os.Rename(above, above+"-elsewhere"))
		if err := db.Read(context.Background(), func(*Rx) error { return nil }); !errors.Is(err, files.ErrChanged) {
			t.Errorf("a read says %v", err)
		}
		if err := try(db, "second", nil); !errors.Is(err, files.ErrChanged) {
			t.Errorf("a write says %v", err)
		}
		do(t, os.Rename(above+"-elsewhere", above), try(db, "third", nil))
	})
}

// What happens to the files while nobody reads or writes is told within five seconds,
// once, and mended where it can be (torture M26).
func TestPatrol(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, db string)
		want []string
		ends bool                          // nothing is written any more
		undo func(t *testing.T, db string) // done five seconds later; nil: nothing
	}{
		{"nothing", func(*testing.T, string) {}, nil, false, nil},
		{"log deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-wal")) }, []string{"-wal was deleted: nothing that was acknowledged is lost"}, false, nil},
		{"index deleted", func(t *testing.T, db string) { do(t, os.Remove(db+"-shm")) }, []string{"-shm was deleted: nothing that was acknowledged is lost"}, false, nil},
		{"file deleted", func(t *testing.T, db string) { do(t, os.Remove(db)) }, []string{"fantail.db was deleted: nothing that was acknowledged is lost"}, false, nil},
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
				path := filepath.Join(t.TempDir(), "fantail.db")
				db := opened(t, path)
				var told []string
				db.Patrol(func(err error) {
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
				soon := len(told)
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(told) != len(c.want) || soon != len(told) {
					t.Fatalf("told %d times in five seconds, then %q", soon, told)
				}
				for i, want := range c.want {
					if !strings.Contains(told[i], want) {
						t.Errorf("it says %q, want %q", told[i], want)
					}
				}
				if err := try(db, "second", nil); errors.Is(err, files.ErrStopped) != c.ends || err != nil && !c.ends {
					t.Errorf("a write says then %v", err)
				}
				_ = db.Close()
			})
		})
	}
}

// TestPatrol_rests: where the kernel says what is done to the files, nobody looks at them until something is, and all is
// told as before. Fake time would stand still while the kernel is waited for.
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
			db.writer.rounds.every = 200 * time.Millisecond
			told := make(chan error, 9)
			db.Patrol(func(err error) { told <- err })
			until := func(want bool, why string) {
				t.Helper()
				for start := time.Now(); ; {
					if db.writer.rounds.rests.Load() == want {
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

// Who reads without locks is told when somebody wrote meanwhile: what was read may be
// of more than one moment. Changed opens the file anew, and reading goes on.
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
				do(t, opened(t, path).Close())
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
				if !errors.Is(err, files.ErrChanged) || ran != (when == "during") {
					t.Errorf("the read ran: %v, and says %v", ran, err)
				}
				changed, err := db.Changed(context.Background()) // it opens the file anew
				if again := look(func() {}); c.name == "no file" {
					if err == nil || !errors.Is(again, files.ErrChanged) {
						t.Errorf("without a file: Changed says %v, a read %v", err, again)
					}
				} else if err != nil || !changed || again != nil {
					t.Errorf("Changed says %v, %v, the next read %v", changed, err, again)
				}
			})
		}
	}
}

// readOnly opens the file as if it, or its directory, could not be written.
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
