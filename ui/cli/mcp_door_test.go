package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/agents/engine"
	"fantail/tools"
)

// threshold is an agent's door in a test.
type threshold struct {
	dir   string
	all   sync.WaitGroup
	end   func()
	calls chan string
}

func opens(t *testing.T, dir string, theirs bool) *threshold {
	t.Helper()
	d := &threshold{dir: dir, calls: make(chan string, 10)}
	spec := tools.Spec{Name: "queue", Description: "The queue.", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true}
	seat := engine.Options{
		Tools:  func() []tools.Spec { return []tools.Spec{spec} },
		Theirs: func(pid int) bool { return theirs && pid == os.Getpid() },
		Call: func(ctx context.Context, name string, args json.RawMessage) tools.Result {
			d.calls <- name + string(args)
			if strings.Contains(string(args), "wait") {
				<-ctx.Done()
				d.calls <- "gone"
			}
			return tools.Result{Text: "empty", Error: strings.Contains(string(args), "bad")}
		},
	}
	server, end, err := AgentServers{Self: "/bin/fantail", Go: func(_ string, f func()) { d.all.Go(f) }}.Open(seat, dir)
	if err != nil {
		t.Fatal(err)
	}
	if server.Command != "/bin/fantail" || strings.Join(server.Args, " ") != "mcp --agent" || len(server.Env) != 1 || server.Env[0].Value != dir {
		t.Errorf("%+v", server)
	}
	d.end = sync.OnceFunc(func() { end(); d.all.Wait() })
	t.Cleanup(d.end)
	return d
}

// enter comes in as a program of the agent's would. kill ends that as a crash would.
func (d *threshold) enter(t *testing.T) (s *mcp.ClientSession, kill func()) {
	t.Helper()
	return d.through(t, func(start func(string, func()), in io.Reader, out io.Writer) error {
		return Enter(context.Background(), start, d.dir, in, out)
	})
}

// rings comes in as one that can make no socket.
func (d *threshold) rings(t *testing.T) (s *mcp.ClientSession, kill func()) {
	t.Helper()
	return d.through(t, func(start func(string, func()), in io.Reader, out io.Writer) error {
		w, came, err := ring(d.dir)
		if err != nil {
			return err
		}
		return passes(context.Background(), start, w, came, d.dir, in, out)
	})
}

func (d *threshold) through(t *testing.T, enters func(start func(string, func()), in io.Reader, out io.Writer) error) (s *mcp.ClientSession, kill func()) {
	t.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	d.all.Go(func() {
		err := enters(func(_ string, f func()) { d.all.Go(f) }, theirs, ours)
		_, _ = ours.CloseWithError(err), theirs.Close()
	})
	kill = func() { _, _ = in.Close(), out.Close() }
	t.Cleanup(kill)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "program"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, kill
}

// A program of the agent's is let in, by its parents or, where they can't be told, by what lies at the door.
func TestDoor(t *testing.T) {
	for _, theirs := range []bool{true, false} {
		dir := t.TempDir()
		d := opens(t, dir, theirs)
		s, _ := d.enter(t)
		l, err := s.ListTools(t.Context(), nil)
		if err != nil || len(l.Tools) != 1 || l.Tools[0].Name != "queue" || l.Tools[0].Meta["anthropic/alwaysLoad"] != true {
			t.Fatalf("%+v, %v", l, err)
		}
		for args, failed := range map[string]bool{`{}`: false, `{"bad":1}`: true} {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "queue", Arguments: json.RawMessage(args)})
			if err != nil || r.IsError != failed || r.Content[0].(*mcp.TextContent).Text != "empty" {
				t.Errorf("%+v, %v", r, err)
			}
			if got := <-d.calls; got != "queue"+args {
				t.Error(got)
			}
		}
		i, err := os.Stat(filepath.Join(dir, token))
		if theirs != errors.Is(err, os.ErrNotExist) || err == nil && i.Mode().Perm() != 0o600 {
			t.Errorf("theirs %v: %v, %v", theirs, i, err)
		}
	}
}

// Who is not the agent's stays outside.
func TestDoor_strangers(t *testing.T) {
	dir := t.TempDir()
	opens(t, dir, false)
	for _, say := range []string{"\n", "guessed\n", strings.Repeat("x", 5<<20)} {
		c, err := dial(filepath.Join(dir, socket))
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		if got, err := r.ReadString('\n'); got != unknown || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		_, _ = io.WriteString(c, say)
		if got, err := r.ReadString('\n'); err == nil {
			t.Errorf("%.20q: %q", say, got)
		}
		_ = c.Close()
	}
	if err := Enter(t.Context(), nil, "", nil, nil); err == nil || !strings.Contains(err.Error(), "there is no agent here") {
		t.Error(err)
	}
	if err := Enter(t.Context(), nil, t.TempDir(), nil, nil); err == nil || !strings.Contains(err.Error(), "its program has ended") {
		t.Error(err)
	}
}

// A call ends with the program that made it; the door's end ends all.
func TestDoor_ends(t *testing.T) {
	d := opens(t, t.TempDir(), true)
	s, _ := d.enter(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.all.Go(func() { <-d.calls; cancel() })
	if r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "queue", Arguments: json.RawMessage(`{"wait":1}`)}); err == nil {
		t.Errorf("%+v", r)
	}
	if got := <-d.calls; got != "gone" {
		t.Error(got)
	}
	other, kill := d.enter(t)
	d.all.Go(func() {
		_, _ = other.CallTool(t.Context(), &mcp.CallToolParams{Name: "queue", Arguments: json.RawMessage(`{"wait":2}`)})
	})
	<-d.calls
	kill()
	if got := <-d.calls; got != "gone" {
		t.Error(got)
	}
	d.end()
	if _, err := dial(filepath.Join(d.dir, socket)); err == nil {
		t.Error("somebody listens")
	}
}

// A message that is too long ends its connection; the path of a socket may be as long as it is.
func TestDoor_bounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	opens(t, dir, true)
	c, err := dial(filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if got, err := r.ReadString('\n'); got != known || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	long := strings.Repeat(" ", maxLine+1<<20)
	_, _ = io.WriteString(c, long) // it may be let go before it has written all
	if got, err := r.ReadString('\n'); err == nil {
		t.Errorf("%q", got)
	}
}
