package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
	"fantail/agents/agentstest"
	"fantail/agents/engine"
	"fantail/tools"
)

// A vendor's agent is the test's own program once more. What it was told lies in its sessions, what it did in a journal.

const (
	doorEnv = "FANTAIL_TEST_DOOR" // names the socket at which the program calls our tools
	dies    = 60                  // one in so many moments of a program is its last, by its own hand
	dying   = ", and dies"        // ends such a moment in the journal
	ends    = "ends"              // is the moment of one that ended as it was told to
)

// theirs is an engine whose programs keep all they know in dir. Those that are calm do not kill themselves.
func theirs(dir, temper string) *acp.Vendor {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	life := "program"
	if temper == "deaf" {
		life = temper
	}
	return acp.NewVendor(acp.VendorOptions{
		Name: "fake", Program: engine.Program{Argv: []string{exe}, Env: []string{agentstest.Life(life, dir, temper)}}, ServeMCP: serves,
	})
}

// ask is a call of one of our tools, as a program makes it.
type ask struct {
	Tool string
	Args json.RawMessage
}

// serves carries out the calls that come through a socket in the program's own directory, a line each.
func serves(at engine.Options, door string) (server acp.MCPServer, end func(), err error) {
	path := filepath.Join(door, "tools")
	l, err := net.Listen("unix", path)
	if err != nil {
		return server, nil, err
	}
	at.Go("hear at a door", func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			at.Go("serve at a door", func() { answers(at, conn) })
		}
	})
	return acp.MCPServer{Name: "fantail", Env: []acp.EnvVariable{{Name: doorEnv, Value: path}}}, func() { _ = l.Close() }, nil
}

// answers carries out one call; it ends with who made it.
func answers(at engine.Options, conn net.Conn) {
	defer conn.Close()
	var q ask
	if json.NewDecoder(conn).Decode(&q) != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at.Go("watch a door", func() {
		_, _ = io.Copy(io.Discard, conn) // it says no more: this ends with it
		cancel()
	})
	_ = json.NewEncoder(conn).Encode(at.Call(ctx, q.Tool, q.Args))
}

// program is the program of a vendor's agent.
type program struct {
	agent   acptest.Agent
	journal *os.File
	calm    bool
	n       int
}

// plays is its life: it serves its standard input and output.
func plays(t *testing.T, dir, temper string) {
	p := &program{calm: temper == "calm"}
	var err error
	p.journal, err = os.OpenFile(filepath.Join(dir, "journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	agentstest.Check(t, err)
	p.moment("begins")
	p.agent = acptest.Agent{
		Dir: filepath.Join(dir, "sessions"), Loads: true, Resumes: true, Steers: true, Turn: p.turn,
		Loses: func(string) bool { p.lingers("is told"); return false },
	}
	_ = p.agent.Serve(os.Stdin, os.Stdout)
	p.calm = true
	p.moment(ends)
}

// moment notes what it does, and may be its last.
func (p *program) moment(what string) {
	last := !p.calm && rand.IntN(dies) == 0
	if last {
		what += dying
	}
	_, _ = fmt.Fprintf(p.journal, "%d %s\n", os.Getpid(), what)
	if last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// lingers is moment, and a while in which it hears nothing.
func (p *program) lingers(what string) {
	p.moment(what)
	<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
}

// token is a word that nothing else says.
func (p *program) token() string {
	p.n++
	return fmt.Sprintf("<%d.%d.%d>", os.Getpid(), time.Now().UnixNano(), p.n)
}

// turn does a few things.
func (p *program) turn(t *acptest.Turn) string {
	p.lingers("begins a turn")
	for range 1 + rand.IntN(6) {
		switch rand.IntN(6) {
		case 0, 1:
			p.moment("speaks")
			t.Say("I say " + p.token() + ". ")
		case 2:
			p.calls(t, "execute", func() string { return "made " + p.token() })
		case 3:
			p.calls(t, "edit", func() string {
				p.lingers("asks")
				return "chosen: " + t.Ask(fmt.Sprint("c", p.n), "Edit a file", "allow_once", "reject_once")
			})
		case 4:
			p.calls(t, "fetch", func() string { return p.ours(t) })
		}
		p.rests(t)
		if t.Context.Err() != nil {
			return ""
		}
	}
	p.moment("says the last")
	t.Say("I end " + p.token() + ".")
	return ""
}

// calls makes one of its own calls, in which it does something.
func (p *program) calls(t *acptest.Turn, kind string, does func() string) {
	p.moment("calls")
	p.n++
	id := fmt.Sprint("c", p.n)
	t.Call(id, kind, kind+" something")
	p.rests(t)
	output := does()
	p.moment("has called")
	t.Done(id, output)
}

// rests lets a moment pass in which it hears what it is steered with.
func (p *program) rests(t *acptest.Turn) {
	select {
	case <-t.Steered:
		p.moment("is steered")
	case <-t.Context.Done():
	case <-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond):
	}
}

// ours calls one of our tools and returns what it says.
func (p *program) ours(t *acptest.Turn) string {
	what := [][2]string{
		{"check", `{}`},
		{"check", `{}`},
		{"inbox", `{}`},
		{"queue", `{}`},
		{"send", fmt.Sprintf(`{"to":"main","message":%q}`, "note "+p.token())},
		{"push", `{"prompt":"be a kid","start":true}`},
	}[rand.IntN(6)]
	if rand.IntN(20) == 0 {
		what = [2]string{"receive", `{"timeout":1}`}
	}
	if what[0] == "push" && strings.Contains(t.Prompt, "be a kid") {
		what[0] = "queue"
		what[1] = `{}`
	}
	p.moment("uses " + what[0])
	var servers []acp.MCPServer
	_ = json.Unmarshal([]byte(p.agent.Servers()), &servers)
	var r tools.Result
	conn, err := net.Dial("unix", servers[0].Env[0].Value)
	if err == nil {
		defer conn.Close()
		err = json.NewEncoder(conn).Encode(ask{what[0], json.RawMessage(what[1])})
	}
	if err == nil {
		err = json.NewDecoder(conn).Decode(&r)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	p.lingers("has used " + what[0])
	if what[0] != "check" && what[0] != "receive" {
		return "so many bytes: " + fmt.Sprint(len(r.Text)) // a list of what waits tells nobody of it
	}
	return r.Text
}
