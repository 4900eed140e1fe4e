package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fantail/agents/audit"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Act is what an agent did for most of a stretch of time.
type Act byte

// No turn ran in the first two.
const (
	Absent Act = iota // it did not exist, or had ended
	Rested
	Stood // it was queued
	Thought
	Called   // a tool ran
	ForHuman // it waited for an answer
)

// Timeline is what agents did between two times, in stretches of the same length.
type Timeline struct {
	From    time.Time
	Stretch time.Duration
	Rows    map[int64]*TimelineRow // by agent
	Queued  []QueuedRow
	First   time.Time     // the beginning of the first turn in it; zero: there is none
	Oldest  time.Time     // the beginning of the first turn of all; zero: there is none
	Waited  time.Duration // how long at least one agent waited for the human
	Busy    time.Duration // how long at least one turn ran
}

// TimelineRow is what one agent did.
type TimelineRow struct {
	Acts        []Act
	Mail        []bool        // mail of it left, or entered its conversation
	Ran, Waited time.Duration // how long its turns ran, and how much of that it waited for the human
	used        []use
}

// QueuedRow is a task that is queued.
type QueuedRow struct {
	Task, Queue int64 // Queue is an agent
	Name        string
	Acts        []Act
}

// use is how much of a stretch a turn ran, and what of that passed with tools and with waiting for the human.
type use struct{ turn, tool, human time.Duration }

// maxLapses limits the rows of each kind that a timeline reads.
const maxLapses = 20_000

// Timeline returns what all agents did in the n stretches from a time on. Nothing of it is later than
// now. Its cost depends on what happened in that time.
func (l *Records) Timeline(ctx context.Context, from time.Time, stretch time.Duration, n int, now time.Time) (Timeline, error) {
	t := timeline{Timeline: Timeline{From: from, Stretch: stretch, Rows: map[int64]*TimelineRow{}}, n: n}
	if t.to = from.Add(time.Duration(n) * stretch); t.to.After(now) {
		t.to = now
	}
	for _, i := range l.pool.Infos() {
		end := i.Ended
		if end.IsZero() {
			end = now
		}
		r := t.row(i.ID)
		t.each(span{i.Created, end}, func(i int, _ time.Duration) { r.Acts[i] = Rested })
	}
	if err := l.pool.o.DB.Read(ctx, func(rx *store.Rx) error { return t.read(&rx.View) }); err != nil {
		return Timeline{}, fmt.Errorf("read the timeline: %w", err)
	}
	return t.Timeline, nil
}

// timeline is a Timeline that is being made.
type timeline struct {
	Timeline
	n    int
	to   time.Time
	ends map[int64]time.Time // of turns
}

// span is a time between two.
type span struct{ from, to time.Time }

func (t *timeline) row(agent int64) *TimelineRow {
	r := t.Rows[agent]
	if r == nil {
		r = &TimelineRow{Acts: make([]Act, t.n), Mail: make([]bool, t.n), used: make([]use, t.n)}
		t.Rows[agent] = r
	}
	return r
}

// each calls f with each stretch that a span touches, and how much of it that is. The part of the span outside the
// timeline is left out.
func (t *timeline) each(s span, f func(i int, d time.Duration)) {
	if s = t.cut(s); !s.from.Before(s.to) {
		return
	}
	for i := int(s.from.Sub(t.From) / t.Stretch); i < t.n; i++ {
		a, b := t.From.Add(time.Duration(i)*t.Stretch), t.From.Add(time.Duration(i+1)*t.Stretch)
		if !a.Before(s.to) {
			return
		}
		f(i, minTime(b, s.to).Sub(maxTime(a, s.from)))
	}
}

func (t *timeline) cut(s span) span { return span{maxTime(s.from, t.From), minTime(s.to, t.to)} }

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// lasted returns the span of a lapse. One that has not ended lasts until now.
func (t *timeline) lasted(l store.Lapse) span {
	if l.To.IsZero() {
		return span{l.From, t.to}
	}
	return span{l.From, l.To}
}

