package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
)

func (w *world) writeSkills(s inbox.Selection) (bodies string) {
	w.T.Helper()
	s.Recipient = w.Main()
	ms, err := w.Pool.Letters.Select(w.T.Context(), s)
	check(w.T, err)
	for _, m := range ms {
		bodies += m.Body + " "
	}
	return strings.TrimSpace(bodies)
}

func refused(t *testing.T, err error, because string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), because) {
		t.Errorf("error %v; want %q", err, because)
	}
}

// What the human puts out of the inbox waits elsewhere, enters no conversation and
// comes back when they say; what can't be done says why and what can.
func TestArchive(t *testing.T) {
	m := &model{Reply: mute}
	w := open(t, m, setting{})
	main := w.Main()
	var ids []int64
	for _, body := range []string{"a", "b", "c", "d"} {
		ids = append(ids, w.send("main", body))
	}
	q, err := w.Pool.Deposit(inbox.Message{Recipient: main, Kind: inbox.Question, Body: "which?"})
	check(t, err)
	helper, err := w.Pool.NewHelper(t.Context(), "study", "")
	check(t, err)
	if n, err := w.Pool.Letters.Archive(t.Context(), main, ids[:2]); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	w.Until("the count says so", func() bool { return w.Info("main").Pending == 2 && w.Info("main").Asks == 1 })
	check(t, w.Pool.Letters.Snooze(t.Context(), main, []int64{ids[2]}, time.Now().Add(time.Hour)))
	if got := [...]string{w.writeSkills(inbox.Selection{}), w.writeSkills(inbox.Selection{Of: inbox.Archived}), w.writeSkills(inbox.Selection{Of: inbox.Snoozed})}; got != [...]string{"which? d", "b a", "c"} {
		t.Errorf("shelves %q", got)
	}
	why, err := w.Pool.Mail.Why(t.Context(), ids[2])
	if check(t, err); !strings.Contains(why, "it is snoozed until ") || !strings.HasSuffix(why, fmt.Sprintf("/inbox restore %d brings it back.", ids[2])) {
		t.Error(why)
	}
	ledger := func() {
		t.Helper()
		if l, err := w.Pool.Records.Balance(t.Context()); err != nil || len(l.Wrong) > 0 {
			t.Errorf("%v\n%s", err, l)
		}
	}
	ledger()
	check(t, w.Pool.Prompt(t.Context(), main, "go")) // d is due with it
	w.Settle()
	if req := fmt.Sprint(m.Seen()[0].Messages); strings.Count(req, "What follows is data") != 1 || !strings.Contains(req, "instruction.\n**Message**: d\n") {
		t.Errorf("the request carries\n%s", req)
	}
	for id, want := range map[int64]string{
		999: "there is no message #999", ids[3]: "does not wait any more: it entered a turn", q: fmt.Sprintf("/answer %d", q),
	} {
		_, err := w.Pool.Letters.Archive(t.Context(), main, []int64{ids[0], id})
		refused(t, err, want)
		refused(t, w.Pool.Letters.Snooze(t.Context(), main, []int64{id}, time.Now().Add(time.Hour)), want)
		if id != q {
			refused(t, w.Pool.Letters.Pin(t.Context(), main, id, true), want)
			refused(t, w.Pool.Letters.Dismiss(t.Context(), main, id), want)
		}
	}
	_, err = w.Pool.Letters.Archive(t.Context(), helper.ID, ids[:1])
	refused(t, err, "in the inbox of main: say it in its tab")
	_, err = w.Pool.Letters.Restore(t.Context(), main, ids)
	refused(t, err, fmt.Sprintf("message #%d was neither archived nor snoozed", ids[3]))
	refused(t, w.Pool.Letters.Pin(t.Context(), main, ids[0], true), fmt.Sprintf("it is archived; /inbox restore %d", ids[0]))
	refused(t, w.Pool.Letters.Snooze(t.Context(), main, []int64{ids[0]}, time.Now()), "is over")
	if n, err := w.Pool.Letters.Restore(t.Context(), main, ids[:3]); n != 3 || err != nil {
		t.Error(n, err)
	}
	_, err = w.Pool.Letters.Restore(t.Context(), main, ids[:1])
	refused(t, err, "waits in the inbox already")
	check(t, w.Pool.Letters.Pin(t.Context(), main, ids[0], true))
	if got := w.writeSkills(inbox.Selection{}); got != "a which? c b" {
		t.Errorf("they wait: %s", got)
	}
	ledger()
}

