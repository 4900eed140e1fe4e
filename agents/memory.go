package agents

import (
	"context"

	"fantail/agents/memory"
)

// Docs are the workspace's memory documents.
func (p *Pool) docs() memory.Docs { return memory.Docs{DB: p.o.DB} }

// Remember is [memory.Docs.Write].
func (p *Pool) Remember(ctx context.Context, title, text string, expect *int) (version int, err error) {
	return p.docs().Write(ctx, title, text, expect)
}

// Documents is [memory.Docs.List].
func (p *Pool) Documents(ctx context.Context) ([]Document, error) { return p.docs().List(ctx) }

// Document is [memory.Docs.Get].
func (p *Pool) Document(ctx context.Context, title string, version int) (Document, bool, error) {
	return p.docs().Get(ctx, title, version)
}

// Versions is [memory.Docs.Versions].
func (p *Pool) Versions(ctx context.Context, title string) ([]Document, error) {
	return p.docs().Versions(ctx, title)
}
