// Package recovery repairs what the last host left when it died.
//
// Does: end the turns that a crash cut, their process groups and their tasks, leave open the turns that only await an
// answer, hold prompts that were typed but not sent.
//
// Does not: start anything, know agents in memory: it works on rows before any agent exists.
package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/proc"
)

// Recovery is what recovery needs.
type Recovery struct {
	DB     *store.DB
	Ends   *tasks.Ends
	Asks   *approval.Questions
	Abroad bool // another process runs the agents, and nothing can be written
	Book   func(agent int64) history.Writer
	Go     func(name string, f func()) // starts a goroutine

	// Unhandled tells the agent above a fork that its message was not handled.
	Unhandled func(tx *store.Tx, fork int64, why, text string) error
	// Unseen tells the agent above an observer that it did not finish.
	Unseen func(tx *store.Tx, observer int64, why, text string) error
}

// keptTabs is how many ended agents keep their tabs over a restart.
const keptTabs = 20

// cut is what a crash left of one turn.
type cut struct {
	turn   store.Turn
	groups []proc.Group // process groups that may still run
	text   string       // finished text and the tail of a running command's output
	parked *Parked      // it can be resumed; nil: it is over
}

// Run repairs what the last host left when it died. Turns that were running are crashed and their process groups
// ended; tasks that were running get their one failure message with the partial output; main and helpers become idle;
// prompts that had not entered are held: shown, but never sent unless the human takes them back and sends them. A turn
// that only awaits an answer is left alone and returned, by agent, to be resumed: it asks again, whatever its row
// says. An agent that was idle until input comes stays so. After an orderly end there are at most such turns, agents
// and prompts.
func (r *Recovery) Run(ctx context.Context) (map[int64]*Parked, error) {
	agents, cuts, err := r.openTurns(ctx)
	if err != nil || len(agents) == 0 {
		return nil, err
	}
	kept, cuts := r.keepable(agents, cuts)
	idle, err := r.idle(ctx, agents)
	if err != nil {
		return nil, err
	}
	r.endGroups(cuts)
	return kept, r.DB.Write(ctx, "recover", func(tx *store.Tx) error {
		rests := map[int64]bool{}
		for _, a := range agents {
			rests[a.ID] = event.Kind(a.Kind).HasPrompt()
		}
		text, turns := map[int64]string{}, map[int64]int64{} // by agent
		for _, c := range cuts {
			text[c.turn.Agent], turns[c.turn.Agent] = c.text, c.turn.ID
			b := r.Book(c.turn.Agent).Batch(tx)
			if err := closeCut(tx, b, c); err != nil {
				return err
			}
			if !rests[c.turn.Agent] {
				continue
			}
			if _, err := b.Add(0, history.Entry{Kind: history.EntryNotice, Text: wasCut}); err != nil {
				return err
			}
		}
		if err := r.recoverAgents(tx, agents, kept, idle, text); err != nil {
			return err
		}
		for _, k := range kept {
			var err error
			if k.Row, err = r.Asks.Reopen(tx, k.Row.ID); err != nil {
				return err
			}
		}
		running, err := tx.RunningTasks()
		if err != nil {
			return err
		}
		for _, t := range running {
			if k := kept[t.Agent]; k != nil {
				k.Timeout = t.Timeout
				continue
			}
			if idle[t.Agent] {
				continue
			}
			const why = "the program ended while it ran"
			end := tasks.End{
				Agent: t.Agent, Turn: turns[t.Agent], Outcome: history.OutCrashed, Cause: why, Text: text[t.Agent],
			}
			if _, err := r.Ends.Finish(tx, t, end); err != nil {
				return err
			}
		}
		if err := r.settleLost(tx, kept); err != nil {
			return err
		}
		if err := hold(tx, agents, kept, idle); err != nil {
			return err
		}
		if err := r.noteQueued(tx); err != nil {
			return err
		}
		return tx.CloseEnded(keptTabs)
	})
}

