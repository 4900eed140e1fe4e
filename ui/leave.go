package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/store"
	"fantail/ui/composer"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// draftStore passes drafts from screen to screen, one for each agent.
type draftStore interface {
	// Leave stores drafts and returns the older ones that they replaced.
	Leave(ctx context.Context, ds []store.Draft) (older []store.Draft, err error)
	// Take returns all drafts and removes them, so that no other screen gets them.
	Take(ctx context.Context) ([]store.Draft, error)
	// Save stores what is typed until Leave, and replaces what it stored before.
	Save(ctx context.Context, ds []store.Draft) error
}

// leavesWithin is how long an ending screen waits for its drafts to be on disk.
const leavesWithin = 300 * time.Millisecond

// offer holds the drafts of earlier screens that this one took. Whoever has the token owns them:
// the command that takes them, then the loop, then Leave once the loop has ended.
type offer struct {
	token chan struct{}
	ds    []store.Draft // not in a box yet
}

func newOffer() offer { return offer{token: make(chan struct{}, 1)} }

// Offered takes the drafts of earlier screens. Each goes into its agent's box if that is empty. A
// box with text is never touched; the draft then goes into the history.
func (d *Drafts) Offered(p draftStore) intent.Intent {
	d.store = p
	if d.ReadOnly {
		return nil
	}
	o := &d.offer
	return intent.Do{Long: true, F: func(ctx context.Context) (intent.Intent, error) {
		select {
		case o.token <- struct{}{}:
		case <-ctx.Done(): // the program has ended
			return nil, ctx.Err()
		}
		defer func() { <-o.token }()
		var err error
		if o.ds, err = p.Take(ctx); err != nil || len(o.ds) == 0 {
			return nil, err
		}
		return intent.Call(d.back), nil
	}}
}

// back puts the taken drafts where they belong and says so in one line.
func (d *Drafts) back() intent.Intent {
	ds := d.offer.ds
	d.offer.ds = nil
	var all intent.All
	var said []string
	for _, x := range ds {
		t, kept := d.restore(x)
		all = append(all, kept)
		at := transcript.When(x.Left, d.Tabs.Now())
		switch {
		case kept != nil:
			said = append(said, fmt.Sprintf("your draft of %s is in the history of %s (Up)", at, t.Info.Name))
		case t != d.Tabs.Focus:
			said = append(said, fmt.Sprintf("your draft of %s is back in %s's box", at, t.Info.Name))
		default:
			said = append(said, fmt.Sprintf("your draft of %s is back", at))
		}
	}
	text := strings.Join(said, "; ")
	if len(said) > 2 {
		text = fmt.Sprintf("%s; %d more drafts are back", said[0], len(said)-1)
	}
	d.Flash.Say(text)
	return all
}

// restore puts a draft into its agent's box or, if that is not empty, into the history. It returns
// the intent that adds it to the history's file.
func (d *Drafts) restore(x store.Draft) (t *tabs.Tab, kept intent.Intent) {
	t, open := d.placeOf(d.Tabs.ByID(x.Agent), x.Text)
	if t.Typing() == nil {
		open(t)
	}
	if box := t.Typing(); box.Empty() || t.Line != nil && box.Value() == "/" {
		composer.Draft{Text: x.Text, Pastes: pastesIn(x)}.Into(box)
		return t, nil
	}
	if t.Box == nil {
		t = d.Tabs.Main()
	}
	t.Box.AddHistory(x.Text)
	return t, intent.All{d.past.add(x.Text)}
}

// Leave stores what was typed and not sent. It is called after the program has ended, even by a
// panic. It stores one draft for each agent for the next screen, and the rest in the history. It
// returns within leavesWithin, and the error says what may be lost.
func (d *Drafts) Leave() error {
	if d.ReadOnly {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leavesWithin)
	defer cancel()
	l, err := d.leaving(ctx)
	if len(l.ds)+len(l.rest) == 0 && d.store == nil {
		return err
	}
	over := make(chan error, 1)
	d.Go("leave drafts", func() { over <- l.keep(ctx, d.store, d.past.path) })
	select {
	case e := <-over:
		err = errors.Join(err, e)
	case <-ctx.Done():
		n := len(l.ds) + len(l.rest)
		err = errors.Join(err, fmt.Errorf("%d texts that were typed and not sent were not on disk within %v", n, leavesWithin))
	}
	return err
}

