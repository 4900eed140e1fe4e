package agents_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
)

var kills = flag.Int("kills", 100, "how often TestKill_duringFanOut kills the program")

// lifeEnv makes the test binary a program that lives until it is killed:
// "LIFE\nDIRECTORY\nARGUMENT".
const lifeEnv = "FANTAIL_TEST_LIFE"

// live is such a life. False: this is no child.
func live() bool {
	parts := strings.SplitN(os.Getenv(lifeEnv), "\n", 3)
	if len(parts) < 3 {
		return false
	}
	lives := map[string]func(t *testing.T, dir, argument string){"fan out": fanOut, "batch": batch, "forks": forks, "asks": asksThenDies, "streams": streams, "replies": replies, "compacts": compacts}
	tests := []testing.InternalTest{{Name: parts[0], F: func(t *testing.T) { lives[parts[0]](t, parts[1], parts[2]) }}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
	return true
}

// lived runs one life and calls heard with what it says, line by line; heard
// returns true to kill it. It returns once the child is gone, and whether it
// was killed, by us or by itself.
func lived(t *testing.T, life, dir string, argument any, heard func(line string) bool) bool {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%v", lifeEnv, life, dir, argument))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			break // what has no end of line was not said
		}
		if heard(strings.TrimSuffix(line, "\n")) {
			check(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // how it ended is asked next
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}

// fanOut pushes work that pushes work, sends and takes, all the time, and says
// what was acknowledged. It begins each life by balancing the books.
func fanOut(t *testing.T, dir, life string) {
	w := open(t, builtin.New(), setting{dir: dir, cap: 4})
	l, err := w.pool.Ledger.Balance(t.Context())
	check(t, err)
	if l.Started != l.Delivered+l.Pending || len(l.Wrong) > 0 {
		fmt.Printf("WRONG %s\n", strings.ReplaceAll(l.String(), "\n", "; "))
	}
	first, err := strconv.Atoi(life) // a short life does something else each time
	check(t, err)
	fmt.Println("READY")
	for n := first; ; n++ {
		prompts := []string{
			"say small", "fail on purpose", "send main: half way then say done", "list . then say listed",
			fmt.Sprintf("delegate kid-%s-%d: say deep then say asked", life, n), "check then say looked", "wait 1s then say late",
		}
		task, err := w.pool.Tasks.Push(t.Context(), w.main(), tools.Task{Prompt: prompts[n%len(prompts)], Deliver: []string{"hold", "next", "wake"}[n%3]})
		if err == nil {
			fmt.Println("pushed", task.ID)
		} // else too many live: the next does better
		if n%3 == 0 {
			w.run(0)
		}
		switch n % 4 {
		case 1:
			ms, _, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{})
			check(t, err)
			for _, m := range ms {
				fmt.Println("took", m.ID)
			}
		case 2:
			id, err := w.pool.Letters.Send(t.Context(), w.main(), "main", "a note", "")
			check(t, err)
			fmt.Println("sent", id)
		case 3:
			w.prompt("check then say looked")
		}
	}
}

// TestKill_duringFanOut kills the program at random points while it fans work
// out: every task that started ends in exactly one message, and what was
// acknowledged is there, once.
// Spec, N-19, E-1, E-2.
func TestKill_duringFanOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pushed, sent, taken := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	for life := range *kills {
		at := time.Duration(rand.IntN(120)) * time.Millisecond
		var due <-chan time.Time
		killed := lived(t, "fan out", dir, life, func(line string) bool {
			var word string
			var id int64
			switch _, _ = fmt.Sscan(line, &word, &id); word {
			case "READY":
				due = time.After(at)
			case "pushed":
				pushed[id] = true
			case "sent":
				sent[id] = true
			case "took":
				if taken[id] {
					t.Errorf("message %d was taken twice", id)
				}
				taken[id] = true
			default:
				t.Errorf("life %d said %q", life, line)
			}
			select {
			case <-due:
				return true
			default:
				return false
			}
		})
		if !killed {
			t.Fatalf("life %d ended by itself", life)
		}
	}

	w := open(t, builtin.New(), setting{dir: dir, cap: 4})
	w.consent(0)
	check(t, w.pool.Settled(t.Context())) // what many lives left takes longer than settle waits
	for {
		ms, left, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{})
		check(t, err)
		for _, m := range ms {
			if taken[m.ID] {
				t.Errorf("message %d was taken twice", m.ID)
			}
		}
		if left == 0 {
			break
		}
	}
	l, err := w.pool.Ledger.Balance(t.Context())
	check(t, err)
	t.Logf("%d kills; %d pushes, %d notes and %d takes acknowledged; %s", *kills, len(pushed), len(sent), len(taken), l)
	if len(l.Wrong) > 0 || l.Running+l.Queued > 0 || l.Started != l.Delivered+l.Pending || l.Started < len(pushed) || len(sent) == 0 || len(taken) == 0 {
		t.Errorf("the books: %s", l)
	}
	for id := range sent {
		if m, ok, err := w.pool.Letters.Message(t.Context(), id); !ok || err != nil || m.Taken.IsZero() {
			t.Errorf("note %d: %+v, %v", id, m, err)
		}
	}
}