// openTurns reads what the last host left: all agents, and the turns that were open.
func (r *Recovery) openTurns(ctx context.Context) (agents []store.Agent, cuts []cut, err error) {
	err = r.DB.Read(ctx, func(rx *store.Rx) error {
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
			c.parked = ParkedAt(t, es, asks)
			cuts = append(cuts, c)
		}
		agents, err = rx.Agents()
		return err
	})
	return agents, cuts, err
}

// recoverAgents makes agents with a prompt box idle, closes the unattended ones among them, has those with a resumable
// turn ask again, and ends all others, with the last words of their cut turn.
func (r *Recovery) recoverAgents(
	tx *store.Tx, agents []store.Agent, kept map[int64]*Parked, idle map[int64]bool, text map[int64]string,
) error {
	var crashed, left []store.Agent
	for _, a := range agents {
		state, ends := event.Idle, !event.Kind(a.Kind).HasPrompt()
		if !ends && tasks.TrustIn(a).Unattended && !event.State(a.State).Terminal() { // the process that waited for its answer is gone
			left = append(left, a)
			continue
		}
		switch {
		case event.State(a.State).Terminal(), idle[a.ID]:
			continue
		case kept[a.ID] != nil:
			state, ends = event.Asking, false
		case ends:
			state, crashed = event.Crashed, append(crashed, a)
		}
		if err := tx.SetAgentState(a.ID, string(state), ends); err != nil {
			return err
		}
	}
	for _, a := range crashed { // once all are marked as ended, so that mail passes to living agents only
		if event.Kind(a.Kind).Observes() {
			if err := r.Unseen(tx, a.ID, "the program ended meanwhile", text[a.ID]); err != nil {
				return err
			}
		}
		if event.Kind(a.Kind).Handles() {
			if err := r.Unhandled(tx, a.ID, "the program ended meanwhile", text[a.ID]); err != nil {
				return err
			}
		}
		if err := r.Ends.Pass(tx, a.ID, event.Crashed); err != nil {
			return err
		}
		told, err := tx.WaitingPrompts(a.ID)
		if err != nil {
			return err
		}
		if _, begun := text[a.ID]; !begun && len(told) > 0 {
			told = told[1:] // the first one is its task
		}
		if err := Unread(tx, r.Book(a.ID).Batch(tx), a.Name, told); err != nil {
			return err
		}
	}
	for _, a := range left {
		if err := r.Ends.Close(tx, a.ID); err != nil {
			return err
		}
	}
	for _, a := range agents {
		if event.Kind(a.Kind).Fleeting() || event.Kind(a.Kind).Ends() && tasks.TrustIn(a).Unattended { // no screen opened it
			if err := tx.CloseAgent(a.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepable splits the cut turns into those that can be resumed, by agent, and those that are over.
func (r *Recovery) keepable(agents []store.Agent, cuts []cut) (kept map[int64]*Parked, over []cut) {
	lives := map[int64]bool{}
	for _, a := range agents {
		lives[a.ID] = !event.State(a.State).Terminal() && !(event.Kind(a.Kind).HasPrompt() && tasks.TrustIn(a).Unattended)
	}
	kept = map[int64]*Parked{}
	for _, c := range cuts {
		if c.parked != nil && lives[c.turn.Agent] {
			kept[c.turn.Agent] = c.parked
		} else {
			over = append(over, c)
		}
	}
	return kept, over
}

// idle returns the attended agents that are idle until input comes.
func (r *Recovery) idle(ctx context.Context, agents []store.Agent) (map[int64]bool, error) {
	awaits := map[int64]bool{}
	err := r.DB.Read(ctx, func(rx *store.Rx) error {
		running, err := rx.RunningTasks()
		for _, t := range running {
			awaits[t.Agent] = t.Interactive
		}
		return err
	})
	idle := map[int64]bool{}
	for _, a := range agents {
		if awaits[a.ID] && event.State(a.State) == event.Idle && !tasks.TrustIn(a).Unattended {
			idle[a.ID] = true
		}
	}
	return idle, err
}

// settleLost closes the questions of turns that are over.
func (r *Recovery) settleLost(tx *store.Tx, kept map[int64]*Parked) error {
	rows, err := tx.OpenApprovals(0)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if k := kept[row.Agent]; k != nil && k.Row.ID == row.ID {
			continue
		}
		if err := r.Asks.Reply(tx, row, event.Answer{Settled: "the turn was cut"}, inbox.BySettle); err != nil {
			return err
		}
	}
	return nil
}

// hold holds queued prompts, except those the human sent to an agent without a prompt box whose turn is resumed, or
// that is idle for them.
func hold(tx *store.Tx, agents []store.Agent, kept map[int64]*Parked, idle map[int64]bool) error {
	for _, a := range agents {
		if idle[a.ID] || kept[a.ID] != nil && !event.Kind(a.Kind).HasPrompt() {
			continue
		}
		if err := tx.HoldPrompts(a.ID); err != nil {
			return err
		}
	}
	return nil
}

// Unread removes the prompts that an ended agent has not read, and records in its transcript what the human told it.
func Unread(tx *store.Tx, b *history.Batch, name string, prompts []store.Prompt) error {
	for _, q := range prompts {
		if _, err := tx.RemovePrompt(q.ID); err != nil {
			return err
		}
		if q.Text == tasks.WrapUp {
			continue
		}
		text := fmt.Sprintf("It ended before it read what you told it; /resume %s TEXT gives it that: %s", name, q.Text)
		if _, err := b.Add(0, history.Entry{Kind: history.EntryNotice, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// noteQueued lists in each tab the tasks in its queue: those that were about to start when the program ended, and
// those that an agent dispatched, need the human's go-ahead again. A tab that already ends with that notice gets no
// second one.
func (r *Recovery) noteQueued(tx *store.Tx) error {
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
		if es := history.DecodeAll(last); len(es) > 0 && es[0].Kind == history.EntryNotice && es[0].Text == text {
			continue
		}
		if _, err := r.Book(id).Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// whatWaits returns that notice.
func whatWaits(names []string) string {
	const most = 5
	listed, what, they := names, fmt.Sprintf("%d tasks are", len(names)), "they say, and asks before they start"
	if len(names) == 1 {
		what, they = "1 task is", "it says, and asks before it starts"
	}
	more := ""
	if len(names) > most {
		listed, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("%s queued: %s%s. /run shows what %s; /queue shows more.",
		what, strings.Join(listed, ", "), more, they)
}

// endGroups ends the commands that still run, concurrently: one that ignores TERM takes two seconds.
func (r *Recovery) endGroups(cuts []cut) {
	var all sync.WaitGroup
	for _, c := range cuts {
		for _, g := range c.groups {
			all.Add(1)
			r.Go("end a group", func() {
				defer all.Done()
				proc.End(g, 2*time.Second)
			})
		}
	}
	all.Wait()
}

// Kept returns the turns that Run would leave open and that have no answer yet, for a database that is read-only.
func (r *Recovery) Kept(ctx context.Context) (map[int64]*Parked, error) {
	agents, cuts, err := r.openTurns(ctx)
	kept, _ := r.keepable(agents, cuts)
	maps.DeleteFunc(kept, func(_ int64, k *Parked) bool { return r.Abroad || !k.Row.Answered.IsZero() })
	return kept, err
}

// wasCut tells the human of a tab where a turn was cut.
const wasCut = "Your last turn was cut: the program ended while it ran. Nothing is done again by itself."

// closeCut ends a turn that a crash cut.
func closeCut(tx *store.Tx, b *history.Batch, c cut) error {
	if err := b.Salvage(c.turn.ID); err != nil {
		return err
	}
	end := &history.End{
		Outcome: history.OutCrashed, Error: history.CutShort,
		Millis: tx.Now().Sub(c.turn.Started).Milliseconds(), Steps: c.turn.Steps,
	}
	if _, err := b.Add(c.turn.ID, history.Entry{Kind: history.EntryEnded, End: end}); err != nil {
		return err
	}
	return tx.EndTurn(c.turn.ID, string(history.OutCrashed), end.Error)
}

// leftBy reads what a cut turn left.
func leftBy(t store.Turn, es []history.Entry) cut {
	c := cut{turn: t, text: history.Said(es)}
	open := map[string]history.Entry{}
	for _, e := range es {
		switch {
		case e.Kind == history.EntryStarted && e.Call != nil:
			open[e.Call.ID] = e
		case e.Kind == history.EntryResult && e.Result != nil:
			delete(open, e.Result.ID)
		}
	}
	for _, e := range open {
		c.groups = append(c.groups, proc.Group{PGID: e.PGID, Start: e.PStart})
		c.text = history.WithTail(c.text, tailOf(e.Output))
	}
	return c
}

// tailOf returns the end of a file; "": it can't be read.
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

// Parked is a turn that awaited an answer when the program ended, and resumes there: everything it did is in the
// transcript.
type Parked struct {
	Turn    store.Turn
	Row     store.Approval // the question
	Calls   []history.Call // of the last reply, those without a result; the question is the first one's
	Abroad  bool           // another vendor's agent asked it
	Timeout time.Duration  // of the task
}

// ParkedAt reports whether a turn did nothing but wait for an answer: the first call without a result has a question
// that was not acted on, and no later call had begun. That call itself may have: a question about what its sandbox did
// not allow comes after it has failed. nil: no.
func ParkedAt(t store.Turn, es []history.Entry, rows []store.Approval) *Parked {
	var open []history.Call
	begun := map[string]bool{}
	for _, e := range es {
		switch {
		case e.Kind == history.EntryCall && e.Call != nil:
			open = append(open, *e.Call)
		case (e.Kind == history.EntryStarted || e.Kind == history.EntryDelegated) && e.Call != nil:
			begun[e.Call.ID] = true
		case e.Kind == history.EntryResult && e.Result != nil:
			open = slices.DeleteFunc(open, func(c history.Call) bool { return c.ID == e.Result.ID })
		}
	}
	if row := askedAbroad(rows); row != nil {
		return &Parked{Turn: t, Row: *row, Calls: open, Abroad: true}
	}
	if len(open) == 0 {
		return overBudget(t, rows)
	}
	if slices.ContainsFunc(open[1:], func(c history.Call) bool { return begun[c.ID] }) {
		return nil
	}
	call := open[0].ID
	if begun[call] {
		call += event.Widening
	}
	var row *store.Approval
	for i := range rows {
		if rows[i].Call == call || rows[i].Call == call+event.Repeating && rows[i].Answered.IsZero() {
			row = &rows[i]
		}
	}
	var d event.QuestionRow
	if row == nil || !row.Acted.IsZero() || json.Unmarshal([]byte(row.Data), &d) != nil || d.Beside && len(open) > 1 {
		return nil
	}
	return &Parked{Turn: t, Row: *row, Calls: open}
}

// askedAbroad returns the open question of another vendor's agent that carried out the turn; nil: it did not ask, or
// has its answer. The rest of its work ended with its program, and is not started again before it was told.
func askedAbroad(rows []store.Approval) *store.Approval {
	if len(rows) == 0 {
		return nil
	}
	last := &rows[len(rows)-1]
	var d event.QuestionRow
	if !last.Acted.IsZero() || json.Unmarshal([]byte(last.Data), &d) != nil || !d.Abroad {
		return nil
	}
	if !last.Answered.IsZero() && event.AnswerOf(*last).Settled != "" {
		return nil
	}
	return last
}

// overBudget returns a turn that asked whether it may exceed its budget: it had no call left to answer. nil: it did
// not.
func overBudget(t store.Turn, rows []store.Approval) *Parked {
	if len(rows) == 0 {
		return nil
	}
	if last := rows[len(rows)-1]; strings.HasSuffix(last.Call, event.Spending) && last.Answered.IsZero() {
		return &Parked{Turn: t, Row: last}
	}
	return nil
}
