package uitest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/ui/uitest"
)

// errBarred is why a test's workspace can't be written.
var errBarred = fmt.Errorf("%w: write fantail.db: permission denied: make it writable for you and start again", event.ErrReadOnly)

// stocked is a workspace with something of each kind in it; crashed is what a kill -9 would
// leave of it while a command runs.
func stocked(t *testing.T, s *uitest.Session) (home, crashed *uitest.Home) {
	t.Helper()
	s.Enter("say good morning")
	s.See("good morning")
	s.Enter("/push name=old say the old one is done")
	s.See("Queued old")
	s.Enter("/run")
	s.See("old ✓")
	s.Enter("/agent new aide")
	s.See("aide · helper")
	s.Press("alt+1")
	s.Enter("/send main please read this")
	s.See("Message #2 is in the inbox of main")
	s.Enter("/push name=late say much later")
	s.See("Queued late")
	if _, err := s.Pool.Memory.Write(context.Background(), "plan", "first we read", nil); err != nil {
		t.Fatal(err)
	}
	s.Enter("wait 20s then say awake")
	s.See("▌ wait 20s") // recorded, not only typed
	crashed = &uitest.Home{Root: s.Home.Root, Data: filepath.Join(t.TempDir(), "data")}
	if err := os.CopyFS(crashed.Data, os.DirFS(s.Home.Data)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(crashed.Data, "fantail.db-shm")); err != nil {
		t.Fatal(err)
	}
	s.Press("esc")
	s.See("stopped")
	s.Stop()
	return s.Home, crashed
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, ignore(fmt.Fprintln(&b, path)))
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func ignore(_ int, err error) error { return err }

// What reads shows over a database that can only be read, and what writes is refused in one
// line, with what was typed back in the box; no file changes, not even at the end.
// Spec: N-15.
func TestReadOnlyScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		home, _ := stocked(t, s)
		before := contents(t, home.Data)
		s = uitest.Start(t, uitest.Options{Home: home, ReadOnly: errBarred, H: 60})
		s.See("Read-only: the database can only be read here: write fantail.db: permission denied", "good morning", "old ✓", "aide")
		for _, look := range []struct{ types, shows string }{
			{"/inbox --list", "please read this"},
			{"/inbox search plea", "please read this"},
			{"/queue --all", "late"},
			{"/check --peek", "the old one is done"},
			{"/memory show plan", "first we read"},
			{"/memory log plan", "#mem-plan"},
			{"/messages why 1", "it waits"},
			{"/doctor", "Tasks: started 1"},
			{"/theme light", "Theme: light"},
		} {
			s.Enter(look.types)
			s.See(look.shows)
			if strings.Contains(box(s), look.types) {
				t.Errorf("%s is back in the box:\n%s", look.types, s.Screen())
			}
		}
		for _, open := range []struct{ key, shows string }{{"f2", "Fan  "}, {"f3", "Inbox · main"}, {"f4", "Queue · main"}} {
			s.Press(open.key)
			s.See(open.shows)
			s.Press("esc")
			s.Gone(open.shows)
		}
		for n, types := range writing {
			s.Press("ctrl+l")
			s.Enter(types)
			s.Until(types+" is refused and back in the box", func() bool {
				since := s.Screen()
				if n > 0 {
					_, since, _ = strings.Cut(since, fmt.Sprintf("command /shown-%d.", n-1))
				}
				return strings.Contains(since, "The database can only be read here") && strings.Contains(box(s), "› "+types)
			})
			if !strings.HasSuffix(strings.TrimSpace(s.Status()), "read-only") {
				t.Errorf("%s: the status line is %q", types, s.Status())
			}
			s.Press("ctrl+c")
			s.Enter(fmt.Sprintf("/shown-%d", n)) // a mark, below which the next is refused
			s.See(fmt.Sprintf("command /shown-%d.", n))
		}
		s.Press("f3")
		s.See("old · completed · #1")
		s.Press("s")
		s.See("snooze old #1 until")
		s.Type("2h")
		s.Press("enter")
		s.See("can only be read here", "› 2h")
		s.Press("esc", "a")
		s.See("can only be read here")
		s.Press("esc")
		s.Press("esc") // nothing runs that it could stop
		s.Enter("/quit")
		s.Left()
		s.Stop()
		if after := contents(t, home.Data); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// writing is one line for each thing that would write, begin work or wait for some.
var writing = []string{
	"say more", "!ls", "/push name=new say new", "/push !ls", "/run", "/run 1 --once", "/queue rm late", "/queue move late 1", "/queue edit late say sooner",
	"/retry old", "/send aide hello", "/receive", "/receive --show-only", "/receive from=aide --wait", "/check", "/check --show-only", "/inbox undo",
	"/inbox archive 1", "/inbox snooze 1 2h", "/inbox restore 1", "/inbox pin 1", "/messages next", "/messages next 1", "/messages wait", "/messages mute 1",
	"/messages mode queue", "/messages from aide fork", "/messages quiet", "/messages resume", "/reply 1 thank you", "/fire go on", "/fire #1 go on",
	"/memory edit plan", "/memory rm plan", "/kill late", "/agent new other", "/agent rename aide helper", "/agent close aide",
	"/agent config message-handling queue", "/resume old go on", "/fork 1", "/close old", "/model test/other", "/new", "/compact",
}

// box is the line of the prompt box.
func box(s *uitest.Session) string {
	for _, line := range slices.Backward(strings.Split(s.Screen(), "\n")) {
		if strings.HasPrefix(line, "›") {
			return line
		}
	}
	return ""
}

// What a crash cut shows as cut, and still; what only the log has shows too. What somebody
// else writes shows within seconds.
func TestReadOnlyScreenOfACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		_, home := stocked(t, s)
		before := contents(t, home.Data)
		s = uitest.Start(t, uitest.Options{Home: home, ReadOnly: errBarred})
		s.See("wait 20s", "✗ Crashed", "main ○", "the program ended while this turn ran")
		if now := contents(t, home.Data); now != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, now)
		}
		db, err := storetest.Open(context.Background(), filepath.Join(home.Data, "fantail.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		door := mail.Client{DB: db, Origin: tasks.OriginCLI, Ring: func() {}}
		if _, err := door.Mail(context.Background(), mail.OutsideDeposit{To: []string{"main"}, Body: "from outside"}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s.Wait(3 * time.Second)
		s.See("2 pending")
		s.Enter("/inbox --list")
		s.See("from outside")
		s.Stop()
	})
}
