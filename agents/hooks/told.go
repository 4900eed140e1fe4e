package hooks

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// What hooks were told of mail and questions is kept in the store before and after they are told it, so that a program that is
// killed in between tells what it had begun to tell once more, marked as repeated, and what had come behind that. A task's end
// is different: who hears of one may do what must not be done twice, so that one is not told again.
const (
	toldOfMail      = "hooks told of mail"      // the newest message that was told; being: it is about to be
	toldOfQuestions = "hooks told of questions" // those that were told; being: the last is about to be
)

// being ends what is kept while hooks run.
const being = "+"

// mail is how far hooks were told of it.
type mail struct {
	follows bool  // else there are no hooks for it, and what comes is never told
	known   bool  // told is
	told    int64 // all messages up to this one, which is kept while hooks follow
	again   int64 // the one that may have been told before the program began; 0: none
}

// mostMail is how many messages are read at once.
const mostMail = 100

// mostAsked is how many questions are known to have been told.
const mostAsked = 200

// asked are the questions that hooks were told of; nil: there are no hooks for them.
type asked struct {
	told  []int64 // in the order in which they were
	again int64   // the one that may have been told before the program began; 0: none
}

// missedMail begins with the messages that came before the program did, and were not told.
func (f *follower) missedMail(ctx context.Context) {
	word, err := f.kept(ctx, toldOfMail)
	switch {
	case err != nil:
		f.trouble(ctx, err)
		return
	case !f.has(MailDeposited):
		if word != "" {
			f.keep(ctx, toldOfMail, "")
		}
		f.newest(ctx)
		return
	}
	number, begun := strings.CutSuffix(word, being)
	n, wrong := strconv.ParseInt(number, 10, 64)
	switch {
	case wrong != nil: // nothing was told before
		f.newest(ctx)
	case begun:
		f.mail = mail{follows: true, known: true, told: n - 1, again: n}
	default:
		f.mail = mail{follows: true, known: true, told: n}
	}
	f.mailed(ctx)
}

// newest passes over all mail that is there.
func (f *follower) newest(ctx context.Context) {
	f.mail = mail{}
	if f.o.DB == nil {
		return
	}
	err := f.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		f.mail.told, err = inbox.Newest(&rx.View)
		return err
	})
	f.mail.known = err == nil
	f.trouble(ctx, err)
}

// mailed tells of mail that came since it was looked at last.
func (f *follower) mailed(ctx context.Context) {
	if !f.has(MailDeposited) {
		if f.mail.follows {
			f.keep(ctx, toldOfMail, "")
		}
		f.newest(ctx)
		return
	}
	if !f.mail.known {
		f.newest(ctx)
	}
	if !f.mail.known {
		return
	}
	if !f.mail.follows {
		f.mail.follows = true
		f.keep(ctx, toldOfMail, strconv.FormatInt(f.mail.told, 10))
	}
	before := f.mail.told
	for more := true; more; {
		var ms []inbox.Message
		err := f.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
			ms, err = inbox.After(&rx.View, f.mail.told, mostMail)
			return err
		})
		if err != nil {
			f.trouble(ctx, err)
			return
		}
		for _, m := range ms {
			f.keep(ctx, toldOfMail, strconv.FormatInt(m.ID, 10)+being)
			facts := told(m)
			if m.ID == f.mail.again {
				facts["repeated"] = true
			}
			f.fire(ctx, f.who(m.Recipient, 0), MailDeposited, facts, m.From, string(m.Kind))
			if ctx.Err() != nil {
				return // a hook may have been cut short
			}
			f.mail.told = m.ID
		}
		more = len(ms) == mostMail
	}
	if f.mail.told > before {
		f.keep(ctx, toldOfMail, strconv.FormatInt(f.mail.told, 10))
	}
}

