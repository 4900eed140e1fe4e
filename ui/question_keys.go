package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Whose key is it while an agent asks something? This file decides: a sentence that the human is
// typing, or begins, as a question comes up answers nothing and loses no letter, and a key meant
// for a question that has just gone does nothing to what was under it.

const (
	// atRest is how long nobody must have typed a letter to count as not typing.
	atRest = 2 * time.Second
	// firstSecond is how long a question that came up by itself takes no answer.
	firstSecond = time.Second
	// firstHalf is the same for a question the human went to, for one right after the answer to another, and for the
	// urgent card.
	firstHalf = 500 * time.Millisecond
	// afterQuestion is how long keys that answer questions do nothing once one has gone.
	afterQuestion = 500 * time.Millisecond
	// oneLetter is how long no other letter may follow a letter that answers, once something was sent: the two begin a
	// sentence.
	oneLetter = 300 * time.Millisecond
)

// QuestionState is how a question shows on this screen.
type QuestionState int

const (
	absent QuestionState = iota // there is none in sight
	carded                      // as a line above the box; it takes no key
	placed                      // in the box's place, where it came by itself or with its tab
	Sought                      // the human went to it
	Strict                      // the same over a panel or by a command: a digit selects, Enter confirms
)

// keyed reports whether such a question has the keyboard.
func (s QuestionState) keyed() bool { return s >= placed }

// class is the kind of a key.
type class int

const (
	other  class = iota
	letter       // it types something
	habit        // it types something that answers questions
	enter        // and no new line
)

// types reports whether the key types something.
func (c class) types() bool { return c == letter || c == habit }

func classOf(k tea.KeyPressMsg) class {
	const chord = tea.ModCtrl | tea.ModAlt | tea.ModMeta | tea.ModHyper | tea.ModSuper
	switch {
	case k.Text != "" && k.Mod&chord == 0:
		if len(k.Text) == 1 && strings.Contains("yYsSnN123456789", k.Text) {
			return habit
		}
		return letter
	case (k.Code == tea.KeyEnter || k.Code == tea.KeyKpEnter) && k.Mod&(chord|tea.ModShift) == 0:
		return enter
	}
	return other
}

// taker is who gets a key.
type taker int

const (
	beneath  taker = iota // what has the keyboard when no agent asks: mostly the draft
	question              // the question
	nobody                // it is dropped
	kept                  // it is dropped, unless a letter for the box follows: then it goes before that
)

// moment is everything that decides whose key it is.
type moment struct {
	now    time.Time
	typed  time.Time // when a letter was last typed, anywhere
	closed time.Time // when a question that had the keyboard last went away
	stands QuestionState
	since  time.Time // when it came to show this way, or a letter last came too early
	next   bool      // it came to show so right after the answer to another
	unseen bool      // nothing that is drawn can be seen
	draft  bool      // something is in the box that has the keyboard, or its line was opened
	boxed  bool      // a box has the keyboard: no dialog, no tab without one
	means  bool      // the key means something to the question
}

// stand is how a question first shows: having come up by itself or, visited, because the human went
// to its tab.
func (m moment) stand(visited bool) QuestionState {
	if m.draft || !visited && m.now.Sub(m.typed) < atRest {
		return carded
	}
	return placed
}

// early reports whether the question has not shown for long enough to be seen.
func (m moment) early() bool {
	switch {
	case !m.stands.keyed():
		return false
	case m.unseen:
		return true
	case m.stands == placed && !m.next:
		return m.now.Sub(m.since) < firstSecond
	}
	return m.now.Sub(m.since) < firstHalf
}

// whose decides who gets a key of that class.
func (m moment) whose(c class) taker {
	switch {
	case m.stands == placed && c.types() && !m.early() && !m.means:
		return beneath
	case m.stands == placed && c.types() && m.early():
		return m.begins(c)
	case m.early():
		return nobody
	case m.stands.keyed():
		return question
	case m.now.Sub(m.closed) >= afterQuestion:
		return beneath
	case c == enter:
		return nobody
	case !c.types() || m.draft:
		return beneath
	case !m.boxed:
		return nobody
	}
	return m.begins(c)
}

// begins decides whose a letter is that may begin a draft: one that could as well be the habit of
// answering waits for the next key.
func (m moment) begins(c class) taker {
	switch {
	case c != habit:
		return beneath
	case !m.boxed:
		return nobody
	}
	return kept
}

// sight is the question that has the keyboard, or would if it had not come up by itself.
type sight struct {
	focus    *tabs.Tab
	asks     *tabs.Tab
	question int64 // 0: none
	message  int64 // that stands for it in an inbox; 0: none
	over     bool  // as a dialog over what shows
}

// moment is the current one, for what has the keyboard.
func (a *Approvals) moment() moment {
	box := a.Tabs.Typing()
	return moment{
		now: a.Tabs.Now(), typed: a.typed, closed: a.closed, stands: a.stands, since: a.since, next: a.next,
		unseen: a.Seen != nil && !a.Seen(),
		draft:  box != nil && (!box.Empty() || box.Finds() || a.Tabs.Focus.Line != nil),
		boxed:  box != nil && a.Layers.Top() == nil,
	}
}