// leaving is what an ending screen stores.
type leaving struct {
	ds   []store.Draft
	rest []string // texts for which ds has no place, oldest first
}

// leaving collects what to store.
func (d *Drafts) leaving(ctx context.Context) (l leaving, err error) {
	l.rest = slices.Clone(d.past.typed)
	for _, k := range d.early {
		l.rest = append(l.rest, k.typed())
	}
	for _, t := range d.Tabs.All {
		mine, e := d.unsent(t)
		err = errors.Join(err, e)
		if n := len(mine); n > 0 && t.Info.ID != 0 && d.store != nil {
			l.ds = append(l.ds, mine[n-1])
			mine = mine[:n-1]
		}
		for _, x := range mine {
			l.rest = append(l.rest, x.Text)
		}
	}
	select {
	case d.offer.token <- struct{}{}:
	case <-ctx.Done():
		return l, errors.Join(err, errors.New("the drafts of earlier screens were still being taken"))
	}
	for _, x := range d.offer.ds { // they were never shown
		if slices.ContainsFunc(l.ds, func(y store.Draft) bool { return y.Agent == x.Agent }) {
			l.rest = append(l.rest, x.Text)
		} else {
			l.ds = append(l.ds, x)
		}
	}
	return l, err
}

// unsent returns what was typed in a tab and not sent, newest last: the answer to its agent's
// question, and the text of its box or line. Input that is hidden on the screen is not included. It
// recovers from a panic, because the program may have failed right here.
func (d *Drafts) unsent(t *tabs.Tab) (ds []store.Draft, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the text typed for %s is lost: panic: %v", t.Info.Name, v)
		}
	}()
	if t.Question != nil {
		if text := d.withheld(t.Question.Typed()); strings.TrimSpace(text) != "" {
			ds = append(ds, store.Draft{Agent: t.Info.ID, Text: text})
		}
	}
	box := t.Typing()
	if box == nil {
		return ds, nil
	}
	for _, x := range composer.Unsent(box) {
		if t.Line == nil || x.Text != "/" {
			ds = append(ds, d.row(t.Info.ID, x))
		}
	}
	return ds, nil
}

// row returns a draft as it is stored: without keys.
func (d *Drafts) row(agent int64, x composer.Draft) store.Draft {
	row := store.Draft{Agent: agent, Text: d.withheld(x.Text)}
	var spans [][2]int
	from := 0
	for _, p := range x.Pastes {
		p = d.withheld(p)
		at := strings.Index(row.Text[from:], p)
		if at < 0 {
			continue // a key overlaps its edge
		}
		spans = append(spans, [2]int{from + at, from + at + len(p)})
		from += at + len(p)
	}
	if spans != nil {
		b, _ := json.Marshal(spans) // numbers can always be encoded
		row.Pastes = string(b)
	}
	return row
}

// pastesIn returns the pastes in a draft.
func pastesIn(x store.Draft) (pastes []string) {
	var spans [][2]int
	if json.Unmarshal([]byte(x.Pastes), &spans) != nil {
		return nil // it has none
	}
	for _, s := range spans {
		if 0 <= s[0] && s[0] < s[1] && s[1] <= len(x.Text) {
			pastes = append(pastes, x.Text[s[0]:s[1]])
		}
	}
	return pastes
}

// keep stores it all. Texts that can't become drafts go into the history's file.
func (l leaving) keep(ctx context.Context, p draftStore, history string) (err error) {
	rest := l.rest
	if p != nil {
		var older []store.Draft
		if older, err = p.Leave(ctx, l.ds); err != nil {
			older = l.ds
		}
		for _, x := range slices.Backward(older) {
			rest = slices.Insert(rest, 0, x.Text)
		}
	}
	if len(rest) == 0 || history == "" {
		return err
	}
	return errors.Join(err, appendPast(history, rest))
}