// read reads what happened.
func (t *timeline) read(v *store.View) (err error) {
	if t.Oldest, err = v.FirstTurn(); err != nil {
		return err
	}
	turns, err := v.TurnsBetween(t.From, t.to, maxLapses)
	if err != nil {
		return err
	}
	questions, err := v.QuestionsOf(turns, t.From, t.to, maxLapses)
	if err != nil {
		return err
	}
	if err := t.readCalls(v, turns); err != nil {
		return err
	}
	started, queued, err := v.TasksQueued(maxLapses)
	if err != nil {
		return err
	}
	mail, err := inbox.Passages(v, t.From, t.to, maxLapses)
	if err != nil {
		return err
	}
	var ran, waited []span
	for _, x := range turns {
		s := t.cut(t.lasted(x))
		if !s.from.Before(s.to) {
			continue
		}
		if ran = append(ran, s); t.First.IsZero() || s.from.Before(t.First) {
			t.First = s.from
		}
		r := t.row(x.Agent)
		r.Ran += s.to.Sub(s.from)
		t.each(s, func(i int, d time.Duration) { r.used[i].turn += d })
	}
	for _, x := range questions {
		s := t.lasted(x)
		s.to = minTime(s.to, t.ends[x.ID])
		r := t.row(x.Agent)
		t.each(s, func(i int, d time.Duration) { r.used[i].human += d })
		if s = t.cut(s); s.from.Before(s.to) {
			r.Waited += s.to.Sub(s.from)
			waited = append(waited, s)
		}
	}
	t.Busy, t.Waited = total(ran), total(waited)
	for _, x := range started {
		r := t.row(x.Agent)
		t.each(t.lasted(x), func(i int, _ time.Duration) { r.Acts[i] = Stood })
	}
	for _, x := range queued {
		q := QueuedRow{Task: x.ID, Queue: x.Agent, Name: x.Word, Acts: make([]Act, t.n)}
		t.each(t.lasted(x), func(i int, _ time.Duration) { q.Acts[i] = Stood })
		t.Queued = append(t.Queued, q)
	}
	for _, p := range mail {
		t.mark(p.From, p.Sent)
		t.mark(p.To, p.Taken)
	}
	for _, r := range t.Rows {
		r.judge()
	}
	return nil
}

// readCalls adds the calls of these turns.
func (t *timeline) readCalls(v *store.View, turns []store.Lapse) error {
	type key struct {
		agent int64
		call  string
	}
	open := map[key]store.Lapse{}
	add := func(x store.Lapse, s span) {
		used := t.row(x.Agent).used
		t.each(s, func(i int, d time.Duration) { used[i].tool += d })
	}
	calls, err := v.CallsBetween(t.From, t.to, maxLapses)
	if err != nil {
		return err
	}
	for _, x := range calls {
		if x.Word == audit.Call {
			open[key{x.Agent, x.Call}] = x
			continue
		}
		delete(open, key{x.Agent, x.Call})
		add(x, t.lasted(x))
	}
	t.ends = map[int64]time.Time{}
	running := map[int64]span{} // by agent: its last turn
	for _, x := range turns {
		s := t.lasted(x)
		t.ends[x.ID], running[x.Agent] = s.to, s
		if s.to.Before(t.to) || !s.from.Before(t.From) { // the rows of the time tell
			continue
		}
		began, err := v.CallAt(x.ID, t.to)
		if err != nil {
			return err
		}
		if !began.IsZero() && began.Before(t.From) {
			add(x, span{began, t.to})
		}
	}
	for _, x := range open {
		if s, ok := running[x.Agent]; ok {
			add(x, span{x.From, s.to})
		}
	}
	return nil
}

// total returns how much time the spans cover together.
func total(ss []span) (d time.Duration) {
	slices.SortFunc(ss, func(a, b span) int { return a.from.Compare(b.from) })
	var to time.Time
	for _, s := range ss {
		if s.from = maxTime(s.from, to); s.from.Before(s.to) {
			d += s.to.Sub(s.from)
			to = s.to
		}
	}
	return d
}

// mark notes that mail of an agent left or entered.
func (t *timeline) mark(agent int64, at time.Time) {
	if agent != 0 && !at.Before(t.From) && at.Before(t.to) {
		t.row(agent).Mail[at.Sub(t.From)/t.Stretch] = true
	}
}

// judge says what most of each stretch in which a turn ran passed with.
func (r *TimelineRow) judge() {
	for i, u := range r.used {
		if u.turn == 0 {
			continue
		}
		r.Acts[i] = Thought
		if model := u.turn - u.tool - u.human; u.tool > 0 && u.tool >= model {
			r.Acts[i] = Called
		}
		if u.human > 0 && u.human >= u.tool && u.human >= u.turn-u.human-u.tool {
			r.Acts[i] = ForHuman
		}
	}
	r.used = nil
}

// Until returns the last entries of an agent's transcript from before a time, at most limit.
func (l *Records) Until(ctx context.Context, agent int64, at time.Time, limit int) (es []history.Entry, err error) {
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		seq, err := rx.SeqAt(at)
		if err != nil {
			return err
		}
		rows, err := rx.EntriesBefore(agent, seq, limit)
		es = history.DecodeAll(rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return es, nil
}
