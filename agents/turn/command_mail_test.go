package turn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"fantail/agents/mail"
	"fantail/agents/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened is a box, and what was delivered through it.
func opened(t *testing.T) (b *turn.CommandMailbox, got func() []string) {
	t.Helper()
	var mu sync.Mutex
	var bodies []string
	o := &turn.CommandMailboxes{Dir: filepath.Join(t.TempDir(), "post")}
	b, err := o.Open(7, func(d mail.OutsideDeposit) ([]mail.OutsideReceipt, error) {
		mu.Lock()
		defer mu.Unlock()
		if d.Body == "no" {
			return nil, errors.New("there is no such agent")
		}
		bodies = append(bodies, d.Body)
		return []mail.OutsideReceipt{{ID: int64(len(bodies)), To: strings.Join(d.To, ",")}}, nil
	}, func(_ string, f func()) { go f() })
	if err != nil {
		t.Fatal(err)
	}
	return b, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return bodies
	}
}

// Letters of many senders at once arrive, each once, and each sender gets its own answer.
func TestSend(t *testing.T) {
	b, got := opened(t)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			body := fmt.Sprintf("%d %s", i, strings.Repeat("x", i<<10))
			rs, err := turn.SendFromCommand(t.Context(), b.Dir, mail.OutsideDeposit{To: []string{fmt.Sprint("to", i)}, Body: body})
			if err != nil || len(rs) != 1 || rs[0].To != fmt.Sprint("to", i) {
				t.Errorf("%d: %+v, %v", i, rs, err)
			}
		})
	}
	all.Wait()
	if n := len(got()); n != 40 {
		t.Errorf("%d letters were delivered, want 40", n)
	}
	if _, err := turn.SendFromCommand(t.Context(), b.Dir, mail.OutsideDeposit{Body: "no"}); err == nil || err.Error() != "there is no such agent" {
		t.Errorf("a letter that was refused: %v", err)
	}
	left, err := os.ReadDir(b.Dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(b.Dir); err != nil || len(left) > 0 {
		t.Errorf("after its end the box holds %v, %v", left, err)
	}
	if _, err := turn.SendFromCommand(t.Context(), b.Dir, mail.OutsideDeposit{Body: "late"}); err == nil {
		t.Error("a letter into a box that is closed was sent")
	}
	if left, err := os.ReadDir(b.Dir); err != nil || len(left) > 0 {
		t.Errorf("a letter that nobody takes left %v, %v", left, err)
	}
}

// Commands of an agent that run one after another find the same box, and nothing in it; others have their own.
func TestOffice(t *testing.T) {
	o := &turn.CommandMailboxes{Dir: filepath.Join(t.TempDir(), "post")}
	open := func(agent int64) *turn.CommandMailbox {
		t.Helper()
		b, err := o.Open(agent, nil, func(_ string, f func()) { go f() })
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	closes := func(bs ...*turn.CommandMailbox) {
		t.Helper()
		for _, b := range bs {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	one, beside, other := open(1), open(1), open(2)
	if one.Dir == beside.Dir || one.Dir == other.Dir {
		t.Errorf("boxes that are open at once are at %s, %s, %s", one.Dir, beside.Dir, other.Dir)
	}
	if err := os.MkdirAll(filepath.Join(one.Dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	closes(one)
	if err := os.WriteFile(filepath.Join(one.Dir, "late"), nil, 0o600); err != nil { // as a process does that outlived its command
		t.Fatal(err)
	}
	again := open(1)
	if again.Dir != one.Dir {
		t.Errorf("the next command's box is at %s, that before it was at %s", again.Dir, one.Dir)
	}
	if left, err := os.ReadDir(again.Dir); err != nil || len(left) != 1 {
		t.Errorf("a box begins with %v, %v; want its door", left, err)
	}
	closes(beside, other, again)
}

// Whatever a command lays there, nothing outside is read or written, nothing hangs, and others are served.
func TestBox_hostile(t *testing.T) {
	b, got := opened(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"Body":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(b.Dir, name) }
	name := func(c string) string { return strings.Repeat(c, 26) }
	for _, err := range []error{
		os.Symlink(secret, at(name("A"))), // a link that leads out
		syscall.Mkfifo(at(name("B")), 0o600),
		os.Mkdir(at(name("C")), 0o700),
		os.WriteFile(at(name("D")), []byte("no JSON"), 0o600),
		os.WriteFile(at(name("E")), []byte(`{"Body":"answered elsewhere"}`), 0o600),
		os.Symlink(secret, at(name("E")+".part")), // where the answer would be written
		os.WriteFile(at(name("F")), nil, 0o600),
		os.Truncate(at(name("F")), 1<<40),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	pipe, err := os.OpenFile(at("door"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for _, line := range []string{
		name("A"), name("B"), name("C"), name("D"), name("E"), name("F"), name("G"), "../secret", "", ".", "door", strings.Repeat("x", 9000), "a\x00b",
	} {
		if _, err := pipe.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := turn.SendFromCommand(t.Context(), b.Dir, mail.OutsideDeposit{Body: "good"}); err != nil {
		t.Errorf("after it, a good letter: %v", err)
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != `{"Body":"secret"}` {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
	for _, body := range got() {
		if body == "secret" {
			t.Error("a file outside was sent")
		}
	}
	if err := os.Remove(at("door")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turn.SendFromCommand(ctx, b.Dir, mail.OutsideDeposit{Body: "x"}); err == nil {
		t.Error("without a door a letter was sent")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestBare: a directory without a way out for mail is another one than those in use, and empty; it is left so.
func TestBare(t *testing.T) {
	o := &turn.CommandMailboxes{Dir: filepath.Join(t.TempDir(), "post")}
	a, err := o.Bare(7)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Bare(7)
	if err != nil || a.Dir == b.Dir {
		t.Fatal(a, b, err)
	}
	left := filepath.Join(a.Dir, "left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := turn.SendFromCommand(t.Context(), a.Dir, mail.OutsideDeposit{}); err == nil {
		t.Error("mail leaves it")
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