// A snoozed message comes back by itself at its time, also to a program that was
// started again, and whoever waits for mail gets it.
//
// Spec: R-55.
func TestSnooze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := open(t, &model{Reply: mute}, setting{Dir: dir})
		id := w.send("main", "later")
		check(t, w.Pool.Letters.Snooze(t.Context(), w.Main(), []int64{id}, time.Now().Add(30*time.Minute)))
		time.Sleep(10 * time.Minute)
		w.Close()
		w = open(t, &model{Reply: mute}, setting{Dir: dir})
		time.Sleep(20*time.Minute - time.Second)
		synctest.Wait()
		if got := w.writeSkills(inbox.Selection{}); got != "" {
			t.Fatalf("%q waits too early", got)
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		w.Until("it is back", func() bool { return w.Info("main").Pending == 1 })
		check(t, w.Pool.Letters.Snooze(t.Context(), w.Main(), []int64{id}, time.Now().Add(time.Hour)))
		got := make(chan error, 1)
		go func() {
			m, err := w.Pool.Pickup.Await(context.Background(), w.Main(), inbox.Query{}, mail.Await{Outside: true})
			if err == nil && m.ID != id {
				err = errors.New("another message came")
			}
			got <- err
		}()
		check(t, <-got)
		w.Close()
	})
}

// One turn takes exactly what was chosen, or nothing with the reason.
func TestFireThese(t *testing.T) {
	m := &model{Reply: mute}
	w := open(t, m, setting{})
	main := w.Main()
	var ids []int64
	for i := range 4 {
		ids = append(ids, w.send("main", fmt.Sprint("body ", i)))
	}
	_, _, err := w.Pool.Pickup.Check(t.Context(), main, inbox.Query{ID: ids[1]})
	check(t, err)
	_, err = w.Pool.Pickup.FireThese(t.Context(), main, ids, "sum up")
	refused(t, err, fmt.Sprintf("message #%d does not wait any more", ids[1]))
	refused(t, err, "so nothing was taken")
	n, err := w.Pool.Pickup.FireThese(t.Context(), main, []int64{ids[3], ids[0], ids[3]}, "sum up")
	if check(t, err); n != 2 || w.pending(main) != "body 2" {
		t.Errorf("%d taken, %q left", n, w.pending(main))
	}
	w.Settle()
	if req := m.Seen()[0]; asked(req) != "sum up" || !strings.Contains(fmt.Sprint(req.Messages), "Async subagent results:") {
		t.Errorf("it carries %v", req.Messages)
	}
	_, err = w.Pool.Pickup.FireThese(t.Context(), main, nil, "")
	refused(t, err, "none is chosen")
}

