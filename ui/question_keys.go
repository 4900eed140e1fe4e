package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
)

// This file decides who gets a key while an agent asks. If a question comes up while the human
// types or begins a sentence, the sentence must answer nothing and lose no letter. A key meant for
// a question that has just gone must not act on what was below it.

const (
	// atRest is how long no letter must have been typed for the human to count as not typing.
	atRest = 2 * time.Second
	// firstSecond is how long a question that came up by itself takes no answer.
	firstSecond = time.Second
	// firstHalf is the same for a question that the human went to, for one right after the answer
	// to another, and for the urgent card.
	firstHalf = 500 * time.Millisecond
	// afterQuestion is how long keys that answer questions do nothing after a question has gone.
	afterQuestion = 500 * time.Millisecond
	// oneLetter is how long a letter that answers waits for another one after a text was sent: two
	// letters begin a sentence.
	oneLetter = 300 * time.Millisecond
)

// QuestionState is how a question is shown on this screen.
type QuestionState int

const (
	absent QuestionState = iota // none is in sight
	carded                      // as a line above the box; it takes no key
	placed                      // in the box's place, where it came by itself or with its tab
	Sought                      // the human went to it
	Strict                      // the same over a panel or by a command: a digit selects, Enter confirms
)

// keyed reports whether a question in this state has the keyboard.
func (s QuestionState) keyed() bool { return s >= placed }

// class is the kind of a key.
type class int

const (
	other  class = iota
	letter       // it types something
	habit        // it types something that answers questions
	enter        // Enter without a new line
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
	beneath  taker = iota // what has the keyboard if no agent asks, mostly the draft
	question              // the question
	nobody                // the key is dropped
	kept                  // the key is dropped unless a letter for the box follows, which it then precedes
)

// moment is everything that decides who gets a key.
type moment struct {
	now    time.Time
	typed  time.Time // time of the last letter typed anywhere
	closed time.Time // time when a question with the keyboard last went away
	stands QuestionState
	since  time.Time // time when it came to be shown this way, or of the last letter that came too early
	next   bool      // it came to be shown so right after the answer to another
	unseen bool      // the human can't see what is drawn
	draft  bool      // the box with the keyboard has text, or is a line that was opened
	boxed  bool      // a box has the keyboard, not a dialog or a tab without a box
	means  bool      // the key means something to the question
}

// stand returns how a question is shown first. visited means that the human went to its tab, else
// it came up by itself.
func (m moment) stand(visited bool) QuestionState {
	if m.draft || !visited && m.now.Sub(m.typed) < atRest {
		return carded
	}
	return placed
}

// early reports whether the question was not shown for long enough to be seen.
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

// whose returns who gets a key of class c.
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

// begins returns who gets a letter that may begin a draft. A letter that could also be meant as an
// answer waits for the next key.
func (m moment) begins(c class) taker {
	switch {
	case c != habit:
		return beneath
	case !m.boxed:
		return nobody
	}
	return kept
}

// sight is the question that has the keyboard, or would have it if it had not come up by itself.
type sight struct {
	focus    *tabs.Tab
	asks     *tabs.Tab
	question int64  // 0: none
	message  int64  // its message in an inbox; 0: none
	over     bool   // as a dialog over what is open
	cell     string // the keys that answer it in the selected cell of the Fan; "": it is in none, or must be opened
}

// moment returns the current moment for what has the keyboard.
func (a *Approvals) moment() moment {
	box := a.Tabs.Typing()
	return moment{
		now: a.Tabs.Now(), typed: a.typed, closed: a.closed, stands: a.stands, since: a.since, next: a.next,
		unseen: a.Seen != nil && !a.Seen(),
		draft:  box != nil && (!box.Empty() || box.Finds() || a.Tabs.Focus.Line != nil),
		boxed:  box != nil && a.Layers.Top() == nil,
	}
}

