package agents

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/proc"
)

// keptTabs is how many ended agents keep their tabs over a restart.
const keptTabs = 20

// said is the agent's final text: what it wrote in the last reply of its turn that
// said anything.
func (a *agent) said(tx *store.Tx) (string, error) {
	rows, err := tx.TurnEntries(a.turn)
	if err != nil {
		return "", err
	}
	return history.Said(history.DecodeAll(rows)), nil
}

// cut is what a crash left of one turn.
type cut struct {
	turn   store.Turn
	groups []proc.Group // process groups that may still run
	text   string       // finished text and the tail of a running command's output
	parked *parked      // it goes on; nil: it is over
}

// recover sets right what the last host left when it died: turns that ran are
// crashed, their process groups are ended, tasks that ran get their one failure
// message with the partial output, main and helpers rest, and prompts that had
// not entered are held: shown, and never sent unless the human takes them back
// and sends them. A turn that only awaits an answer is none of these: it is
// returned, by agent, and goes on. After an orderly end there are at most such
// turns and prompts.
func (p *Pool) recover(ctx context.Context) (map[int64]*parked, error) {
	agents, cuts, err := p.openTurns(ctx)
	if err != nil || len(agents) == 0 {
		return nil, err
	}
	kept, cuts := p.keepable(agents, cuts)
	p.endGroups(cuts)
	return kept, p.o.DB.Write(ctx, "recover", func(tx *store.Tx) error {
		rests := map[int64]bool{}
		for _, a := range agents {
			rests[a.ID] = Kind(a.Kind).HasPrompt()
		}
		text := map[int64]string{} // by agent
		for _, c := range cuts {
			text[c.turn.Agent] = c.text
			if err := p.closeCut(tx, c, rests[c.turn.Agent]); err != nil {
				return err
			}
		}
		if err := p.recoverAgents(tx, agents, kept, text); err != nil {
			return err
		}
		tasks, err := tx.RunningTasks()
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if k := kept[t.Agent]; k != nil {
				k.timeout = t.Timeout
				continue
			}
			if _, err := p.endTask(tx, t, t.Agent, ending{OutCrashed, "the program ended while it ran"}, text[t.Agent]); err != nil {
				return err
			}
		}
		if err := p.settleLost(tx, kept); err != nil {
			return err
		}
		if err := hold(tx, agents, kept); err != nil {
			return err
		}
		if err := p.noteQueued(tx); err != nil {
			return err
		}
		return tx.CloseEnded(keptTabs)
	})
}

// openTurns reads what the last host left: all agents, and the turns that were open.
func (p *Pool) openTurns(ctx context.Context) (agents []store.Agent, cuts []cut, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		turns, err := rx.OpenTurns()
		if err != nil {
			return err
		}
		for _, t := range turns {
			rows, err := rx.TurnEntries(t.ID)
			if err != nil {
				return err
			}
			asks, err := rx.Approvals(t.ID)
			if err != nil {
				return err
			}
			said, err := history.Partial(&rx.View, t.ID)
			if err != nil {
				return err
			}
			es := history.DecodeAll(rows)
			c := leftBy(t, append(es, said...))
			c.parked = parkedAt(t, es, asks)
			cuts = append(cuts, c)
		}
		agents, err = rx.Agents()
		return err
	})
	return agents, cuts, err
}

