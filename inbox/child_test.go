package inbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"fantail/store"
)

// childEnv makes the test binary a child process that does one job with a
// database: "JOB\nPATH\nARGUMENT".
const childEnv = "FANTAIL_INBOX_CHILD"

// process is a running child.
type process struct {
	*exec.Cmd
	stdin io.Closer
	lines chan string // complete lines of standard output; closed at its end
}

// spawn starts a child. The child prints a line after it has committed what the line reports.
func spawn(t testing.TB, job, path string, argument any) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe), lines: make(chan string, 1<<16)}
	p.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%v", childEnv, job, path, argument))
	p.Stderr = os.Stderr
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // a line without its end was not acknowledged
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return p
}

func (p *process) all() (lines []string) {
	for line := range p.lines {
		lines = append(lines, line)
	}
	return lines
}

func child(env string) int {
	parts := strings.SplitN(env, "\n", 3)
	db, err := store.Open(context.Background(), parts[1], store.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer db.Close()
	c := &worker{db: db, argument: parts[2]}
	jobs := map[string]func() error{"live": c.live, "drain": c.drain, "keyed": c.keyed, "shelve": c.shelve, "obey": c.obey}
	if err := jobs[parts[0]](); err != nil {
		fmt.Fprintln(os.Stderr, parts[0], err)
		return 1
	}
	return 0
}

type worker struct {
	db       *store.DB
	argument string
	mu       sync.Mutex
}

// say acknowledges with one write, so that a kill leaves no partial line after a whole one.
func (c *worker) say(format string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := fmt.Fprintf(os.Stdout, format+"\n", args...)
	return err
}

func (c *worker) find(name string) (id int64, err error) {
	err = c.db.Read(context.Background(), func(rx *store.Rx) error {
		a, ok, err := rx.AgentByName(name)
		if id = a.ID; err == nil && !ok {
			err = fmt.Errorf("no agent %s", name)
		}
		return err
	})
	return id, err
}

const senders = 3

// live deposits and takes until it is killed. Its argument is the generation,
// the first part of every body.
func (c *worker) live() error {
	main, err := c.find("main")
	if err != nil {
		return err
	}
	rung := make(chan struct{}, 1)
	box := New(c.db, func(Change) {
		select {
		case rung <- struct{}{}:
		default:
		}
	})
	failed := make(chan error, senders+2)
	for i := range senders {
		sender, err := c.find(fmt.Sprint("s", i))
		if err != nil {
			return err
		}
		go func() { failed <- c.send(box, main, sender, i) }()
	}
	for range 2 {
		go func() {
			for {
				if err := c.collect(box, main, Query{Limit: rand.IntN(4)}); err != nil {
					failed <- err
					return
				}
				<-rung
			}
		}()
	}
	return <-failed
}

func (c *worker) send(box *Inbox, main, sender int64, i int) error {
	for seq := 0; ; seq++ {
		m := Message{Recipient: main, Sender: sender, Body: fmt.Sprintf("%s/%d/%d", c.argument, i, seq)}
		if seq%3 == 0 {
			m.Key = m.Body
		}
		if seq%7 == 0 {
			m.Priority = Urgent
		}
		id, err := box.Deposit(context.Background(), m)
		if err != nil {
			return err
		}
		if err := c.say("d %d %s", id, m.Body); err != nil {
			return err
		}
		if m.Key == "" {
			continue
		}
		if again, err := box.Deposit(context.Background(), m); err != nil || again != id {
			return fmt.Errorf("retry of %d gave %d, %w", id, again, err)
		}
	}
}

// collect takes once and acknowledges the entry and its messages.
func (c *worker) collect(box *Inbox, main int64, q Query) error {
	q.Recipient = main
	var ids []int64
	var entry int64
	err := c.db.Write(context.Background(), "take", func(tx *store.Tx) error {
		ids, entry = nil, 0
		_, _, err := box.Take(tx, q, "check", func(ms []Message) (int64, error) {
			for _, m := range ms {
				ids = append(ids, m.ID)
			}
			data, err := json.Marshal(ids)
			if err != nil {
				return 0, err
			}
			entry, err = tx.Append(main, 0, "message", string(data))
			return entry, err
		})
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	data, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return c.say("t %d %s", entry, data)
}

// drain takes all mail of main, a few at a time, once its standard input ends.
func (c *worker) drain() error {
	main, err := c.find("main")
	if err != nil {
		return err
	}
	box := New(c.db, nil)
	if err := c.say("ready"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	for {
		if n, err := box.Count(context.Background(), main); err != nil || n.Pending == 0 {
			return err
		}
		if err := c.collect(box, main, Query{Limit: 1 + rand.IntN(5)}); err != nil {
			return err
		}
	}
}

// keyed deposits one message with a key and prints its id.
func (c *worker) keyed() error {
	main, err := c.find("main")
	if err != nil {
		return err
	}
	id, err := New(c.db, nil).Deposit(context.Background(), Message{Recipient: main, From: "ci", Body: "built", Key: c.argument})
	if err != nil {
		return err
	}
	return c.say("%d", id)
}

// obey deposits each line of standard input and prints "d ID BODY", or "e ERROR".
func (c *worker) obey() error {
	main, err := c.find("main")
	if err != nil {
		return err
	}
	box := New(c.db, nil)
	if err := c.say("ready"); err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		id, err := box.Deposit(context.Background(), Message{Recipient: main, From: "ci", Body: in.Text(), Key: in.Text()})
		if err != nil {
			err = c.say("e %v", err)
		} else {
			err = c.say("d %d %s", id, in.Text())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