// inSight returns the question in sight now.
func (a *Approvals) inSight() sight {
	s := sight{focus: a.Tabs.Focus}
	switch t := a.Tabs.Focus; {
	case a.Layers.Top() != nil && a.Layers.Top() == a.raised.box:
		s.asks, s.question, s.over = a.Tabs.ByID(a.raised.agent), a.raised.id, true
		if a.Openly(s.asks) {
			s.message = s.asks.Info.Question.Message
		}
	case a.Layers.Top() == nil && a.following() != nil:
		s.asks = a.following()
		s.question = s.asks.Info.Question.ID
	case a.Layers.Top() == nil && a.Openly(t):
		s.asks, s.question = t, t.Info.Question.ID
	case a.Layers.Bare():
		if f, is := a.Layers.Board().(*panel.Fan); is {
			agent, keys := f.Takes()
			if t := a.Tabs.ByID(agent); keys != "" && a.Openly(t) {
				s.asks, s.question, s.cell = t, t.Info.Question.ID, keys
			}
		}
	}
	return s
}

// Openly reports whether the tab's agent asks something that was not answered on this screen.
func (a *Approvals) Openly(t *tabs.Tab) bool {
	return t != nil && t.Info.Question != nil && t.Info.Question.ID != a.given
}

// Attend follows which question comes into sight or goes, and reports whether the screen changes.
// It is called after every message, because many messages can bring a question into sight.
func (a *Approvals) Attend(m tea.Msg) bool {
	now, changed, by := a.Tabs.Now(), false, itself
	a.follow()
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

// questionMover is what brought another question into sight.
type questionMover int

const (
	itself questionMover = iota
	human                // a key or the mouse
)

// Drawn notes that a frame was drawn: whether a cell of the Fan shows all of a question is known only
// then.
func (a *Approvals) Drawn() {
	if s := a.inSight(); s.cell != "" && s != a.sight {
		a.come(s, a.sight, itself)
	}
}

// come notes that another question is in sight, or none.
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
		a.closed, a.sent = time.Time{}, false // the human went elsewhere, so a key is not meant for the question they left
	}
	if s.asks != a.follows && !s.over {
		a.follows = nil
	}
	a.sight, a.since, a.next = s, now, false
	switch {
	case s.question == 0:
		a.stands = absent
	case s.over:
		a.stands = a.raised.stands
	case s.cell != "":
		a.stands = Sought
	default:
		a.takes(a.box(s.asks), placed)
		if a.stands = a.moment().stand(visited); s.asks.PutOff {
			a.stands = carded
		}
		if a.stands == placed {
			s.asks.Opened, a.next = true, (s.asks == a.choseIn || s.asks == a.follows) && now.Sub(a.chose) < atRest
		}
	}
}

// Opens reports whether the line above the box will become its question by itself, and how long no
// key must be pressed until then. That happens once, if the question came as a line because the
// human was typing.
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

// Back notes that the human sees the screen again and has seen nothing on it before now.
func (a *Approvals) Back() {
	a.since = a.Tabs.Now()
	if s := a.sheet(); s != nil {
		s.box.Guard()
	}
}

// stillAsks reports whether the question in s is still open.
func (a *Approvals) stillAsks(s sight) bool {
	return s.asks != nil && a.Tabs.ByID(s.asks.Info.ID) == s.asks && a.Openly(s.asks) && s.asks.Info.Question.ID == s.question
}