// What is chosen and gone before its turn begins is named, and nothing is taken; the
// command stands in the queue meanwhile as it can be typed.
func TestFireThese_waits(t *testing.T) {
	goOn := make(chan struct{})
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "long" {
			<-goOn
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	main := w.Main()
	check(t, w.Pool.Prompt(t.Context(), main, "long"))
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	a, b := w.send("main", "a"), w.send("main", "b")
	fired := make(chan error, 1)
	go func() {
		_, err := w.Pool.Pickup.FireThese(context.Background(), main, []int64{a, b}, "both")
		fired <- err
	}()
	w.Until("it is queued", func() bool { return len(w.Info("main").Prompts) == 1 })
	if got, want := w.Info("main").Prompts[0].Text, fmt.Sprintf("/fire #%d #%d both", a, b); got != want {
		t.Errorf("queued %q, want %q", got, want)
	}
	if _, err := w.Pool.Letters.Archive(t.Context(), main, []int64{b}); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	refused(t, <-fired, fmt.Sprintf("message #%d does not wait: it is archived", b))
	w.Settle()
	if w.pending(main) != "a" || len(m.Seen()) != 1 {
		t.Errorf("%q waits, %d requests", w.pending(main), len(m.Seen()))
	}
}

// The price of a message is what its taking costs, whole or only listed.
func TestTokens(t *testing.T) {
	m := &model{Reply: mute}
	w := open(t, m, setting{})
	main := w.Main()
	for _, size := range []int{1, 300, 5000, 90_000} {
		id := w.send("main", strings.Repeat("word ", size/5+1))
		whole, _, err := w.Pool.Letters.Message(t.Context(), id)
		check(t, err)
		listed, err := w.Pool.Letters.Select(t.Context(), inbox.Selection{Recipient: main})
		check(t, err)
		price := history.MessageTokens(listed[0])
		if other := history.MessageTokens(whole); other != price {
			t.Errorf("%d bytes: %d listed, %d whole", size, price, other)
		}
		_, err = w.Pool.Pickup.FireThese(t.Context(), main, []int64{id}, "")
		check(t, err)
		w.Settle()
		for _, e := range w.Entries("main") {
			if e.Kind == history.EntryMessage && e.Messages[0].ID == id && (price < e.Tokens*9/10 || price > e.Tokens*11/10) {
				t.Errorf("%d bytes: the price was %d, it cost %d", size, price, e.Tokens)
			}
		}
	}
}

// Each change of an inbox is told, those that no count shows too, and a reader that
// sleeps finds one word for many.
func TestMailed(t *testing.T) {
	w := open(t, &model{Reply: mute}, setting{})
	main := w.Main()
	feed, _ := w.Pool.Subscribe()
	defer feed.Close()
	told := func(what string, want int) {
		t.Helper()
		n := 0
		for _, e := range feed.Take() {
			if e == (event.Mailed{Agent: main}) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: told %d times", what, n)
		}
	}
	id := w.send("main", "x")
	told("a deposit", 1)
	for what, do := range map[string]func() error{
		"pin":     func() error { return w.Pool.Letters.Pin(t.Context(), main, id, true) },
		"dismiss": func() error { return w.Pool.Letters.Dismiss(t.Context(), main, id) },
		"mute":    func() error { _, err := w.Pool.Letters.Mute(t.Context(), main, id, true); return err },
		"snooze":  func() error { return w.Pool.Letters.Snooze(t.Context(), main, []int64{id}, time.Now().Add(time.Hour)) },
	} {
		check(t, do())
		told(what, 1)
		if what == "snooze" {
			_, err := w.Pool.Letters.Restore(t.Context(), main, []int64{id})
			check(t, err)
			told("restore", 1)
		}
	}
	for range 10 {
		w.send("main", "y")
	}
	told("ten deposits", 1)
	told("nothing", 0)
}

// What a message tells of is what its task changed, no other task of that agent; of
// mail it is what was changed in the turn that sent it, until then.
func TestMade(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		steps, done := strings.Split(asked(req), ";"), len(results(req))
		if done < len(steps)-1 {
			name, args, _ := strings.Cut(steps[done], " ")
			return call(fmt.Sprint("c", len(req.Messages)), name, args), nil
		}
		return text(steps[len(steps)-1]), nil
	}
	w := open(t, m, setting{})
	made := func(id int64) agents.Made {
		t.Helper()
		made, err := w.Pool.Records.Made(t.Context(), id)
		check(t, err)
		return made
	}
	only := func(what string, d agents.Made, changes int, out string, has ...string) {
		t.Helper()
		for _, s := range has {
			if !strings.Contains(d.Diff, s) {
				t.Errorf("%s: %q is not in\n%s", what, s, d.Diff)
			}
		}
		if d.Changes != changes || d.Output() != out {
			t.Errorf("%s: %d changes, output %q\n%s", what, d.Changes, d.Output(), d.Diff)
		}
	}
	w.Push("kid", `write_file {"path":"a.txt","content":"one\n"};write_file {"path":"b.txt","content":"two\n"};both written`)
	w.Run(0)
	w.Until("it reports", func() bool { return w.Info("main").Pending == 1 })
	first := w.inboxOf(w.Main())[0].ID
	only("the first task", made(first), 2, "both written", "a.txt", "+one", "b.txt", "+two")
	_, _, err := w.Pool.Resume(t.Context(), w.Main(), "kid", `write_file {"path":"c.txt","content":"three\n"};send {"to":"main","message":"by the way"};write_file {"path":"d.txt","content":"four\n"};more`)
	check(t, err)
	w.Run(0)
	w.Until("it reports again", func() bool { return w.Info("main").Pending == 3 })
	ms := w.inboxOf(w.Main())
	only("the first task still", made(first), 2, "both written", "a.txt", "b.txt")
	only("its mail", made(ms[1].ID), 1, "by the way", "c.txt")
	only("the second task", made(ms[2].ID), 2, "more", "c.txt", "d.txt")
	only("mail of a human", made(w.send("main", "x")), 0, "x")
	_, err = w.Pool.Records.Made(t.Context(), 999)
	refused(t, err, "there is no message #999")
}