// inSight is what is in sight now.
func (a *Approvals) inSight() sight {
	s := sight{focus: a.Tabs.Focus}
	switch t := a.Tabs.Focus; {
	case a.Layers.Top() != nil && a.Layers.Top() == a.raised.box:
		s.asks, s.question, s.over = a.Tabs.ByID(a.raised.agent), a.raised.id, true
		if a.Openly(s.asks) {
			s.message = s.asks.Info.Question.Message
		}
	case a.Layers.Top() == nil && a.Openly(t):
		s.asks, s.question = t, t.Info.Question.ID
	}
	return s
}

// Openly reports whether the tab's agent asks something not answered on this screen.
func (a *Approvals) Openly(t *tabs.Tab) bool {
	return t != nil && t.Info.Question != nil && t.Info.Question.ID != a.given
}

// Attend follows which question comes into sight and goes, and reports whether the screen changes.
// It is called after every message, so that it misses no way to a question.
func (a *Approvals) Attend(m tea.Msg) bool {
	now, changed, by := a.Tabs.Now(), false, itself
	switch m := m.(type) {
	case tea.FocusMsg, tea.ResumeMsg, tea.WindowSizeMsg:
		a.Back()
	case tea.KeyPressMsg:
		a.pressed, by = now, human
		if classOf(m) == other {
			a.maybe.question = 0
		}
	case tea.MouseClickMsg:
		a.maybe.question, by = 0, human
	case tea.PasteMsg:
		a.pressed = now
	}
	if s, was := a.inSight(), a.sight; s != was {
		a.come(s, was, by)
		changed = true
	}
	if a.stands == placed && a.moment().draft {
		a.stands, changed = carded, true
	}
	if left, opens := a.Opens(); opens && left <= 0 {
		a.stands, a.since, a.next, a.sight.asks.Opened, changed = placed, now, false, true, true
	}
	return changed
}

// questionMover is who has another question in sight.
type questionMover int

const (
	itself questionMover = iota
	human                // by a key or the mouse
)

// come takes in that another question is in sight, or none.
func (a *Approvals) come(s, was sight, by questionMover) {
	now := a.Tabs.Now()
	if was.question != 0 && a.stands.keyed() && !a.stillAsks(was) {
		a.closed = now
	}
	visited := by == human && s.focus != was.focus
	if s.focus != was.focus {
		a.held = held{}
	}
	if visited {
		a.closed, a.sent = time.Time{}, false // the human went elsewhere and presses no key for what they left
	}
	a.sight, a.since, a.next = s, now, false
	switch {
	case s.question == 0:
		a.stands = absent
	case s.over:
		a.stands = a.raised.stands
	default:
		a.takes(a.box(s.asks), placed)
		if a.stands = a.moment().stand(visited); s.asks.PutOff {
			a.stands = carded
		}
		if a.stands == placed {
			s.asks.Opened, a.next = true, s.asks == a.choseIn && now.Sub(a.chose) < atRest
		}
	}
}

// Opens reports whether the line above the box will become its question by itself, which it does once if it came as a
// line because of what was typed, and how long no key must fall until then.
func (a *Approvals) Opens() (left time.Duration, opens bool) {
	m, t := a.moment(), a.sight.asks
	if m.stands != carded || !a.stillAsks(a.sight) || t.Opened || t.PutOff || m.draft {
		return 0, false
	}
	last := a.pressed
	if a.typed.After(last) {
		last = a.typed
	}
	return atRest - m.now.Sub(last), true
}

// Back notes that the human sees the screen again: they have seen nothing on it before now.
func (a *Approvals) Back() { a.since = a.Tabs.Now() }

// stillAsks reports whether what was in sight is still open.
func (a *Approvals) stillAsks(s sight) bool {
	return s.asks != nil && a.Tabs.ByID(s.asks.Info.ID) == s.asks && a.Openly(s.asks) && s.asks.Info.Question.ID == s.question
}

