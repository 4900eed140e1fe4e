package crashtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
	"fantail/tools/proc"
)

// attached opens a pool whose agents are all a vendor's.
func attached(t testing.TB, dir, temper string) *agentstest.World {
	t.Helper()
	const model = "acp/fake"
	return agentstest.Open(t, &agentstest.Model{}, agentstest.Setting{
		Dir: filepath.Join(dir, "ours"), Cap: 2, Model: model,
		Others: map[string]llm.Provider{model: theirs(dir, temper)},
	})
}

// vendors is a life in which a vendor's agents carry out main's turns and those of what is pushed: mail comes, questions are
// answered, policies change. It says what was acknowledged.
func vendors(t *testing.T, dir, life string) {
	w := attached(t, dir, "wild")
	l, err := w.Pool.Records.Balance(t.Context())
	agentstest.Check(t, err)
	if len(l.Wrong) > 0 {
		fmt.Printf("WRONG %s\n", strings.ReplaceAll(l.String(), "\n", "; "))
	}
	fmt.Println("READY")
	go func() {
		for range time.Tick(time.Millisecond) {
			fmt.Println("lives") // when it is killed depends on nothing that it does
		}
	}()
	modes := []policy.Mode{policy.Manual, policy.Interrupt, policy.Queue}
	mode := modes[rand.IntN(len(modes))]
	_, err = w.Pool.Mail.Override(t.Context(), w.Main(), func(o *policy.Overrides) { o.Mode, o.ModeAfter = mode, time.Second })
	agentstest.Check(t, err)
	for n := 0; ; n++ {
		word := fmt.Sprintf("<%s-%d>", life, n)
		switch rand.IntN(6) {
		case 0:
			id, err := w.Pool.Letters.Send(t.Context(), w.Main(), "main", "note "+word, "")
			agentstest.Check(t, err)
			fmt.Println("sent", id)
		case 1:
			if len(w.Pool.Infos()[0].Prompts) == 0 { // main's
				w.Prompt("do " + word)
				fmt.Println("prompted", word)
			}
		case 2:
			task, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{
				Prompt: "be a kid " + word, Deliver: []string{"hold", "next", "wake"}[n%3], Start: n%2 == 0,
			})
			if err == nil {
				fmt.Println("pushed", task.ID)
			} // else too many live
		case 3:
			w.Consent(0)
		case 4:
			ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{Limit: 3})
			agentstest.Check(t, err)
			for _, m := range ms {
				fmt.Println("took", m.ID)
			}
		}
		decides(t, w)
		<-time.After(time.Duration(rand.IntN(12)) * time.Millisecond)
	}
}

// decides answers what is asked, this way or that.
func decides(t *testing.T, w *agentstest.World) {
	for _, i := range w.Pool.Infos() {
		if q := i.Question; q != nil && q.Asks != nil && len(q.Asks.Options) > 0 {
			_ = w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: q.Asks.Options[rand.IntN(len(q.Asks.Options))].Label}) // another answer may be first
		}
	}
}

// killed is what became of a workspace over its lives.
type killed struct {
	dir         string
	sent, taken map[int64]bool
	pushed      map[int64]bool
	prompts     map[string]bool
	kills       map[string]int // by what was killed, and what it did
	read, size  int            // bytes of the journal: those of the lives before, and all
}

// TestKill_vendors kills the program, a vendor's, and both, at random points while vendors' agents carry out turns. What was
// acknowledged is there; what entered a conversation was told to its agent, again only after a crash and marked then; nothing
// that an agent said is in a transcript twice; no vendor's program outlives ours.
// Spec: E-1, E-2, N-19, Q-42, Q-45.
func TestKill_vendors(t *testing.T) {
	t.Parallel()
	const batch = 40 // kills of one workspace: its sessions are replayed from their beginning
	want, all := long.Times(4, 50), map[string]int{}
	told, again := 0, 0
	for done := 0; done < want; {
		dir, err := os.MkdirTemp("", "kv") // its sockets have short names
		agentstest.Check(t, err)
		t.Cleanup(func() {
			if !t.Failed() {
				_ = os.RemoveAll(dir)
			}
		})
		k := killed{dir, map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[string]bool{}, map[string]int{}, 0, 0}
		agentstest.Check(t, os.MkdirAll(filepath.Join(dir, "sessions"), 0o700))
		agentstest.Check(t, os.MkdirAll(filepath.Join(dir, "ours"), 0o700))
		for n := 0; n < min(batch, want-done); {
			n += k.lives(t, done+n)
		}
		a, b := k.balances(t)
		told, again = told+a, again+b
		for what, n := range k.kills {
			all[what] += n
			done += n
		}
		if t.Failed() {
			t.Fatalf("what is left is in %s", dir)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%5d %s", all[what], what)
	}
	t.Logf("%d messages and prompts were told, %d of them a second time", told, again)
}

// lives lives one life and returns how many kills there were in it.
func (k *killed) lives(t *testing.T, life int) (kills int) {
	t.Helper()
	at := time.Duration(rand.IntN(500)) * time.Millisecond
	var due <-chan time.Time
	how := []string{"the program", "both"}[rand.IntN(2)]
	what := "nothing went on"
	if !agentstest.Lived(t, "vendors", k.dir, life, func(line string) bool {
		word, rest, _ := strings.Cut(line, " ")
		var id int64
		_, _ = fmt.Sscan(rest, &id)
		switch word {
		case "lives":
		case "READY":
			due = time.After(at)
		case "sent":
			k.sent[id] = true
		case "pushed":
			k.pushed[id] = true
		case "prompted":
			k.prompts[rest] = true
		case "took":
			if k.taken[id] {
				t.Errorf("message %d was taken twice", id)
			}
			k.taken[id] = true
		default:
			t.Errorf("life %d said %q", life, line)
		}
		select {
		case <-due:
		default:
			return false
		}
		for pid, moment := range k.journal(t) {
			if moment == ends || strings.HasSuffix(moment, dying) {
				continue
			}
			what = "a vendor's agent " + moment // one of them
			if how == "both" {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return true
	}) {
		t.Fatalf("life %d ended by itself", life)
	}
	k.kills[how+", as "+what]++
	kills = 1
	for pid, moment := range k.journal(t) {
		if !gone(pid) {
			t.Errorf("a vendor's program that %s outlives ours", moment)
		}
		if alone, is := strings.CutSuffix(moment, dying); is {
			k.kills["a vendor's agent alone, as it "+alone]++
			kills++
		}
	}
	k.read = k.size
	return kills
}

// journal is what each program did last, of those that began since the last life.
func (k *killed) journal(t *testing.T) map[int]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "journal"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	k.size = len(text)
	last := map[int]string{}
	for line := range strings.Lines(string(text[k.read:])) {
		pid, moment, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(pid)
		agentstest.Check(t, err)
		last[n] = moment
	}
	return last
}

// gone reports whether a process has ended, in two seconds.
func gone(pid int) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute) // it tells only what stays
	for {
		if p, ok := proc.Look(pid); !ok || p.State == 'Z' {
			return true
		}
		select {
		case <-tick.C:
		case <-late:
			return false
		}
	}
}
