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

func (w *world) shelf(s Shelf) []Message {
	w.t.Helper()
	if s.Recipient == 0 {
		s.Recipient = w.main
	}
	ms, err := w.box.Shelf(context.Background(), s)
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

// The lane a message says it stands in is the one its row says and the one it is
// counted in, muted or not.
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
		all := w.shelf(Shelf{Limit: 1000})
		for _, m := range all {
			want[m.Lane()]++
		}
		if got := w.lanes(); !reflect.DeepEqual(got, want) || len(all) != 2*len(every())+1 {
			t.Errorf("%d messages: the lanes count %v, want %v", len(all), got, want)
		}
		for _, l := range LaneOrder {
			for _, m := range w.shelf(Shelf{Lane: l, Limit: 1000}) {
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

// Whoever pages through a shelf sees each message once, the pinned ones first, then
// lane by lane, also while what was seen leaves it.
func TestShelf_pages(t *testing.T) {
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
	pages := func(s Shelf, leave bool) (seen []int64) {
		for s.Limit = 4; ; {
			ms := w.shelf(s)
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
	if got, want := pages(Shelf{}, false), slices.Concat([]int64{all[10], all[3]}, newest(failed...), newest(rest...)); !reflect.DeepEqual(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got, want := pages(Shelf{Lane: Failed}, false), append([]int64{all[10]}, newest(failed...)...); !reflect.DeepEqual(got, want) {
		t.Errorf("failed: %v, want %v", got, want)
	}
	if got, want := pages(Shelf{Search: "bod"}, false), newest(all...); !reflect.DeepEqual(got, want) {
		t.Errorf("search: %v, want %v", got, want)
	}
	back := func(s Shelf) (seen []int64) {
		for s.Limit, s.Back = 4, true; ; {
			ms := w.shelf(s)
			if len(ms) == 0 {
				return seen
			}
			seen = append(numbers(ms), seen...)
			s.Before = ms[0].ID
		}
	}
	for _, s := range []Shelf{{}, {Lane: Failed}, {Search: "bod"}, {Of: Everything}} {
		if got, want := back(s), pages(s, false); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v from its end: %v, from its beginning: %v", s, got, want)
		}
	}
	if got := pages(Shelf{}, true); len(got) != 25 {
		t.Errorf("while they leave: %v", got)
	}
	archived := pages(Shelf{Of: Archived}, false)
	if len(archived) != 7 || len(pages(Shelf{}, false)) != 18 || len(pages(Shelf{Of: Everything}, false)) != 25 {
		t.Errorf("%d are archived, %d wait", len(archived), len(pages(Shelf{}, false)))
	}
	if _, err := w.box.Shelf(t.Context(), Shelf{Recipient: w.main, Of: "lost"}); err == nil {
		t.Error("there is a shelf of that name")
	}
	w.sound()
}

// What is set aside waits no more, is taken by nobody, and comes back to its place.
func TestSetAside(t *testing.T) {
	w := fresh(t)
	a, b, c := w.deposit(Message{Body: "a", Priority: Urgent}), w.deposit(Message{Body: "b"}), w.deposit(Message{Body: "c"})
	other := w.deposit(Message{Recipient: w.lint, Body: "other"})
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	w.bells.take()
	if n := w.aside(time.Time{}, a, other, 999) + w.aside(until, b); n != 2 {
		t.Fatalf("%d were set aside", n)
	}
	if got, want := w.bells.take(), []Rung{{Recipient: w.main, Pending: 2}, {Recipient: w.main, Pending: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	w.sound()
	if got := numbers(w.shelf(Shelf{Of: Archived})); !reflect.DeepEqual(got, []int64{a}) {
		t.Errorf("archived: %v", got)
	}
	m := w.shelf(Shelf{Of: Snoozed})[0]
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

// A snoozed message is as if it came when its time comes, and not before.
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
	if got, want := w.bells.take(), []Rung{{Recipient: w.main, Pending: 2, Urgent: 2, Deposited: true, Wake: true, First: ids[0], Came: 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	if got := numbers(w.shelf(Shelf{})); !reflect.DeepEqual(got, []int64{ids[1], ids[0]}) {
		t.Errorf("they wait: %v", got)
	}
	w.sound()
}

// Questions wait for an answer: nobody takes them, but they are counted and shown.
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
	if p, u, err := w.box.Count(t.Context(), w.main); p != 2 || u != 1 || err != nil {
		t.Errorf("counted %d, %d: %v", p, u, err)
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

// A muted thread is held silently: nothing of it is urgent, wakes or is due, what
// comes later either; whoever asks for it gets it.
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
	want := []Rung{{Recipient: w.main, Pending: 2}, {Recipient: w.main, Pending: 3, Deposited: true, First: 4}}
	if got := w.bells.take(); !reflect.DeepEqual(got, want) {
		t.Errorf("it rang %+v, want %+v", got, want)
	}
	if ms, _ := w.take(Query{Deliver: []Deliver{Next, Wake}}); len(ms) > 0 {
		t.Errorf("%s were due", bodies(ms))
	}
	if n := mute(false); n != 3 {
		t.Errorf("%d were muted", n)
	}
	want = []Rung{{Recipient: w.main, Pending: 3, Urgent: 2, Deposited: true, Wake: true}}
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

// Whatever is typed is looked for and is never an error; the last word may be unfinished.
func TestShelf_search(t *testing.T) {
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
		if got := strings.Trim(fmt.Sprint(numbers(w.shelf(Shelf{Search: typed}))), "[]"); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
	w.take(Query{})
	if ms := w.shelf(Shelf{Search: "refresh"}); len(ms) != 0 {
		t.Errorf("%v wait", ms)
	}
	if ms := w.shelf(Shelf{Search: "refresh", Of: Everything}); len(ms) != 2 || ms[0].Size != len("check refresh_token.go")+len("exit status 3") {
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
		if _, err := w.box.Shelf(context.Background(), Shelf{Recipient: w.main, Search: typed}); err != nil {
			t.Errorf("%q: %v", typed, err)
		}
	})
}

// When an agent ends its results and questions pass to another, what is snoozed of
// them too; senders hear of mail that nobody will read, be it snoozed.
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
	if got := numbers(w.shelf(Shelf{Recipient: heir, Of: Snoozed})); !reflect.DeepEqual(got, []int64{result}) {
		t.Errorf("snoozed there: %v", got)
	}
	if got := numbers(w.shelf(Shelf{Recipient: heir})); !reflect.DeepEqual(got, []int64{question}) {
		t.Errorf("pending there: %v", got)
	}
	if got := numbers(w.shelf(Shelf{Of: Everything})); !reflect.DeepEqual(got, []int64{archived, mail}) {
		t.Errorf("left here: %v", got)
	}
	w.sound()
}
