package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/tabs"
)

// Whose key is it while an agent asks something? All that decides it is here: a
// sentence that goes on, or begins, where a question shows up answers nothing and
// loses no letter, and a key meant for a question that has just gone does nothing
// to what was under it.

const (
	// atRest is how long no letter was typed where nobody is typing.
	atRest = 2 * time.Second
	// firstSecond is how long a question that came by itself answers to nothing.
	firstSecond = time.Second
	// firstHalf is the same of one that the human went to, and of the urgent card.
	firstHalf = 500 * time.Millisecond
	// afterQuestion is how long keys that are meant for a question do nothing once it
	// has gone.
	afterQuestion = 500 * time.Millisecond
)

// standing is how a question stands on this screen.
type standing int

const (
	absent standing = iota // none is in sight
	carded                 // a line above the box; it takes no key
	placed                 // in the box's place; it came there by itself, or with its tab
	sought                 // the human went to it
	strict                 // so they did over a panel or by a command: a digit selects, Enter confirms
)

// keyed reports whether a question that stands so has the keyboard.
func (s standing) keyed() bool { return s >= placed }

// class is what kind of key it is.
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
	beneath  taker = iota // what has the keyboard where nobody asks: the draft above all
	question              // the question
	nobody                // it is dropped
	held                  // it is dropped unless a letter for the box follows, which it then comes before
)

// moment is what decides whose key it is.
type moment struct {
	now    time.Time
	typed  time.Time // when a letter was last typed, wherever it went
	closed time.Time // when a question that had the keyboard last went away
	stands standing
	since  time.Time // it stands so, or a letter came too early
	draft  bool      // something is in the box that has the keyboard, or its line was opened
	boxed  bool      // a box has the keyboard: no dialog, no tab without one
	means  bool      // the key means something to the question
}

// stand is how a question stands that comes into sight, by itself or, visited,
// because the human went to its tab.
func (m moment) stand(visited bool) standing {
	if m.draft || !visited && m.now.Sub(m.typed) < atRest {
		return carded
	}
	return placed
}

// early reports whether the question has not been there for long enough to be seen.
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

// begins is whose a letter is that may begin a draft: one that could as well be the
// habit of answering waits for the next.
func (m moment) begins(c class) taker {
	switch {
	case c != habit:
		return beneath
	case !m.boxed:
		return nobody
	}
	return held
}

// sight is the question that would have the keyboard if it did not come by itself.
type sight struct {
	focus    *tabs.Tab
	asks     *tabs.Tab
	question int64 // 0: none
	message  int64 // that stands for it in an inbox; 0: none
	over     bool  // as a dialog over what shows
}

// asking is what the screen knows of the question in sight and of the human's hands.
type asking struct {
	typed, closed, since time.Time
	sight                sight
	stands               standing
	answered             int64             // by this screen: it shows no more, though the news of it is on its way
	held                 []tea.KeyPressMsg // in the order they were typed
}

// moment is the moment as it is for what has the keyboard now.
func (a *App) moment() moment {
	k, box := &a.asks, a.tabs.Typing()
	return moment{
		now: a.o.Now(), typed: k.typed, closed: k.closed, stands: k.stands, since: k.since,
		draft: box != nil && (!box.Empty() || box.Finds() || a.tabs.Focus.Line != nil),
		boxed: box != nil && a.layers.Top() == nil,
	}
}

// looks is what is in sight now.
func (a *App) looks() sight {
	s := sight{focus: a.tabs.Focus}
	switch t := a.tabs.Focus; {
	case a.layers.Top() != nil && a.layers.Top() == a.raised.box:
		s.asks, s.question, s.over = a.tabs.ByID(a.raised.agent), a.raised.id, true
		if a.asksOpenly(s.asks) {
			s.message = s.asks.Info.Question.Message
		}
	case a.layers.Top() == nil && a.asksOpenly(t):
		s.asks, s.question = t, t.Info.Question.ID
	}
	return s
}

// asksOpenly reports whether the tab's agent asks what this screen has not answered.
func (a *App) asksOpenly(t *tabs.Tab) bool {
	return t != nil && t.Info.Question != nil && t.Info.Question.ID != a.asks.answered
}

// attend follows what came into sight and what went. It is called behind every
// message, so that no way leads to a question that it does not see.
func (a *App) attend(m tea.Msg) {
	k, now := &a.asks, a.o.Now()
	hand := false
	switch m.(type) {
	case tea.FocusMsg, tea.ResumeMsg, returned:
		k.since = now // whatever is there, the human sees it from now on
	case tea.KeyPressMsg, tea.MouseClickMsg:
		hand = true
	}
	if s, was := a.looks(), k.sight; s != was {
		if was.question != 0 && k.stands.keyed() && !a.stillAsks(was) {
			k.closed = now
		}
		visited := hand && s.focus != was.focus
		if s.focus != was.focus {
			k.held = nil
		}
		if visited {
			k.closed = time.Time{} // who went elsewhere presses no key for what they left
		}
		k.sight, k.since = s, now
		switch {
		case s.question == 0:
			k.stands = absent
		case s.over:
			k.stands = a.raised.stands
		default:
			k.stands = a.moment().stand(visited)
			a.questionOf(s.asks).Strictly(false)
		}
		a.dirty = true
	}
	if k.stands == placed && a.moment().draft {
		k.stands, a.dirty = carded, true
	}
}

// stillAsks reports whether what was in sight is open.
func (a *App) stillAsks(s sight) bool {
	return s.asks != nil && a.tabs.ByID(s.asks.Info.ID) == s.asks && a.asksOpenly(s.asks) && s.asks.Info.Question.ID == s.question
}

// keyAsked hands a key to whom it belongs while an agent asks, and just after.
func (a *App) keyAsked(k tea.KeyPressMsg) (tea.Cmd, bool) {
	as, c := &a.asks, classOf(k)
	m, q := a.moment(), a.asker()
	m.means = q != nil && q.Means(k)
	if c.types() {
		defer func() { as.typed = m.now }()
	}
	who := m.whose(c)
	if c.types() && m.stands.keyed() && (m.early() || !m.means) {
		as.since = m.now // a letter that is none of its answers: the human writes
	}
	switch who {
	case question:
		as.held = nil
		if as.sight.over {
			return a.keyDialog(k)
		}
		return a.keyPlaced(q, k)
	case held:
		if m.now.Sub(m.typed) >= atRest {
			as.held = nil
		}
		as.held = append(as.held, k)
		fallthrough
	case nobody:
		if m.early() && (c == habit || c == enter) {
			a.flash.Say("nothing was answered: the question has just come")
		}
		return nil, true
	}
	if as.stands == placed && c.types() {
		as.stands = carded
	}
	if c.types() && m.boxed {
		a.letGo(m)
	}
	return nil, false
}

// letGo puts the letters that were held into the box, before what begins there now.
func (a *App) letGo(m moment) {
	if m.now.Sub(m.typed) < atRest && !m.draft {
		for _, k := range a.asks.held {
			a.tabs.Typing().Key(k)
		}
	}
	a.asks.held = nil
}
