package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/schedule"
	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/store"
)

// TypedPrompts expands commands in prompts. If it is nil, prompts are not expanded.
type TypedPrompts struct {
	DB     *store.DB
	Skills *skills.Catalog
}

// NewTypedPrompts returns a TypedPrompts for the commands of catalog; nil if catalog is nil.
func NewTypedPrompts(db *store.DB, catalog *skills.Catalog) *TypedPrompts {
	if catalog == nil {
		return nil
	}
	return &TypedPrompts{DB: db, Skills: catalog}
}

// MeantAgents are expanded prompts by id. nil: none is expanded.
type MeantAgents map[int64]string

// Mean expands the prompts that wait for an agent and may enter now. It reads files and runs their
// command lines, so it must be called outside of transactions.
func (r *TypedPrompts) Mean(ctx context.Context, i event.Info, may func(prompt int64) bool) (MeantAgents, error) {
	if r == nil {
		return nil, nil
	}
	m := MeantAgents{}
	for _, q := range i.Prompts {
		if q.Held || q.Then || !may(q.ID) || !r.Skills.Names(q.Text) {
			continue
		}
		by, err := r.typist(ctx, i, q)
		if err != nil {
			return nil, err
		}
		text, after := q.Text, ""
		if i.Kind.Observes() { // an observer's prompt ends with its cancel condition
			text, after = i.Prompt, strings.TrimPrefix(q.Text, i.Prompt)
		}
		m[q.ID] = r.Skills.Expand(ctx, text, by) + after
	}
	if why := context.Cause(ctx); errors.Is(why, event.ErrClosing) {
		return nil, why // the output of a command line is missing: the prompts wait until the next start
	}
	return m, nil
}

// Texts returns the prompts as they enter. A prompt that came too late for Mean waits for the next
// seam, which it requests by calling again.
func (r *TypedPrompts) Texts(tx *store.Tx, m MeantAgents, all []store.Prompt, again func()) []store.Prompt {
	if r == nil {
		return all
	}
	var in []store.Prompt
	for _, q := range all {
		text, looked := m[q.ID]
		switch {
		case looked:
			q.Text = text
		case r.Skills.Names(q.Text):
			tx.AfterCommit(again)
			continue
		}
		in = append(in, q)
	}
	return in
}

// typist reports whether a human typed a prompt: some commands are for people only.
func (r *TypedPrompts) typist(ctx context.Context, i event.Info, q event.Prompt) (by skills.Typist, err error) {
	is := i.Kind.HasPrompt() || i.Kind.Ends()
	err = r.DB.Read(ctx, func(rx *store.Rx) error {
		switch {
		case i.Kind.Observes():
			s, _, ok, err := schedule.OfAgent(&rx.View, i.ID)
			is = ok && s.Origin != schedule.Agent
			return err
		case i.Task == 0 || i.Kind.HasPrompt():
			return nil
		}
		t, _, err := rx.Task(i.Task)
		if q.Text == t.Prompt { // else a human told it this later
			is = t.Origin == tasks.OriginHuman || t.Origin == tasks.OriginCLI && t.SpawnedBy == 0
		}
		return err
	})
	if err != nil {
		return by, fmt.Errorf("look who typed a command: %w", err)
	}
	return skills.Typist(is), nil
}
