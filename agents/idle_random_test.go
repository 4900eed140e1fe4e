package agents_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
	"fantail/tools"
)

// lives is many agents that await input, each told, ended, killed, attached to and looked at at random, and now and then
// a crash of the host that has them.
type lives struct {
	*world
	rand  *rand.Rand
	block *sync.Mutex // held: the writer stands still
	dir   func() string

	ids      map[string]int64
	told     map[string]string // what an agent accepted, and who
	attached map[string][]func()
	n        int
}

// said is what an agent is told in the test: the model does what its second word says.
func (l *lives) words() string {
	l.n++
	return fmt.Sprintf("t%d %s", l.n, [...]string{"quick", "quick", "slow", "slow", "fail"}[l.rand.IntN(5)])
}

func living(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	_, what, _ := strings.Cut(asked(req), " ")
	switch what {
	case "slow":
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
	case "fail":
		return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "it will not do"}
	}
	return text("done: " + asked(req)), nil
}

// start opens the world over the directory.
func (l *lives) start(dir string) {
	l.world = open(l.T, &model{Reply: living}, setting{Dir: dir, Trace: func(string) {
		l.block.Lock()
		defer l.block.Unlock()
	}})
	l.attached = map[string][]func(){}
}

// crash goes on with what kill -9 of the host would leave now.
func (l *lives) crash() {
	l.block.Lock()
	dir := l.dir()
	for _, name := range []string{"fantail.db", "fantail.db-wal"} {
		b, err := os.ReadFile(filepath.Join(l.world.Dir, name))
		check(l.T, err)
		check(l.T, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	l.block.Unlock()
	old := l.world
	l.Close()
	check(l.T, os.RemoveAll(old.Dir))
	l.start(dir)
}

// act does one random thing to an agent; false: it has ended.
func (l *lives) act(name string) bool {
	ctx := context.Background()
	if n := l.rand.IntN(100); n < 40 {
		return l.tell(name)
	} else if n < 55 {
		_ = l.Pool.End(ctx, name) // it may have ended, or been told to
		if n < 50 {
			return l.tell(name) // while it ends
		}
	} else if n < 60 {
		_ = l.Pool.Kill(ctx, name, false) // it may have ended
	} else if n < 70 {
		if _, detach, err := l.Pool.Attach(ctx, name); err == nil {
			l.attached[name] = append(l.attached[name], detach)
		}
	} else if n < 80 {
		for _, detach := range l.attached[name] {
			detach()
		}
		delete(l.attached, name)
	} else if n < 90 {
		l.Human().Looks(l.ids[name])
	} else {
		l.Human().Looks(1)
	}
	return true
}

// tell tells an agent something; false: it has ended.
func (l *lives) tell(name string) bool {
	text := l.words()
	switch err := l.Pool.Tell(context.Background(), name, text); {
	case err == nil:
		l.told[text] = name
	case errors.As(err, new(*event.EndedError)), strings.Contains(err.Error(), "has ended"): // its tab may be closed
		return false
	default:
		check(l.T, err)
	}
	return true
}

// sound fails unless everything an agent accepted stands in its transcript, and each turn reported once.
func (l *lives) sound() {
	l.T.Helper()
	l.Balanced()
	found := map[string]bool{}
	check(l.T, l.DB.Read(context.Background(), func(rx *store.Rx) error {
		for name, id := range l.ids {
			rows, err := rx.EntriesAfter(id, 0, 0)
			if err != nil {
				return err
			}
			for _, e := range history.DecodeAll(rows) {
				_, unread, notice := strings.Cut(e.Text, "gives it that: ")
				switch {
				case e.Kind == history.EntryPrompt && !found[e.Text]:
					found[e.Text] = true
				case e.Kind == history.EntryNotice && notice && !found[unread]:
					found[unread] = true
				case e.Kind == history.EntryPrompt || notice:
					l.T.Errorf("%s was told %q twice", name, e.Text)
				}
			}
		}
		return nil
	}))
	for text, name := range l.told {
		if !found[text] {
			l.T.Errorf("%s (agent %d) accepted %q, which is lost", name, l.ids[name], text)
		}
	}
}

// agrees fails unless, where nothing moves, the rows say what is known of the agents, those that run hold a slot each and
// nobody else does, and whoever is idle though something waits for it waits for a slot.
func (l *lives) agrees() {
	l.T.Helper()
	synctest.Wait()
	held, running := l.Pool.Held(), 0
	check(l.T, l.DB.Read(context.Background(), func(rx *store.Rx) error {
		for _, i := range l.Pool.Infos() {
			row, _, err := rx.Agent(i.ID)
			if err != nil {
				return err
			}
			if i.Kind.Ends() && i.State == event.Running {
				running++
			}
			if row.State != string(i.State) {
				l.T.Errorf("%s is %s, its row says %s", i.Name, i.State, row.State)
			}
			if i.Await != nil && !row.Deadline.Equal(i.Await.Until) {
				l.T.Errorf("%s stays until %v, its row says %v", i.Name, i.Await.Until, row.Deadline)
			}
			if i.State == event.Idle && len(i.Prompts) > 0 && held < 8 {
				l.T.Errorf("%s is idle, %d slots are held, and %+v waits", i.Name, held, i.Prompts)
			}
		}
		return nil
	}))
	if held != running {
		l.T.Errorf("%d slots are held, and %d agents run", held, running)
	}
}

// TestIdle_random: whatever is done to agents that await input in whatever order, and wherever the host is killed,
// nothing they were told is lost or told twice, and each turn reports once.
// Spec: E-14.
func TestIdle_random(t *testing.T) {
	t.Parallel()
	count, seed := long.Times(40, lifetimes), long.Seed(t)
	const most = 20 // at once
	dir := func() string {
		dir, err := os.MkdirTemp(t.TempDir(), "host")
		check(t, err)
		return dir
	}
	for began := 0; began < count; {
		synctest.Test(t, func(t *testing.T) {
			l := &lives{
				world: &world{&agentstest.World{T: t}}, rand: rand.New(rand.NewPCG(seed, uint64(began))), block: &sync.Mutex{}, dir: dir,
				ids: map[string]int64{}, told: map[string]string{},
			}
			l.start(dir())
			var live []string
			for last := min(count, began+100); began < last || len(live) > 0; {
				if began < last && len(live) < most {
					name, prompt := fmt.Sprint("a", began), l.words()
					_, err := l.Pool.Tasks.Push(context.Background(), l.Main(), tools.Task{
						Name: name, Prompt: prompt, Interactive: true, Idle: 7 * time.Second, Start: true,
					})
					check(t, err)
					began++
					l.Until(name+" is there", func() bool { return l.Info(name).ID != 0 })
					l.ids[name] = l.Info(name).ID
					live = append(live, name)
				}
				n := l.rand.IntN(len(live))
				if !l.act(live[n]) {
					live[n] = live[len(live)-1]
					live = live[:len(live)-1]
				}
				if l.rand.IntN(60) == 0 {
					l.crash()
				}
				time.Sleep(time.Duration(l.rand.IntN(1500)) * time.Millisecond)
				if l.rand.IntN(5) == 0 {
					l.agrees()
				}
				if t.Failed() {
					return
				}
			}
			for _, detach := range l.attached {
				for _, d := range detach {
					d()
				}
			}
			l.Human().Looks(1)
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, i := range l.Pool.Infos() {
				if i.ID != 1 && !i.State.Terminal() {
					t.Errorf("%s is %s after a minute", i.Name, i.State)
				}
			}
			l.sound()
			l.Close()
			check(t, os.RemoveAll(l.world.Dir))
		})
		if t.Failed() {
			return
		}
	}
}
