package screen

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/ui/screen/wire"
)

// TestRelay_hung holds that a human who types without an answer is told if the host does not live, and can leave with
// Ctrl+C; that the report disappears once the host answers; and that a host that lives is left alone.
func TestRelay_hung(t *testing.T) {
	const goesOn = "goes on"
	for _, c := range []struct {
		name    string
		answers bool   // to a status request
		then    string // is typed, or goesOn
		leaves  bool
	}{
		{"lives", true, "", false},
		{"goes on", false, goesOn, false},
		{"another key", false, "c", false},
		{"Ctrl+C", false, "\x03", true},
		{"Ctrl+C of the kitty protocol", false, "\x1b[99;5u", true},
		{"Ctrl+C as a modified key", false, "x\x1b[27;5;99~", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			fd, err := connect(l.Addr().String(), within)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(fd)
			there, err := l.AcceptUnix()
			if err != nil {
				t.Fatal(err)
			}
			defer there.Close()
			in, typed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer typed.Close()
			r := &relay{host: fd, in: int(in.Fd()), out: 1, greet: true, full: true, livesIn: time.Millisecond}
			if c.answers {
				r.livesIn = within
			}
			types := func(keys string) {
				t.Helper()
				if _, err := typed.WriteString(keys); err != nil {
					t.Fatal(err)
				}
				if !r.key(make([]byte, 64)) {
					t.Fatal("there is no terminal")
				}
			}
			types("x")
			if code, done := r.late(time.Now()); done || r.lives != nil {
				t.Errorf("it asks at once; it ended: %v %d", done, code)
			}
			later := time.Now().Add(time.Hour)
			r.late(later)
			if c.answers {
				look, err := l.AcceptUnix()
				if err != nil {
					t.Fatal(err)
				}
				defer look.Close()
				if _, err := look.Write(wire.Append(nil, wire.Answer, nil)); err != nil {
					t.Fatal(err)
				}
			}
			for end := time.Now().Add(within); !r.hung && !r.askBy.IsZero(); later = later.Add(time.Hour) {
				if r.late(later); time.Now().After(end) {
					t.Fatal("it says nothing")
				}
			}
			shown := string(r.shown)
			if says := fmt.Sprintf("host (process %d) does not answer", os.Getpid()); r.hung == c.answers || strings.Contains(shown, says) == c.answers || strings.Contains(shown, "Ctrl+C leave") == c.answers {
				t.Errorf("hung is %v; it shows %q", r.hung, shown)
			}
			sent := len(r.sent)
			switch c.then {
			case "":
			case goesOn:
				if _, err := there.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				r.hear(make([]byte, 64))
				if k, _, _, whole, err := wire.Cut(r.sent[sent:], wire.MaxFrame); r.hung || k != wire.Back || !whole || err != nil {
					t.Errorf("hung is %v; the host is sent %q, %v", r.hung, r.sent[sent:], err)
				}
			default:
				types(c.then)
			}
			if leaves := r.code == 128+int(syscall.SIGINT) && !r.leaveBy.IsZero(); leaves != c.leaves {
				t.Errorf("it leaves: %v, with %d", leaves, r.code)
			}
		})
	}
}
