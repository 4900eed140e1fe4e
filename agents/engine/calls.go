package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// offered maps the engine's names of the tools it may call to ours: the tools for the queue and for
// mail. It has its own tools for all else. The list of messages has the name that it has in a
// shell.
func offered() map[string]string {
	return map[string]string{
		"push": "push", "run": "run", "queue": "queue", "delegate": "delegate",
		"send": "send", "reply_to_message": "reply_to_message", "check": "check", "receive": "receive", "inbox": "list_messages", "read_message": "read_message",
	}
}

// specs returns those tools, sorted by name.
func (s *Runner) specs() (all []tools.Spec) {
	ours := offered()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		for _, spec := range s.o.Tools.Specs() {
			if spec.Name == ours[name] {
				spec.Name, spec.Description = name, strings.ReplaceAll(spec.Description, "`list_messages`", "`inbox`")
				all = append(all, spec)
			}
		}
	}
	return all
}

// call carries out an engine's call of one of our tools. The engine reports the call itself;
// messages that the call takes get an entry of their own.
func (s *Runner) call(ctx context.Context, name string, args json.RawMessage) tools.Result {
	ctx, leave, err := s.gate.enter(ctx)
	if err != nil {
		return failed(err)
	}
	defer leave()
	ours := offered()[name]
	if ours == "" {
		return failed(fmt.Errorf("there is no tool %q here", name))
	}
	c, err := s.o.Tools.Parse(&tools.Runtime{Agents: s.o.Agents, Keys: s.o.Keys}, "", ours, args)
	if err != nil {
		return failed(err)
	}
	if why, err := s.refused(ctx, c); err != nil || why != "" {
		return failed(errors.Join(err, said(why)))
	}
	if c.Start != nil {
		c.Start(ctx)
	}
	r := c.Run(ctx)
	if r.Entry != 0 && ctx.Err() == nil {
		s.had.by(r.Entry)
	}
	return r
}

func failed(err error) tools.Result { return tools.Result{Text: err.Error(), Error: true} }

func said(why string) error {
	if why == "" {
		return nil
	}
	return errors.New(why)
}

const (
	lets    = "Yes, it may hand work to it"
	letsNot = "No"
)

// refused returns why a call may not run; "": it may. It asks the human, once, about handing work
// to another vendor.
func (s *Runner) refused(ctx context.Context, c *tools.Call) (why string, err error) {
	v := s.o.Judge(c.Action)
	if err := s.o.Asks.Dispatch(ctx, s.o.ID, &v); err != nil {
		return "", err
	}
	switch v.Decision {
	case permission.Allow:
		return "", nil
	case permission.Deny:
		return "Refused: " + v.Reason, nil
	}
	title := tools.Line(c.Action.Title)
	answer, err := s.ask(ctx, "", title, tools.Question{
		Text: fmt.Sprintf("%s wants to: %s\n\nIt %s. %s", s.o.Name, title, v.Reason, v.Changed), Options: []tools.Option{{Label: lets}, {Label: letsNot}},
	})
	switch {
	case errors.Is(err, ErrUnasked):
		return "Refused: it " + v.Reason + ", and nobody is here to be asked", nil
	case err != nil:
		return "", err
	case answer == lets:
		return "", s.l.Keep(ctx, "let it hand work to "+v.Vendor, func(tx *store.Tx) error { return s.o.Asks.LetDispatch(tx, s.o.ID, v.Vendor) })
	case answer == letsNot:
		return "The user said no.", nil
	}
	return "The user said no: " + answer, nil
}

// had holds the entries that the engine got as results of its calls. It is safe for concurrent use.
type had struct {
	mu      sync.Mutex
	entries map[int64]bool
}

func (h *had) by(entry int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.entries == nil {
		h.entries = map[int64]bool{}
	}
	h.entries[entry] = true
}

// lost notes that the engine's program ended before it had processed the results of its calls.
func (h *had) lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = nil
}

// upTo removes the entries that are recorded.
func (h *had) upTo(entry int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.entries, func(seq int64, _ bool) bool { return seq <= entry })
}

// some reports whether there are any entries.
func (h *had) some() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.entries) > 0
}

// without returns the entries that the engine does not have, and whether it may have one of them
// nevertheless.
func (h *had) without(es []history.Entry) (rest []history.Entry, doubt bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range es {
		if h.entries[e.Seq] {
			continue
		}
		doubt = doubt || e.Kind == history.EntryMessage && e.By == byCall
		rest = append(rest, e)
	}
	return rest, doubt
}

// byCall marks entries of messages that an engine's call returned.
const byCall = "tool"

// keep records the entries that the engine has as results of its calls or from a turn that it began
// on its own, up to the first entry that it must still be told. Its turn has ended.
func (s *Runner) keep(ctx context.Context) error {
	if !s.had.some() && !s.alone {
		return nil
	}
	upTo, more := s.told, true
	for more {
		const page = 200
		var rows []store.Entry
		err := s.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) (err error) {
			rows, err = rx.EntriesAfter(s.o.ID, upTo, page)
			return err
		})
		if err != nil {
			return fmt.Errorf("look at what was told: %w", err)
		}
		more = len(rows) == page
		for _, e := range history.DecodeAll(rows) {
			if rest, _ := s.had.without([]history.Entry{e}); len(rest) > 0 && history.Heard(rest) != "" {
				more = false
				break
			}
			upTo = e.Seq
		}
	}
	s.told, s.alone = upTo, false
	s.had.upTo(upTo)
	return s.session.Had(ctx, upTo)
}