// Key passes a key to whoever gets it, while an agent asks and shortly after. If taken is true,
// nothing else gets the key. A dialog over the tabs takes its keys itself, unless it is a question.
func (a *Approvals) Key(k tea.KeyPressMsg) (i intent.Intent, taken bool) {
	a.follow()
	c := classOf(k)
	m, q := a.moment(), a.Asker()
	switch {
	case a.sight.cell != "":
		return a.keyCell(k, m)
	case a.turns(k, q):
		return nil, false
	case k.String() == "tab" && a.tabGoes():
		a.Open(a.Tabs.Focus.Info.ID, Sought)
		return nil, true
	case a.maybe.question != 0 && c == enter: // no letter follows
		if i, q = a.sure(a.maybe.n), a.InPlace(); q == nil {
			return i, true
		}
		more, _ := a.answer(q, k)
		return intent.All{i, more}, true
	case a.maybe.question != 0 && k.Text == a.maybe.key.Text:
		return nil, true // the key is held down
	case a.maybe.question != 0 && c.types():
		return a.sentence(k, m)
	}
	m.means = q != nil && q.Means(k)
	who := m.whose(c)
	if c.types() && m.stands.keyed() && (m.early() || !m.means) {
		a.since = m.now // the letter is no answer: the human is writing
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
			a.Flash.Say("not answered: the question just appeared. Press the key again")
		}
		return nil, true
	}
	a.begun(c, m)
	return nil, false
}

// cellChoices are the answers in a cell of the Fan by their keys.
var cellChoices = map[string]permission.Choice{"y": permission.Once, "s": permission.Session, "p": permission.Project, "n": permission.No}

// keyCell takes the keys that answer the question in the selected cell of the Fan. The question, and
// that these keys answer it, must have been seen for half a second.
func (a *Approvals) keyCell(k tea.KeyPressMsg, m moment) (intent.Intent, bool) {
	choice, ok := cellChoices[k.Text]
	switch {
	case !ok || !classOf(k).types():
		return nil, false
	case m.early() || a.inSight() != a.sight:
		a.since = m.now
		a.Flash.Say("not answered: the question just appeared. Press the key again")
	case !strings.Contains(a.sight.cell, k.Text):
		a.Flash.Say("press space first: the cell does not show the whole question")
	case choice == permission.No: // it may have a reason
		t := a.sight.asks
		a.Open(t.Info.ID, Strict)
		for _, strict := range []tea.KeyPressMsg{{Code: '3', Text: "3"}, {Code: tea.KeyEnter}} {
			t.Question.Key(strict)
		}
	default:
		return a.answered(dialog.Answered{Question: a.sight.question, Answer: permission.Answer{Choice: choice}}), true
	}
	return nil, true
}

// writes reports whether a question's line for text is open.
func writes(q dialog.Question) bool {
	_, _, open := q.Cursor()
	return open
}

// chooses reports whether the character of a key is an answer by itself.
func (a *Approvals) chooses(q dialog.Question, k tea.KeyPressMsg) bool {
	words := a.sight.asks.Info.Question.Asks != nil && k.Text > "9" // letters open the line for text
	return classOf(k).types() && k.Code != tea.KeySpace && q.Means(k) && !writes(q) && !words
}

// turns reports whether a key switches the view of the focused tab, whatever the tab's agent asks.
func (a *Approvals) turns(k tea.KeyPressMsg, q dialog.Question) bool {
	return classOf(k) == habit && k.Text <= "9" && a.pages() && a.Layers.Top() == nil && (q == nil || !writes(q))
}

// begun notes that a key of class c begins or continues a draft.
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

// maybe is a letter that answers unless it begins a sentence.
type maybe struct {
	n        int // number of this one
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

// sure answers with a letter that no other followed, if its question is still there.
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

// sentence makes the letter that might have answered begin the draft. k is the second letter.
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

// Paste passes a pasted text to whoever gets it, as Key does with a letter.
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

// Typed notes the time of a letter typed anywhere.
func (a *Approvals) Typed(at time.Time) { a.typed = at }

// held are letters that precede the next one if that is typed into the box soon, in order.
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

// letGo puts the held letters into the box, before the draft that begins there now.
func (a *Approvals) letGo(m moment) {
	if m.now.Sub(a.held.last) < atRest && !m.draft {
		for _, k := range a.held.keys {
			a.Tabs.Typing().Key(k)
		}
	}
	a.held = held{}
}
