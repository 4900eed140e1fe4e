package crashtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
)

// fanOut pushes work that pushes work, sends and takes, all the time, and says
// what was acknowledged. It begins each life by balancing the books.
func fanOut(t *testing.T, dir, life string) {
	w := agentstest.Open(t, builtin.New(), agentstest.Setting{Dir: dir, Cap: 4})
	l, err := w.Pool.Records.Balance(t.Context())
	agentstest.Check(t, err)
	if l.Started != l.Delivered+l.Pending || len(l.Wrong) > 0 {
		fmt.Printf("WRONG %s\n", strings.ReplaceAll(l.String(), "\n", "; "))
	}
	first, err := strconv.Atoi(life) // a short life does something else each time
	agentstest.Check(t, err)
	fmt.Println("READY")
	for n := first; ; n++ {
		prompts := []string{
			"say small", "fail on purpose", "send main: half way then say done", "list . then say listed",
			fmt.Sprintf("delegate kid-%s-%d: say deep then say asked", life, n), "check then say looked", "wait 1s then say late",
		}
		task, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Prompt: prompts[n%len(prompts)], Deliver: []string{"hold", "next", "wake"}[n%3]})
		if err == nil {
			fmt.Println("pushed", task.ID)
		} // else too many live: the next does better
		if n%3 == 0 {
			w.Run(0)
		}
		switch n % 4 {
		case 1:
			ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
			agentstest.Check(t, err)
			for _, m := range ms {
				fmt.Println("took", m.ID)
			}
		case 2:
			id, err := w.Pool.Letters.Send(t.Context(), w.Main(), "main", "a note", "")
			agentstest.Check(t, err)
			fmt.Println("sent", id)
		case 3:
			w.Prompt("check then say looked")
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
	kills := long.Times(5, 50)
	for life := 0; life < kills || life < 50 && (len(sent) == 0 || len(taken) == 0); life++ { // a slow machine does little in one
		at := time.Duration(rand.IntN(120)) * time.Millisecond
		var due <-chan time.Time
		killed := agentstest.Lived(t, "fan out", dir, life, func(line string) bool {
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

	w := agentstest.Open(t, builtin.New(), agentstest.Setting{Dir: dir, Cap: 4})
	w.Consent(0)
	agentstest.Check(t, w.Pool.Settled(t.Context())) // what many lives left takes longer than settle waits
	for {
		ms, left, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
		agentstest.Check(t, err)
		for _, m := range ms {
			if taken[m.ID] {
				t.Errorf("message %d was taken twice", m.ID)
			}
		}
		if left == 0 {
			break
		}
	}
	l, err := w.Pool.Records.Balance(t.Context())
	agentstest.Check(t, err)
	t.Logf("at least %d kills; %d pushes, %d notes and %d takes acknowledged; %s", kills, len(pushed), len(sent), len(taken), l)
	if len(l.Wrong) > 0 || l.Running+l.Queued > 0 || l.Started != l.Delivered+l.Pending || l.Started < len(pushed) || len(sent) == 0 || len(taken) == 0 {
		t.Errorf("the books: %s", l)
	}
	for id := range sent {
		if m, ok, err := w.Pool.Letters.Message(t.Context(), id); !ok || err != nil || m.Taken.IsZero() {
			t.Errorf("note %d: %+v, %v", id, m, err)
		}
	}
}
