package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/history"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// pageSize is how many entries a page of a transcript has.
const pageSize = 100

// reader reads what the screen shows and what boxes complete from. It reads off the loop and
// nothing twice. Each method returns a command that reads, whose result is a message, or nil if
// there is nothing to read.
type reader struct {
	ctx  context.Context // of the screen
	root string          // directory of the workspace
	head func() string   // returns the branch
	pool *agents.Pool    // nil until attached

	files     *composer.FileIndex // nil until a draft needed it
	documents []history.Document  // as last listed
}

// transcript reads the newest page of a tab that has no page yet.
func (r *reader) transcript(t *tabs.Tab) tea.Cmd {
	if t == nil || t.Asked || r.pool == nil {
		return nil
	}
	t.Asked = true
	return r.page(t.Info.ID, 0)
}

// older reads the next older page when the view is near its top.
func (r *reader) older(t *tabs.Tab) tea.Cmd {
	if before, ok := t.View.Older(); ok && t.Loaded && r.pool != nil {
		return r.page(t.Info.ID, before)
	}
	return nil
}

func (r *reader) page(agent, before int64) tea.Cmd {
	return func() tea.Msg {
		es, err := r.pool.Records.Page(r.ctx, agent, before, pageSize)
		return paged{agent: agent, before: before, entries: es, err: err}
	}
}

// facts reads what a view of the tab shows besides the transcript, if that is out of date.
func (r *reader) facts(t *tabs.Tab) tea.Cmd {
	if r.pool == nil || !t.WantsFacts() {
		return nil
	}
	id := t.Info.ID
	return func() tea.Msg {
		f, err := r.pool.Records.Facts(r.ctx, id)
		return factsRead{id, f, err}
	}
}

// branch reads the checked-out branch.
func (r *reader) branch() tea.Cmd {
	return func() tea.Msg { return branched{r.head()} }
}

// branchAfter rereads the branch after entries that may have changed it.
func (r *reader) branchAfter(es []history.Entry) tea.Cmd {
	if slices.ContainsFunc(es, func(e history.Entry) bool {
		return e.Kind == history.EntryResult || e.Kind == history.EntryShell || e.Kind == history.EntryEnded
	}) {
		return r.branch()
	}
	return nil
}

// completes reads what a box completes from after key k.
func (r *reader) completes(k tea.KeyPressMsg, box *composer.Box) tea.Cmd {
	return tea.Batch(r.list(box), r.remembered(k, box))
}

// list lists the workspace's files when a draft first needs them.
func (r *reader) list(box *composer.Box) tea.Cmd {
	if r.files != nil || !strings.Contains(box.Value(), "@") {
		return nil
	}
	r.files = composer.NewFileIndex(nil)
	return func() tea.Msg {
		paths, err := composer.ScanFiles(r.ctx, r.root)
		if err != nil && len(paths) == 0 {
			return done{text: format.Sentence(fmt.Errorf("list the files of the workspace: %w", err)), tone: transcript.Bad}
		}
		return listed{composer.NewFileIndex(paths)}
	}
}

// remembered lists the memory documents when `#` is typed, or before the arguments of /memory.
func (r *reader) remembered(k tea.KeyPressMsg, box *composer.Box) tea.Cmd {
	if r.pool == nil || k.Text != "#" && (k.Text != " " || !strings.HasPrefix(box.Value(), "/memory ")) {
		return nil
	}
	return func() tea.Msg {
		ds, err := r.pool.Memory.List(r.ctx)
		if err != nil {
			return done{text: format.Sentence(err), tone: transcript.Bad}
		}
		return known{ds}
	}
}