// Key gives a key to its owner while an agent asks, and shortly after; taken: nobody else gets it.
// What is open over the tabs takes its keys itself, but for a question.
func (a *Approvals) Key(k tea.KeyPressMsg) (i intent.Intent, taken bool) {
	c := classOf(k)
	m, q := a.moment(), a.Asker()
	switch {
	case a.turns(k, q):
		return nil, false
	case k.String() == "tab" && a.tabGoes():
		a.Open(a.Tabs.Focus.Info.ID, Sought)
		return nil, true
	case a.maybe.question != 0 && c == enter: // nothing follows
		if i, q = a.sure(a.maybe.n), a.InPlace(); q == nil {
			return i, true
		}
		more, _ := a.answer(q, k)
		return intent.All{i, more}, true
	case a.maybe.question != 0 && k.Text == a.maybe.key.Text:
		return nil, true // it is held down
	case a.maybe.question != 0 && c.types():
		return a.sentence(k, m)
	}
	m.means = q != nil && q.Means(k)
	who := m.whose(c)
	if c.types() && m.stands.keyed() && (m.early() || !m.means) {
		a.since = m.now // the letter answers nothing: the human is writing
	}
	switch who {
	case question:
		a.held = held{}
		if a.sent && !a.sight.over && a.chooses(q, k) {
			return a.ponder(k), true
		}
		return a.answer(q, k)
	case kept:
		a.keep(k, m.now)
		fallthrough
	case nobody:
		if c == letter {
			a.Typed(m.now)
		}
		if m.early() && (c == habit || c == enter) {
			a.Flash.Say("nothing was answered: the question has just come")
		}
		return nil, true
	}
	a.begun(c, m)
	return nil, false
}

// writes reports whether a question's line for words is open.
func writes(q dialog.Question) bool {
	_, _, open := q.Cursor()
	return open
}

// chooses reports whether what a key types is an answer as it stands.
func (a *Approvals) chooses(q dialog.Question, k tea.KeyPressMsg) bool {
	words := a.sight.asks.Info.Question.Asks != nil && k.Text > "9" // which open the line for them
	return classOf(k).types() && k.Code != tea.KeySpace && q.Means(k) && !writes(q) && !words
}

// turns reports whether a key goes to another view of the focused tab, whatever is asked there.
func (a *Approvals) turns(k tea.KeyPressMsg, q dialog.Question) bool {
	return classOf(k) == habit && k.Text <= "9" && a.pages() && a.Layers.Top() == nil && (q == nil || !writes(q))
}

// begun has a draft begin, or go on, with what was just typed.
func (a *Approvals) begun(c class, m moment) {
	if !c.types() {
		return
	}
	if a.Typed(m.now); a.stands == placed {
		a.stands = carded
	}
	if m.boxed {
		a.letGo(m)
	}
}

// maybe is a letter that answers if it does not begin a sentence.
type maybe struct {
	n        int // of this one
	key      tea.KeyPressMsg
	question int64 // 0: there is no such letter
}

// ponder has a letter answer unless another follows.
func (a *Approvals) ponder(k tea.KeyPressMsg) intent.Intent {
	a.maybe = maybe{a.maybe.n + 1, k, a.sight.question}
	n := a.maybe.n
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		t := time.NewTimer(oneLetter)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		return intent.Call(func() intent.Intent { return a.sure(n) })
	}}
}

// sure has the letter answer that no other followed, if its question still stands there.
func (a *Approvals) sure(n int) intent.Intent {
	p, q := a.maybe, a.InPlace()
	if p.n != n || p.question == 0 {
		return nil
	}
	a.maybe.question = 0
	if q == nil || a.sight.question != p.question || a.moment().early() {
		return nil
	}
	i, _ := a.answer(q, p.key)
	return i
}

// sentence has the letter that might have answered begin what is typed: k is the second one.
func (a *Approvals) sentence(k tea.KeyPressMsg, m moment) (intent.Intent, bool) {
	first := a.maybe.key
	a.maybe.question, a.since = 0, m.now
	a.Typed(m.now)
	if !m.boxed {
		return nil, true
	}
	a.keep(first, m.now)
	a.stands = carded
	a.letGo(m)
	return nil, false
}

// Paste gives pasted text to its owner, as Key does with a letter.
func (a *Approvals) Paste(s string) {
	m, q := a.moment(), a.Asker()
	if a.maybe.question != 0 {
		a.keep(a.maybe.key, m.now)
		a.maybe.question, a.stands, m.stands = 0, carded, carded
	}
	m.means = q != nil && writes(q)
	switch who := m.whose(letter); {
	case who == question:
		q.Paste(s)
	case who != beneath:
	case a.Layers.Top() != nil:
		a.Layers.Top().Paste(s)
	case a.Tabs.Typing() != nil:
		a.letGo(m)
		a.Tabs.Typing().Paste(s)
	}
	a.Typed(m.now)
}

// Typed notes when a letter was typed, anywhere.
func (a *Approvals) Typed(at time.Time) { a.typed = at }

// held are letters that go into the box before the next that is typed there soon, in the order they were typed.
type held struct {
	keys []tea.KeyPressMsg
	last time.Time
}

// keep holds a letter.
func (a *Approvals) keep(k tea.KeyPressMsg, now time.Time) {
	if now.Sub(a.held.last) >= atRest {
		a.held.keys = nil
	}
	a.held.keys, a.held.last = append(a.held.keys, k), now
}

// letGo puts the held letters into the box, before what begins there now.
func (a *Approvals) letGo(m moment) {
	if m.now.Sub(a.held.last) < atRest && !m.draft {
		for _, k := range a.held.keys {
			a.Tabs.Typing().Key(k)
		}
	}
	a.held = held{}
}