// mailing is a model that asks for a batch of tools with receive in its middle.
func mailing(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if asked(req) != "go" || len(results(req)) > 0 {
		return text("ok"), nil
	}
	parts := text("I look.")
	for i, c := range []string{"list_files", "receive", "queue", "receive", "list_files"} {
		parts = append(parts, call(fmt.Sprint("c", i), c, `{}`)...)
	}
	return parts, nil
}

// batch carries out such a batch and dies by its own hand after the statement
// whose number it was given.
func batch(t *testing.T, dir, argument string) {
	var armed atomic.Bool
	var after int64
	_, err := fmt.Sscan(argument, &after)
	check(t, err)
	var ran atomic.Int64
	w := open(t, &model{reply: mailing}, setting{dir: dir, trace: func(string) {
		if armed.Load() && ran.Add(1) == after {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	for i := range 3 {
		_, err := inbox.New(w.db, nil).Deposit(t.Context(), inbox.Message{
			Recipient: w.main(), From: "outside", Deliver: inbox.Hold, Body: fmt.Sprint("note ", i),
		})
		check(t, err)
	}
	armed.Store(true)
	w.prompt("go")
	w.settle()
	fmt.Println("DONE")
}

// TestKill_afterEveryStatementOfABatchThatTakes: wherever the program dies in a
// batch of tools that takes mail, each message is pending or stands in exactly
// one entry, in order, and the history that is left makes a valid request.
// Spec: E-2, E-3, O-11, N-19.
func TestKill_afterEveryStatementOfABatchThatTakes(t *testing.T) {
	t.Parallel()
	died := 0
	for after := int64(1); ; after++ {
		dir := t.TempDir()
		done := false
		killed := lived(t, "batch", dir, after, func(line string) bool {
			done = done || line == "DONE"
			return false
		})
		if !killed {
			if !done {
				t.Fatal("a life ended before its batch did")
			}
			break
		}
		died++
		m := &model{reply: mailing}
		w := open(t, m, setting{dir: dir})
		l, err := w.pool.Ledger.Balance(t.Context())
		check(t, err)
		ms, err := w.pool.Letters.Inbox(t.Context(), w.main())
		check(t, err)
		if l.Taken+len(ms) != 3 || len(l.Wrong) > 0 {
			t.Errorf("after statement %d: %s", after, l)
		}
		var got []string
		for _, e := range w.entries("main") {
			for _, m := range e.Messages {
				got = append(got, m.Body)
			}
		}
		for _, m := range ms {
			got = append(got, m.Body)
		}
		if strings.Join(got, " ") != "note 0 note 1 note 2" {
			t.Errorf("after statement %d: %q", after, got)
		}
		w.prompt("more")
		w.settle()
		for _, req := range m.seen() {
			if err := valid(req.Messages); err != nil {
				t.Errorf("after statement %d: %v", after, err)
			}
		}
		w.state("main", event.Idle)
		w.close()
	}
	if died < 20 {
		t.Errorf("only %d statements were tried", died)
	}
	t.Logf("%d statements", died)
}
