package asking

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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
	// firstHalf is the same for a question the human went to, and for the urgent card.
	firstHalf = 500 * time.Millisecond
	// afterQuestion is how long keys that answer questions do nothing once one has gone.
	afterQuestion = 500 * time.Millisecond
)

// Standing is how a question shows on this screen.
type Standing int

const (
	absent Standing = iota // there is none in sight
	carded                 // as a line above the box; it takes no key
	placed                 // in the box's place, where it came by itself or with its tab
	Sought                 // the human went to it
	Strict                 // the same over a panel or by a command: a digit selects, Enter confirms
)

// keyed reports whether such a question has the keyboard.
func (s Standing) keyed() bool { return s >= placed }

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
	held                  // it is dropped, unless a letter for the box follows: then it goes before that
)

// moment is everything that decides whose key it is.
type moment struct {
	now    time.Time
	typed  time.Time // when a letter was last typed, anywhere
	closed time.Time // when a question that had the keyboard last went away
	stands Standing
	since  time.Time // when it came to show this way, or a letter last came too early
	draft  bool      // something is in the box that has the keyboard, or its line was opened
	boxed  bool      // a box has the keyboard: no dialog, no tab without one
	means  bool      // the key means something to the question
}

// stand is how a question first shows: having come up by itself or, visited, because the human went
// to its tab.
func (m moment) stand(visited bool) Standing {
	if m.draft || !visited && m.now.Sub(m.typed) < atRest {
		return carded
	}
	return placed
}

// early reports whether the question has not shown for long enough to be seen.
func (m moment) early() bool {
	if m.stands == placed {
		return m.now.Sub(m.since) < firstSecond
	}
	return m.stands.keyed() && m.now.Sub(m.since) < firstHalf
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
	return held
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
func (a *Asking) moment() moment {
	box := a.Tabs.Typing()
	return moment{
		now: a.Tabs.Now(), typed: a.typed, closed: a.closed, stands: a.stands, since: a.since,
		draft: box != nil && (!box.Empty() || box.Finds() || a.Tabs.Focus.Line != nil),
		boxed: box != nil && a.Layers.Top() == nil,
	}
}

// inSight is what is in sight now.
func (a *Asking) inSight() sight {
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
func (a *Asking) Openly(t *tabs.Tab) bool {
	return t != nil && t.Info.Question != nil && t.Info.Question.ID != a.given
}

// Attend follows which question comes into sight and goes, and reports whether the screen changes.
// It is called after every message, so that it misses no way to a question.
func (a *Asking) Attend(m tea.Msg) bool {
	now, changed, hand := a.Tabs.Now(), false, false
	switch m.(type) {
	case tea.FocusMsg, tea.ResumeMsg:
		a.Back()
	case tea.KeyPressMsg, tea.MouseClickMsg:
		hand = true
	}
	if s, was := a.inSight(), a.sight; s != was {
		if was.question != 0 && a.stands.keyed() && !a.stillAsks(was) {
			a.closed = now
		}
		visited := hand && s.focus != was.focus
		if s.focus != was.focus {
			a.held = nil
		}
		if visited {
			a.closed = time.Time{} // the human went elsewhere and presses no key for what they left
		}
		a.sight, a.since = s, now
		switch {
		case s.question == 0:
			a.stands = absent
		case s.over:
			a.stands = a.raised.stands
		default:
			a.stands = a.moment().stand(visited)
			a.box(s.asks).Freely()
		}
		changed = true
	}
	if a.stands == placed && a.moment().draft {
		a.stands, changed = carded, true
	}
	return changed
}

// Back notes that the human sees the screen again: they have seen nothing on it before now.
func (a *Asking) Back() { a.since = a.Tabs.Now() }

// stillAsks reports whether what was in sight is still open.
func (a *Asking) stillAsks(s sight) bool {
	return s.asks != nil && a.Tabs.ByID(s.asks.Info.ID) == s.asks && a.Openly(s.asks) && s.asks.Info.Question.ID == s.question
}

// Key gives a key to its owner while an agent asks, and shortly after; taken: nobody else gets it.
// What is open over the tabs takes its keys itself, a question too.
func (a *Asking) Key(k tea.KeyPressMsg) (i intent.Intent, taken bool) {
	c := classOf(k)
	m, q := a.moment(), a.Asker()
	m.means = q != nil && q.Means(k)
	if c.types() {
		defer a.Typed(m.now)
	}
	who := m.whose(c)
	if c.types() && m.stands.keyed() && (m.early() || !m.means) {
		a.since = m.now // the letter answers nothing: the human is writing
	}
	switch who {
	case question:
		a.held = nil
		if a.sight.over {
			return nil, false
		}
		return a.keyPlaced(q, k)
	case held:
		if m.now.Sub(m.typed) >= atRest {
			a.held = nil
		}
		a.held = append(a.held, k)
		fallthrough
	case nobody:
		if m.early() && (c == habit || c == enter) {
			a.Flash.Say("nothing was answered: the question has just come")
		}
		return nil, true
	}
	if a.stands == placed && c.types() {
		a.stands = carded
	}
	if c.types() && m.boxed {
		a.letGo(m)
	}
	return nil, false
}

// Paste gives pasted text to its owner, as Key does with a letter.
func (a *Asking) Paste(s string) {
	m, q := a.moment(), a.Asker()
	if q != nil {
		_, _, m.means = q.Cursor() // its line for words is open
	}
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
func (a *Asking) Typed(at time.Time) { a.typed = at }

// letGo puts the held letters into the box, before what begins there now.
func (a *Asking) letGo(m moment) {
	if m.now.Sub(m.typed) < atRest && !m.draft {
		for _, k := range a.held {
			a.Tabs.Typing().Key(k)
		}
	}
	a.held = nil
}
