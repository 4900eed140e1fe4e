package attach

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/ui/screen/wire"
)

// silentHost returns a host that takes a prompt and answers no status request until goesOn is called.
func silentHost(t *testing.T) (conn *net.UnixConn, asked <-chan *net.UnixConn, goesOn func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	first := make(chan *net.UnixConn, 1)
	on := make(chan struct{})
	go func() {
		one, err := l.AcceptUnix()
		if err != nil {
			return
		}
		first <- one
		answer := wire.Append(nil, wire.Answer, wire.Fields{wire.PID + "=7"}.Bytes())
		for {
			look, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go func() {
				defer look.Close()
				<-on
				_, _ = look.Write(answer)
			}()
		}
	}()
	return c, first, sync.OnceFunc(func() { close(on) })
}

// lines is a writer that passes on each line.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestPrints_silentHost holds that a process that waits for a host with its prompt is told when the host does not
// live, how to end it, and when it answers again, and gets the answer in the end.
func TestPrints_silentHost(t *testing.T) {
	t.Parallel()
	conn, first, goesOn := silentHost(t)
	defer goesOn()
	var out bytes.Buffer
	errs := make(lines, 16)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := Asking{Out: &out, Err: errs, Stopped: func() (int, bool) { return 0, false }}.prints(ctx, conn, time.Millisecond, "hello")
		ended <- end{code, err}
	}()
	host := <-first
	defer host.Close()
	says := func(b []byte) {
		t.Helper()
		if _, err := host.Write(b); err != nil {
			t.Error(err)
		}
	}
	hears := func(parts ...string) {
		t.Helper()
		select {
		case line := <-errs:
			for _, part := range parts {
				if !strings.Contains(line, part) {
					t.Errorf("it says %q, without %q", line, part)
				}
			}
		case e := <-ended:
			t.Fatalf("it ended with %d, %v and said nothing", e.code, e.err)
		case <-ctx.Done():
			t.Fatal("it waits in silence")
		}
	}
	says(wire.Append(nil, wire.Answer, nil)) // the prompt is taken
	hears(fmt.Sprintf("the host (process %d) does not answer", os.Getpid()), "fantail host stop --now ends it", "waits until it goes on")
	goesOn()
	hears("the host answers again")
	says(wire.Append(wire.Append(nil, wire.Paint, []byte("hi")), wire.Bye, wire.Fields{wire.Code + "=0"}.Bytes()))
	if e := <-ended; e.code != 0 || e.err != nil || out.String() != "hi" {
		t.Errorf("it ended with %d, %v and wrote %q", e.code, e.err, out.String())
	}
	select {
	case line := <-errs:
		t.Errorf("it says once more %q", line)
	default:
	}
}
