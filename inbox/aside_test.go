package inbox

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/store"
)

// ids are the numbers of messages, in their order.
func numbers(ms []Message) (ids []int64) {
	for _, m := range ms {
		ids = append(ids, m.ID)
	}
	return ids
}

func (w *world) selected(s Selection) []Message {
	w.t.Helper()
	if s.Recipient == 0 {
		s.Recipient = w.main
	}
	ms, err := w.box.Select(context.Background(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	return ms
}

func (w *world) lanes() map[Lane]int {
	w.t.Helper()
	n, err := w.box.Lanes(context.Background(), w.main)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// aside sets messages of main aside.
func (w *world) aside(until time.Time, ids ...int64) (n int) {
	w.t.Helper()
	w.write(func(tx *store.Tx) (err error) {
		n, err = w.box.SetAside(tx, w.main, ids, until)
		return err
	})
	return n
}

func (w *world) restore(ids ...int64) (n int) {
	w.t.Helper()
	w.write(func(tx *store.Tx) (err error) {
		n, err = w.box.Restore(tx, w.main, ids)
		return err
	})
	return n
}

// every is one message of each kind and priority, muted or not.
func every() (ms []Message) {
	for _, k := range []Kind{Result, Failure, Mail, Reminder, Scheduled, Question, Approval, Notice} {
		for _, p := range []Priority{Low, Normal, High, Urgent} {
			for _, failed := range []string{"", "it broke"} {
				ms = append(ms, Message{Kind: k, Priority: p, Error: failed, Body: string(k), Deliver: Next})
			}
		}
	}
	return ms
}

// A message's lane equals the lane of its row and of the counts, muted or not.
func TestLane(t *testing.T) {
	w := fresh(t)
	root := w.deposit(Message{Body: "root"})
	for _, m := range every() {
		w.deposit(m)
		m.InReplyTo = root
		w.deposit(m)
	}
	check := func() {
		t.Helper()
		w.sound()
		want := map[Lane]int{}
		for _, l := range LaneOrder {
			want[l] = 0
		}
		all := w.selected(Selection{Limit: 1000})
		for _, m := range all {
			want[m.Lane()]++
		}
		if got := w.lanes(); !reflect.DeepEqual(got, want) || len(all) != 2*len(every())+1 {
			t.Errorf("%d messages: the lanes count %v, want %v", len(all), got, want)
		}
		for _, l := range LaneOrder {
			for _, m := range w.selected(Selection{Lane: l, Limit: 1000}) {
				if m.Lane() != l {
					t.Errorf("#%d (%s) stands in %s and says %s", m.ID, m.Nature(), l, m.Lane())
				}
				want[l]--
			}
			if want[l] != 0 {
				t.Errorf("%d are missing in %s", want[l], l)
			}
		}
	}
	check()
	w.write(func(tx *store.Tx) error { _, err := w.box.Mute(tx, w.main, root, true); return err })
	check()
	w.write(func(tx *store.Tx) error { _, err := w.box.Mute(tx, w.main, root, false); return err })
	check()
}

// Paging through a list shows each message once, the pinned ones first, then lane by lane, also while messages leave
// the list.
func TestSelect_pages(t *testing.T) {
	w := fresh(t)
	var all []int64
	for i := range 25 {
		m := Message{Body: fmt.Sprint("body ", i)}
		if i%5 == 0 {
			m.Kind, m.Error = Failure, "e"
		}
		all = append(all, w.deposit(m))
	}
	w.deposit(Message{Recipient: w.lint, Body: "not hers"})
	w.write(func(tx *store.Tx) error {
		for _, id := range []int64{all[3], all[10]} {
			if err := w.box.Pin(tx, w.main, id, true); err != nil {
				return err
			}
		}
		return nil
	})
	pages := func(s Selection, leave bool) (seen []int64) {
		for s.Limit = 4; ; {
			ms := w.selected(s)
			if len(ms) == 0 {
				return seen
			}
			seen = append(seen, numbers(ms)...)
			s.Before = ms[len(ms)-1].ID
			if leave {
				w.aside(time.Time{}, s.Before)
			}
		}
	}
	newest := func(of ...int64) (ids []int64) {
		for i := len(of) - 1; i >= 0; i-- {
			ids = append(ids, of[i])
		}
		return ids
	}
	var rest, failed []int64
	for i, id := range all {
		if i != 3 && i%5 != 0 {
			rest = append(rest, id)
		}
		if i%5 == 0 && i != 10 {
			failed = append(failed, id)
		}
	}
	if got, want := pages(Selection{}, false), slices.Concat([]int64{all[10], all[3]}, newest(failed...), newest(rest...)); !reflect.DeepEqual(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got, want := pages(Selection{Lane: Failed}, false), append([]int64{all[10]}, newest(failed...)...); !reflect.DeepEqual(got, want) {
		t.Errorf("failed: %v, want %v", got, want)
	}
	if got, want := pages(Selection{Search: "bod"}, false), newest(all...); !reflect.DeepEqual(got, want) {
		t.Errorf("search: %v, want %v", got, want)
	}
	back := func(s Selection) (seen []int64) {
		for s.Limit, s.Back = 4, true; ; {
			ms := w.selected(s)
			if len(ms) == 0 {
				return seen
			}
			seen = append(numbers(ms), seen...)
			s.Before = ms[0].ID
		}
	}
	for _, s := range []Selection{{}, {Lane: Failed}, {Search: "bod"}, {Of: Everything}} {
		if got, want := back(s), pages(s, false); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v from its end: %v, from its beginning: %v", s, got, want)
		}
	}
	if got := pages(Selection{}, true); len(got) != 25 {
		t.Errorf("while they leave: %v", got)
	}
	archived := pages(Selection{Of: Archived}, false)
	if len(archived) != 7 || len(pages(Selection{}, false)) != 18 || len(pages(Selection{Of: Everything}, false)) != 25 {
		t.Errorf("%d are archived, %d wait", len(archived), len(pages(Selection{}, false)))
	}
	if _, err := w.box.Select(t.Context(), Selection{Recipient: w.main, Of: "lost"}); err == nil {
		t.Error("there is a shelf of that name")
	}
	w.sound()
}

// A message that is set aside does not wait, can't be taken, and returns to its place.
func TestSetAside(t *testing.T) {
	w := fresh(t)
	a, b, c := w.deposit(Message{Body: "a", Priority: Urgent}), w.deposit(Message{Body: "b"}), w.deposit(Message{Body: "c"})
	other := w.deposit(Message{Recipient: w.lint, Body: "other"})
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	w.bells.take()
	if n := w.aside(time.Time{}, a, other, 999) + w.aside(until, b); n != 2 {
		t.Fatalf("%d were set aside", n)
	}
	if got, want := w.bells.take(), []Change{{Recipient: w.main, Pending: 2}, {Recipient: w.main, Pending: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	w.sound()
	if got := numbers(w.selected(Selection{Of: Archived})); !reflect.DeepEqual(got, []int64{a}) {
		t.Errorf("archived: %v", got)
	}
	m := w.selected(Selection{Of: Snoozed})[0]
	if m.ID != b || !m.Snoozed.Equal(until) || !strings.HasPrefix(m.Fate(), "snoozed until ") || m.Entry != 0 {
		t.Errorf("snoozed: %+v, %s", m, m.Fate())
	}
	if ms, _ := w.take(Query{}); bodies(ms) != "c " {
		t.Errorf("taken: %s", bodies(ms))
	}
	if w.aside(time.Time{}, c) != 0 || w.restore(c, other) != 0 {
		t.Error("what was taken, or is another's, was moved")
	}
	if w.aside(time.Time{}, b) != 1 || w.restore(a, b) != 2 {
		t.Error("what was snoozed can't be archived, or does not come back")
	}
	w.sound()
	if ms, _ := w.take(Query{}); bodies(ms) != "a b " {
		t.Errorf("then taken: %s", bodies(ms))
	}
	w.sound()
}

// An urgent message that was dismissed and then snoozed is prominent again when it is due.
func TestUnsnooze_dismissed(t *testing.T) {
	w := fresh(t)
	id := w.deposit(Message{Body: "x", Priority: Urgent})
	w.write(func(tx *store.Tx) error { return w.box.Dismiss(tx, w.main, id) })
	w.aside(time.Now().Add(-time.Hour), id)
	w.write(func(tx *store.Tx) error {
		_, err := w.box.Unsnooze(tx)
		return err
	})
	if ms, err := w.box.Pressing(t.Context(), w.main, 9); err != nil || len(ms) != 1 || ms[0].ID != id {
		t.Errorf("prominent: %v, %v", numbers(ms), err)
	}
	w.sound()
}

// A snoozed message arrives again when it is due, and not before.
func TestUnsnooze(t *testing.T) {
	w := fresh(t)
	now := time.Now()
	var ids []int64
	for i := range 3 {
		ids = append(ids, w.deposit(Message{Body: "x", Deliver: Wake, Priority: Urgent}))
		w.aside(now.Add(time.Duration(i-1)*time.Hour), ids[i])
	}
	w.bells.take()
	var next time.Time
	w.write(func(tx *store.Tx) (err error) { next, err = w.box.Unsnooze(tx); return err })
	if want := now.Add(time.Hour); next.UnixMilli() != want.UnixMilli() {
		t.Errorf("next at %v, want %v", next, want)
	}
	if got, want := w.bells.take(), []Change{{Recipient: w.main, Pending: 2, Urgent: 2, Deposited: true, Wake: true, First: ids[0], Came: 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	if got := numbers(w.selected(Selection{})); !reflect.DeepEqual(got, []int64{ids[1], ids[0]}) {
		t.Errorf("they wait: %v", got)
	}
	w.sound()
}

// Questions wait for an answer: a take leaves them, but they are counted and shown.
func TestTake_leavesQuestions(t *testing.T) {
	w := fresh(t)
	q := w.deposit(Message{Kind: Question, Body: "which?", Priority: Urgent, Deliver: Wake})
	a := w.deposit(Message{Kind: Approval, Body: "may it?"})
	any := func(q Query) (any bool) {
		q.Recipient = w.main
		w.write(func(tx *store.Tx) (err error) { any, err = w.box.Any(tx, q); return err })
		return any
	}
	for name, query := range map[string]Query{"all": {}, "id": {ID: q}, "ids": {IDs: []int64{q, a}}, "due": {Deliver: []Deliver{Wake, Next}}, "urgent": {ByUrgency: true}} {
		if ms, left := w.take(query); len(ms) != 0 || left != 0 || any(query) {
			t.Errorf("%s: took %v, %d are left", name, ms, left)
		}
	}
	if c, err := w.box.Count(t.Context(), w.main); c.Pending != 0 || c.Asks != 2 || c.Urgent != 1 || err != nil {
		t.Errorf("counted %+v: %v", c, err)
	}
	ms, err := w.box.Questions(t.Context(), w.main)
	if got := numbers(ms); err != nil || !reflect.DeepEqual(got, []int64{q, a}) {
		t.Errorf("asks: %v, %v", got, err)
	}
	w.deposit(Message{Body: "mail"})
	if ms, left := w.take(Query{}); bodies(ms) != "mail " || left != 0 {
		t.Errorf("took %s, %d left", bodies(ms), left)
	}
	if ms, _ := w.take(Query{ID: q, Asks: true}); len(ms) != 1 {
		t.Error("an answer does not take it")
	}
	w.sound()
}

// A muted thread is held silently: no message in it is urgent, wakes or is due, including later ones; a query that asks
// for it returns it.
//
// Spec: R-55.
func TestMute(t *testing.T) {
	w := fresh(t)
	first := w.deposit(Message{Sender: w.lint, Body: "first"})
	reply := w.deposit(Message{Recipient: w.lint, Sender: w.main, Body: "reply", InReplyTo: first})
	w.deposit(Message{Sender: w.lint, Body: "second", InReplyTo: reply, Priority: Urgent, Deliver: Wake})
	mute := func(on bool) (n int) {
		w.t.Helper()
		w.write(func(tx *store.Tx) (err error) { n, err = w.box.Mute(tx, w.main, reply, on); return err })
		w.sound()
		return n
	}
	w.bells.take()
	if n := mute(true); n != 2 {
		t.Errorf("%d are muted", n)
	}
	w.deposit(Message{Sender: w.lint, Body: "third", InReplyTo: reply, Priority: Urgent, Deliver: Wake})
	want := []Change{{Recipient: w.main, Pending: 2}, {Recipient: w.main, Pending: 3, Deposited: true, First: 4}}
	if got := w.bells.take(); !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	if ms, _ := w.take(Query{Deliver: []Deliver{Next, Wake}}); len(ms) > 0 {
		t.Errorf("%s were due", bodies(ms))
	}
	if n := mute(false); n != 3 {
		t.Errorf("%d were muted", n)
	}
	want = []Change{{Recipient: w.main, Pending: 3, Urgent: 2, Deposited: true, Wake: true}}
	if got := w.bells.take(); !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	mute(true)
	if ms, _ := w.take(Query{}); bodies(ms) != "first second third " {
		t.Errorf("taken: %s", bodies(ms))
	}
	ms, err := w.box.Thread(t.Context(), reply)
	if bodies(ms) != "first reply second third " || err != nil {
		t.Errorf("the thread: %s %v", bodies(ms), err)
	}
	w.sound()
}

// Anything that is typed is searched for and is never an error; the last word may be unfinished.
func TestSelect_search(t *testing.T) {
	w := fresh(t)
	odd := "nul \x00 not UTF-8 \xff\xfe " + strings.Repeat("x", 64<<10) + " beyond"
	for _, m := range []Message{
		{From: "ci", Body: "The token refresh fails", Tags: []string{"blocker"}},
		{From: "lint", Kind: Failure, Subject: "check refresh_token.go", Error: "exit status 3"},
		{From: "ci", Body: "Größe über Ärger 日本語 naïve"},
		{From: "odd", Body: odd},
	} {
		w.deposit(m)
	}
	for typed, want := range map[string]string{
		"refresh": "2 1", "REFRESH": "2 1", "refr": "2 1", "refr ": "", "token ref": "2 1", "refresh_token": "2", "token_re": "1", "refresh-to": "2", "- refresh": "2 1", "refresh - token": "2 1", `a"b`: "", "ref token": "",
		"blocker": "1", "status": "2", "lint": "2", "groß": "3", "uber": "3", "日本": "3", "naive": "3", "refresh -fails": "1",
		"": "2 4 3 1", "  ": "2 4 3 1", "!!": "", `"`: "", `body:refresh`: "", `refresh"`: "2 1", "NOT": "4", "AND OR": "", "(": "", "*": "", "^token*": "2 1",
		"beyond": "", "utf": "4", "NEAR(token refresh)": "", "\x00": "", "\xff": "",
	} {
		if got := strings.Trim(fmt.Sprint(numbers(w.selected(Selection{Search: typed}))), "[]"); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
	w.take(Query{})
	if ms := w.selected(Selection{Search: "refresh"}); len(ms) != 0 {
		t.Errorf("%v wait", ms)
	}
	if ms := w.selected(Selection{Search: "refresh", Of: Everything}); len(ms) != 2 || ms[0].Size != len("check refresh_token.go")+len("exit status 3") {
		t.Errorf("of all: %v", ms)
	}
}

func FuzzTerms(f *testing.F) {
	w := fresh(f)
	w.deposit(Message{Body: "a body"})
	for _, s := range []string{`"`, "a b*", "\x00", "-x", "日本", "a\u0301b", "\ue000x", "x\U000e0100y", "\U0001f600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		if _, err := w.box.Select(context.Background(), Selection{Recipient: w.main, Search: typed}); err != nil {
			t.Errorf("%q: %v", typed, err)
		}
	})
}

// When an agent ends its results and questions pass to another, snoozed ones too; senders are told of mail that no
// agent will read, also if it is snoozed.
func TestPass_whatIsSnoozed(t *testing.T) {
	w := fresh(t)
	heir := w.agent("heir")
	result := w.deposit(Message{Kind: Result, Body: "result", Sender: w.lint})
	mail := w.deposit(Message{Body: "mail", Sender: w.lint})
	question := w.deposit(Message{Kind: Question, Body: "question", Sender: w.lint})
	archived := w.deposit(Message{Kind: Result, Body: "archived", Sender: w.lint})
	w.aside(time.Time{}, archived)
	w.aside(time.Now().Add(time.Hour), result, mail)
	var unread []Message
	w.write(func(tx *store.Tx) (err error) {
		if err := w.box.Pass(tx, w.main, heir); err != nil {
			return err
		}
		unread, err = w.box.Unread(tx, w.main)
		return err
	})
	if got := bodies(unread); got != "mail " {
		t.Errorf("unread: %s", got)
	}
	if got := numbers(w.selected(Selection{Recipient: heir, Of: Snoozed})); !reflect.DeepEqual(got, []int64{result}) {
		t.Errorf("snoozed there: %v", got)
	}
	if got := numbers(w.selected(Selection{Recipient: heir})); !reflect.DeepEqual(got, []int64{question}) {
		t.Errorf("pending there: %v", got)
	}
	if got := numbers(w.selected(Selection{Of: Everything})); !reflect.DeepEqual(got, []int64{archived, mail}) {
		t.Errorf("left here: %v", got)
	}
	w.sound()
}