// recoverAgents has the agents rest that can, asks on behalf of those that are kept,
// and ends all others, with what a cut turn of them said.
func (p *Pool) recoverAgents(tx *store.Tx, agents []store.Agent, kept map[int64]*parked, text map[int64]string) error {
	var crashed []store.Agent
	for _, a := range agents {
		state, ends := Idle, !Kind(a.Kind).HasPrompt()
		switch {
		case State(a.State).Terminal():
			continue
		case kept[a.ID] != nil:
			state, ends = Asking, false
		case ends:
			state, crashed = Crashed, append(crashed, a)
		}
		if err := tx.SetAgentState(a.ID, string(state), ends); err != nil {
			return err
		}
	}
	for _, a := range crashed { // when all stand as ended: one's mail passes to who lives
		if Kind(a.Kind) == Fork {
			if err := p.forks.unhandled(tx, a.ID, ending{OutCrashed, "the program ended meanwhile"}, text[a.ID]); err != nil {
				return err
			}
		}
		if err := p.pass(tx, a.ID, Crashed); err != nil {
			return err
		}
	}
	for _, a := range agents {
		if Kind(a.Kind) == Fork {
			if err := tx.CloseAgent(a.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepable divides the cut turns: those that go on, by agent, and those that are
// over. Where nobody can answer main is to be free for what it is asked there.
func (p *Pool) keepable(agents []store.Agent, cuts []cut) (kept map[int64]*parked, over []cut) {
	lives := map[int64]bool{}
	for _, a := range agents {
		lives[a.ID] = !State(a.State).Terminal() && (p.o.Attended || Kind(a.Kind) != Main)
	}
	kept = map[int64]*parked{}
	for _, c := range cuts {
		if c.parked != nil && lives[c.turn.Agent] {
			kept[c.turn.Agent] = c.parked
		} else {
			over = append(over, c)
		}
	}
	return kept, over
}

// settleLost ends the questions of turns that are over.
func (p *Pool) settleLost(tx *store.Tx, kept map[int64]*parked) error {
	rows, err := tx.OpenApprovals(0)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if k := kept[row.Agent]; k != nil && k.row.ID == row.ID {
			continue
		}
		if err := p.Asks.Reply(tx, row, Answer{Settled: "the turn was cut"}, inbox.BySettle); err != nil {
			return err
		}
	}
	return nil
}

// hold keeps the prompts that wait from being sent, but for what the human told
// an agent without a prompt box whose turn goes on.
func hold(tx *store.Tx, agents []store.Agent, kept map[int64]*parked) error {
	for _, a := range agents {
		if kept[a.ID] != nil && !Kind(a.Kind).HasPrompt() {
			continue
		}
		if err := tx.HoldPrompts(a.ID); err != nil {
			return err
		}
	}
	return nil
}

// noteQueued says in each tab what stands in its queue: what was about to start
// when the program ended, and what an agent dispatched, needs the human's word
// again. A tab that ends with that notice is not told once more.
func (p *Pool) noteQueued(tx *store.Tx) error {
	ts, err := tx.QueuedTasks()
	if err != nil {
		return err
	}
	names := map[int64][]string{}
	var queues []int64
	for _, t := range ts {
		if names[t.Queue] == nil {
			queues = append(queues, t.Queue)
		}
		names[t.Queue] = append(names[t.Queue], t.Name)
	}
	for _, id := range queues {
		text := whatWaits(names[id])
		last, err := tx.EntriesBefore(id, 0, 1)
		if err != nil {
			return err
		}
		if es := history.DecodeAll(last); len(es) > 0 && es[0].Kind == EntryNotice && es[0].Text == text {
			continue
		}
		if _, err := p.book(id).Batch(tx, false).Add(0, Entry{Kind: EntryNotice, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// whatWaits is that notice.
func whatWaits(names []string) string {
	const most = 5
	listed, what, them := names, fmt.Sprintf("%d tasks are", len(names)), "them"
	if len(names) == 1 {
		what, them = "1 task is", "it"
	}
	more := ""
	if len(names) > most {
		listed, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("%s queued: %s%s. /run starts %s, /queue shows more.", what, strings.Join(listed, ", "), more, them)
}

// endGroups ends the commands that still run, side by side: one that ignores
// TERM takes two seconds.
func (p *Pool) endGroups(cuts []cut) {
	var all sync.WaitGroup
	for _, c := range cuts {
		for _, g := range c.groups {
			all.Add(1)
			p.o.Go("end a group", func() {
				defer all.Done()
				proc.End(g, 2*time.Second)
			})
		}
	}
	all.Wait()
}

// closeCut ends a turn that a crash cut. An agent that rests again is told so on
// its screen.
func (p *Pool) closeCut(tx *store.Tx, c cut, rests bool) error {
	b := p.book(c.turn.Agent).Batch(tx, false)
	if err := b.Salvage(c.turn.ID); err != nil {
		return err
	}
	end := &End{Outcome: OutCrashed, Error: "the program ended while this turn ran", Millis: tx.Now().Sub(c.turn.Started).Milliseconds(), Steps: c.turn.Steps}
	if _, err := b.Add(c.turn.ID, Entry{Kind: EntryEnded, End: end}); err != nil {
		return err
	}
	if rests {
		if _, err := b.Add(0, Entry{Kind: EntryNotice, Text: "Your last turn was cut: the program ended while it ran. Nothing is done again by itself."}); err != nil {
			return err
		}
	}
	return tx.EndTurn(c.turn.ID, string(OutCrashed), end.Error)
}

// leftBy reads what a cut turn left.
func leftBy(t store.Turn, es []Entry) cut {
	c := cut{turn: t, text: history.Said(es)}
	open := map[string]Entry{}
	for _, e := range es {
		switch {
		case e.Kind == EntryStarted && e.Call != nil:
			open[e.Call.ID] = e
		case e.Kind == EntryResult && e.Result != nil:
			delete(open, e.Result.ID)
		}
	}
	for _, e := range open {
		c.groups = append(c.groups, proc.Group{PGID: e.PGID, Start: e.PStart})
		c.text = history.WithTail(c.text, tailOf(e.Output))
	}
	return c
}

// tailOf is the end of a file, "" if there is none to read.
func tailOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	at, err := f.Seek(-history.TailBytes, io.SeekEnd)
	if err != nil {
		if at, err = f.Seek(0, io.SeekStart); err != nil {
			return ""
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, history.TailBytes))
	if err != nil {
		return ""
	}
	for at > 0 && len(data) > 0 && !utf8.RuneStart(data[0]) {
		data = data[1:]
	}
	s := strings.TrimRight(string(data), "\n")
	if at > 0 {
		s = fmt.Sprintf("… %d bytes before …\n%s", at, s)
	}
	return s
}
