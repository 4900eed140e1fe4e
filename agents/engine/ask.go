package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/recovery"
	"fantail/store"
	"fantail/tools"
)

// ask asks the human a question of the engine. The question is durable, and about the call as the
// transcript has it.
func (s *Runner) ask(ctx context.Context, call, title string, q tools.Question) (string, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if !s.o.Attended {
		return "", ErrUnasked
	}
	given, lost := "", false
	s.with(func() {
		if lost = s.lost; s.toThat == q.Text {
			given, s.given = s.given, ""
		}
		s.posed = !lost && given == ""
	})
	switch {
	case lost: // no program would get the answer
		return "", ErrLost
	case given != "":
		return given, nil
	}
	if call = s.named(call); call == "" {
		call = fmt.Sprintf("%d-%d", s.l.Turn(), s.o.Now().UnixNano())
	}
	answer, err := s.l.Ask(ctx, call, title, q)
	s.with(func() {
		if s.posed = false; err == nil && s.lost {
			s.toThat, s.given = q.Text, answer
		}
	})
	switch {
	case errors.Is(err, approval.ErrParked):
		s.parked = true
	case err != nil && ctx.Err() != nil: // the engine no longer asks, so an answer would reach no program
		err = errors.Join(err, s.takenBack(ctx))
	}
	return answer, err
}

// takenBack closes a question that the engine no longer asks. The engine's turn goes on unless it
// has ended too.
func (s *Runner) takenBack(ctx context.Context) error {
	err := s.l.Keep(context.WithoutCancel(ctx), "take a question back", func(tx *store.Tx) error {
		return s.o.Asks.Settle(tx, s.o.ID, "it is not asked any more")
	})
	if turn := s.gate.now(); err == nil && turn != nil && turn.Err() == nil {
		err = s.a.Regain(turn)
	}
	return err
}

// with runs f with the mutex locked, which guards what questions share with the agent's loop.
func (s *Runner) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// parks reports whether a question stays open at the end of the turn. It waits until the question
// is settled or parked.
func (s *Runner) parks() bool {
	s.asking <- struct{}{}
	defer func() { <-s.asking }()
	return s.parked
}

// outlived waits for the answer to a question that was open when the engine's program ended because
// of why. After nil the turn goes on with the answer. If no question was open it returns why.
func (s *Runner) outlived(ctx context.Context, why error) error {
	open := false
	s.with(func() { s.lost, s.given, open = true, "", s.posed })
	if !open {
		return why
	}
	if err := s.l.Tell(ctx, why.Error()+"\nWhat it asked stays open: it is started again once you have answered."); err != nil {
		return err
	}
	parked := s.parks()
	question, answer := "", ""
	s.with(func() { question, answer = s.toThat, s.given })
	switch {
	case parked:
		return approval.ErrParked
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case answer == "":
		return why
	}
	return s.goesOn(ctx, question, answer)
}

// goesOn continues a turn in which the engine had asked question. The engine is told the answer,
// and gets it again if it asks the same.
func (s *Runner) goesOn(ctx context.Context, question, answer string) error {
	s.with(func() { s.toThat, s.given = question, answer })
	s.tellLater(fmt.Sprintf("The program in which you run has ended and was started again. You had asked: %s\n\nThe answer is: %s\n\nGo on with what you were doing.",
		question, answer))
	return s.hosts(ctx)
}

// tellLater adds a text to what the engine is told next.
func (s *Runner) tellLater(text string) { s.with(func() { s.later = append(s.later, text) }) }

// hosts appends to the conversation what this program has to tell the engine.
func (s *Runner) hosts(ctx context.Context) error {
	var words []string
	s.with(func() { words, s.later = s.later, nil })
	if len(words) == 0 {
		return nil
	}
	return s.l.Keep(ctx, "tell an engine something", func(tx *store.Tx) error {
		b := s.a.Book().Batch(tx)
		for _, text := range words {
			if _, err := b.Add(s.l.Turn(), history.Entry{Kind: history.EntryHost, Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
}

// GoOn goes on with a turn that waited for an answer when the program ended. The engine's question
// ended with the engine's program.
func (s *Runner) GoOn(ctx context.Context, k *recovery.Parked) error {
	var d event.QuestionRow
	if err := json.Unmarshal([]byte(k.Row.Data), &d); err != nil || d.Asks == nil {
		return errors.New("what it asked can't be read any more")
	}
	s.o.Asks.Park(k.Row)
	answer, err := s.l.Ask(ctx, k.Row.Call, d.Action.Title, *d.Asks)
	if err != nil {
		return err
	}
	for _, c := range k.Calls {
		r := tools.Result{Error: true, Text: "Its program ended before this did; it was started again."}
		if err := s.l.Result(ctx, c, s.o.Now(), r); err != nil {
			return err
		}
	}
	return s.goesOn(ctx, d.Asks.Text, answer)
}