// missedQuestions begins with the open questions that were asked before the program began, and were not told.
func (f *follower) missedQuestions(ctx context.Context) {
	word, err := f.kept(ctx, toldOfQuestions)
	switch {
	case err != nil:
		f.trouble(ctx, err)
		return
	case !f.hasForQuestions():
		if word != "" {
			f.keep(ctx, toldOfQuestions, "")
		}
		return
	}
	var open []event.Info
	for _, i := range f.known {
		if i.Question != nil {
			open = append(open, i)
		}
	}
	slices.SortFunc(open, func(a, b event.Info) int { return int(a.Question.ID - b.Question.ID) })
	if word == "" {
		f.asked.told = []int64{0}
		for _, i := range open {
			f.asked.told = append(f.asked.told, i.Question.ID)
		}
		f.keepAsked(ctx, "")
		return
	}
	list, begun := strings.CutSuffix(word, being)
	for number := range strings.SplitSeq(list, ",") {
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			f.asked.told = append(f.asked.told, n)
		}
	}
	if last := len(f.asked.told) - 1; begun && last >= 0 {
		f.asked.told, f.asked.again = f.asked.told[:last:last], f.asked.told[last]
	}
	for _, i := range open {
		f.asks(ctx, i)
	}
}

// hasForQuestions reports whether hooks hear of questions.
func (f *follower) hasForQuestions() bool { return f.has(QuestionAsked) || f.has(Notification) }

// keepAsked keeps which questions were told.
func (f *follower) keepAsked(ctx context.Context, end string) {
	f.asked.told = f.asked.told[max(0, len(f.asked.told)-mostAsked):]
	words := make([]string, len(f.asked.told))
	for n, id := range f.asked.told {
		words[n] = strconv.FormatInt(id, 10)
	}
	f.keep(ctx, toldOfQuestions, strings.Join(words, ",")+end)
}

// asks tells of the question that an agent asks, unless that was told before the program began.
func (f *follower) asks(ctx context.Context, is event.Info) {
	q := is.Question
	switch {
	case !f.hasForQuestions():
		if f.asked.told != nil {
			f.asked = asked{}
			f.keep(ctx, toldOfQuestions, "")
		}
		return
	case slices.Contains(f.asked.told, q.ID):
		return
	}
	f.asked.told = append(f.asked.told, q.ID)
	f.keepAsked(ctx, being)
	facts := map[string]any{"question": q.ID, "tool": q.Action.Tool, "title": q.Action.Title, "text": q.Action.Title}
	kind := "permission_prompt"
	if q.Asks != nil {
		facts["text"], kind = q.Asks.Text, "elicitation_dialog"
	}
	notes := map[string]any{
		"message": is.Name + " asks: " + history.Fit(facts["text"].(string), history.MostSubject), "title": "Fantail", "notification_type": kind,
	}
	if q.ID == f.asked.again {
		facts["repeated"], notes["repeated"] = true, true
	}
	f.fire(ctx, Who{Info: is}, QuestionAsked, facts, is.Name)
	f.fire(ctx, Who{Info: is}, Notification, notes, kind)
	if ctx.Err() == nil { // else one may have been cut short
		f.keepAsked(ctx, "")
	}
}

// kept is what is kept under a name; "": nothing is.
func (f *follower) kept(ctx context.Context, name string) (word string, err error) {
	if f.o.DB == nil {
		return "", nil
	}
	err = f.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		word, _, err = rx.Setting(name)
		return err
	})
	return word, err
}

// keep keeps a word under a name.
func (f *follower) keep(ctx context.Context, name, word string) {
	if f.o.DB == nil {
		return
	}
	err := f.o.DB.Write(context.WithoutCancel(ctx), "keep what hooks were told", func(tx *store.Tx) error { return tx.SetSetting(name, word) })
	if err != nil && f.o.Trouble != nil {
		f.o.Trouble(err)
	}
}

// trouble tells what could not be read, unless the program closes.
func (f *follower) trouble(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && f.o.Trouble != nil {
		f.o.Trouble(err)
	}
}