// A reply stands in the thread of what it answers, whoever of both writes it; who
// can't be answered is an error that says what can be done.
//
// Spec: M-36, R-55.
func TestReply(t *testing.T) {
	w := open(t, &model{Reply: mute}, setting{})
	main := w.Main()
	study := w.helper("study")
	sent, err := w.Pool.Letters.Mail(t.Context(), study, mail.Letter{To: []string{"main"}, Body: "which port?"})
	check(t, err)
	answer, err := w.Pool.Letters.Reply(t.Context(), main, sent[0].ID, "8080")
	if check(t, err); answer.To != "study" {
		t.Errorf("sent to %s", answer.To)
	}
	again, err := w.Pool.Letters.Reply(t.Context(), study, answer.ID, "thanks")
	check(t, err)
	thread, err := w.Pool.Letters.Thread(t.Context(), answer.ID)
	check(t, err)
	var got []string
	for _, m := range thread {
		got = append(got, fmt.Sprintf("%d>%d:%s", m.InReplyTo, m.Thread, m.Body))
	}
	want := fmt.Sprintf("0>%[1]d:which port? %[1]d>%[1]d:8080 %[2]d>%[1]d:thanks", sent[0].ID, answer.ID)
	if strings.Join(got, " ") != want {
		t.Errorf("the thread is %v, want %s", got, want)
	}
	outside, err := w.Pool.Deposit(inbox.Message{Recipient: main, From: "ci", Body: "red"})
	check(t, err)
	question, err := w.Pool.Deposit(inbox.Message{Recipient: main, Sender: study, Kind: inbox.Question, Body: "which?"})
	check(t, err)
	reminder, err := w.Pool.Deposit(inbox.Message{Recipient: main, From: "timer", Kind: inbox.Reminder, Body: "now"})
	check(t, err)
	check(t, w.Pool.CloseHelper(t.Context(), "study", true))
	for id, want := range map[int64]string{
		outside: "came from outside (ci), where nobody has an inbox", question: fmt.Sprintf("/answer %d", question), 999: "there is no message #999",
		reminder: "is a reminder: nobody wrote it", again.ID: "has ended", answer.ID: "was sent to another agent: reply in its tab",
	} {
		_, err := w.Pool.Letters.Reply(t.Context(), main, id, "x")
		refused(t, err, want)
	}
}
