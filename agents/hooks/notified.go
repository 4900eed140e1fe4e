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

// The store records which mail and questions hooks were told of, before and after the hooks run. After a kill in
// between, the program tells the interrupted item again, marked as repeated, and then everything after it. The end of
// a task is different: its hook may do what must not be done twice, so it is not told again.
const (
	toldOfMail      = "hooks told of mail"      // the newest message told; with being: about to be
	toldOfQuestions = "hooks told of questions" // those told; with being: the last is about to be
)

// being ends the recorded value while hooks run.
const being = "+"

// mail is the newest mail that hooks were told of.
type mail struct {
	follows bool  // otherwise there are no hooks for it, and new mail is never told
	known   bool  // told is valid
	told    int64 // all messages up to this one; it is stored while hooks follow
	again   int64 // the message that may have been told before the program began; 0: none
}

// maxMail is how many messages are read at once.
const maxMail = 100

// maxAsked is how many told questions are remembered.
const maxAsked = 200

// asked are the questions that hooks were told of; nil: there are no hooks for them.
type asked struct {
	told  []int64 // in the order in which they were
	again int64   // the question that may have been told before the program began; 0: none
}

// missedMail tells hooks of the messages that came before the program began and were not told.
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
		return
	}
	number, begun := strings.CutSuffix(word, being)
	n, wrong := strconv.ParseInt(number, 10, 64)
	switch {
	case wrong != nil: // nothing was told before: existing mail is skipped
	case begun:
		f.mail = mail{follows: true, known: true, told: n - 1, again: n}
	default:
		f.mail = mail{follows: true, known: true, told: n}
	}
	f.mailed(ctx)
}

// newest skips all existing mail.
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

// mailed tells hooks of mail that came since the last look.
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
			ms, err = inbox.After(&rx.View, f.mail.told, maxMail)
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
				return // the hook may have been interrupted
			}
			f.mail.told = m.ID
		}
		more = len(ms) == maxMail
	}
	if f.mail.told > before {
		f.keep(ctx, toldOfMail, strconv.FormatInt(f.mail.told, 10))
	}
}

// missedQuestions tells hooks of the open questions that were asked before the program began and were not told.
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

// hasForQuestions reports whether there are hooks for questions.
func (f *follower) hasForQuestions() bool { return f.has(QuestionAsked) || f.has(Notification) }

// keepAsked stores which questions were told.
func (f *follower) keepAsked(ctx context.Context, end string) {
	f.asked.told = f.asked.told[max(0, len(f.asked.told)-maxAsked):]
	words := make([]string, len(f.asked.told))
	for n, id := range f.asked.told {
		words[n] = strconv.FormatInt(id, 10)
	}
	f.keep(ctx, toldOfQuestions, strings.Join(words, ",")+end)
}

// asks tells hooks of the question that an agent asks, unless it was told before the program began.
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
		"message": is.Name + " asks: " + history.Fit(facts["text"].(string), history.MaxSubject), "title": "Fantail", "notification_type": kind,
	}
	if q.ID == f.asked.again {
		facts["repeated"], notes["repeated"] = true, true
	}
	f.fire(ctx, Who{Info: is}, QuestionAsked, facts, is.Name)
	f.fire(ctx, Who{Info: is}, Notification, notes, kind)
	if ctx.Err() == nil { // otherwise a hook may have been interrupted
		f.keepAsked(ctx, "")
	}
}

// kept returns the value stored under a name; "": there is none.
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

// keep stores a value under a name.
func (f *follower) keep(ctx context.Context, name, word string) {
	if f.o.DB == nil {
		return
	}
	err := f.o.DB.Write(context.WithoutCancel(ctx), "keep what hooks were told", func(tx *store.Tx) error { return tx.SetSetting(name, word) })
	if err != nil && f.o.Trouble != nil {
		f.o.Trouble(err)
	}
}

// trouble reports an error of the store, unless the program closes.
func (f *follower) trouble(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && f.o.Trouble != nil {
		f.o.Trouble(err)
	}
}
