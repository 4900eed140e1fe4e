package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// Documents carries out commands on the workspace's memory documents for the human at a screen.
type Documents struct {
	Memory history.Documents
	Now    func() time.Time
	Here   int64 // the agent whose tab the human is in
}

// DocumentFacts returns a document's size, age and author.
func DocumentFacts(d history.Document, now time.Time) string {
	by := "you"
	if d.By != "" {
		by = cells.CleanLine(inbox.Label(d.By))
	}
	return fmt.Sprintf("%s · %s ago · by %s", transcript.Size(d.Size), format.Age(now.Sub(d.Created)), by)
}

// List lists the documents.
func (l Documents) List(ctx context.Context) (string, error) {
	ds, err := l.Memory.List(ctx)
	if err != nil {
		return "", err
	}
	if len(ds) == 0 {
		return "No memory documents. /memory edit NAME to write one; type #mem-NAME to use it. Agents write them too", nil
	}
	var b strings.Builder
	b.WriteString("Memory documents:")
	wide := 0
	for _, d := range ds {
		wide = max(wide, len(history.TitleOf(d)))
	}
	for _, d := range ds {
		fmt.Fprintf(&b, "\n  #mem-%-*s  %s", wide, history.TitleOf(d), DocumentFacts(d, l.Now()))
	}
	return b.String(), nil
}

// Remove writes an empty version. The document is gone, but its versions stay readable.
func (l Documents) Remove(ctx context.Context, title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	was, ok, err := l.Memory.Get(ctx, title, 0)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", l.absent(ctx, title, 0)
	}
	if _, err := l.Memory.Write(ctx, title, "", &was.Version); err != nil {
		return "", err
	}
	return removed(title), nil
}

func removed(title string) string {
	return "#mem-" + title + " was removed. /memory log " + title + " to see its versions"
}

// absent returns the error for a document that does not exist.
func (l Documents) absent(ctx context.Context, title string, version int) error {
	ds, err := l.Memory.List(ctx)
	switch {
	case err != nil:
		return err
	case version > 0:
		return fmt.Errorf("#mem-%s has no text in version %d. /memory log %s to list the versions", title, version, title)
	}
	return errors.New(history.NoDocument(title, ds) + " /memory edit " + title + " to write it")
}

// Open reads a version of a document, 0 for the newest, and shows it in the tab.
func (l Documents) Open(ctx context.Context, title string, version int) (intent.Intent, error) {
	title = strings.TrimPrefix(title, "#mem-")
	d, ok, err := l.Memory.Get(ctx, title, version)
	if err == nil && !ok {
		err = l.absent(ctx, title, version)
	}
	return intent.Document{Agent: l.Here, Document: d}, err
}

// Log lists the versions of a document.
func (l Documents) Log(ctx context.Context, title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	ds, err := l.Memory.Versions(ctx, title)
	if err != nil {
		return "", err
	}
	if len(ds) == 0 {
		return "", l.absent(ctx, title, 0)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#mem-%s, newest first; /memory show %s VERSION shows one:", title, title)
	for _, d := range ds {
		what := DocumentFacts(d, l.Now())
		if d.Size == 0 {
			what = "removed · " + what
		}
		fmt.Fprintf(&b, "\n  %3d  %s", d.Version, what)
	}
	return b.String(), nil
}

// Edit opens the external editor on a document and writes the result. If the document changed
// meanwhile, the human's text stays in its file.
func (l Documents) Edit(ctx context.Context, title string) (intent.Intent, error) {
	title = strings.TrimPrefix(title, "#mem-")
	d, ok, err := l.Memory.Get(ctx, title, 0)
	if err != nil {
		return nil, err
	}
	if !ok {
		d.Version, d.Text = 0, ""
	}
	name := strings.ReplaceAll(history.TitleOf(d), "/", "-") + ".md"
	return intent.Edit{Name: name, Draft: d.Text, Then: func(ctx context.Context, text, path string, err error) (intent.Intent, bool) {
		said := intent.Tell{Agent: l.Here, Tone: transcript.Bad}
		if err != nil {
			said.Text = format.Sentence(err)
			return said, false
		}
		var keep bool
		said.Text, said.Tone, keep = kept(ctx, l.Memory, d, text, path)
		return said, keep
	}}, nil
}

// kept writes the edited text of a document, which is also in the file at path. keep reports that
// the file must stay. An empty text removes the document.
func kept(ctx context.Context, m history.Documents, was history.Document, text, path string) (says string, tone transcript.Tone, keep bool) {
	title, empty := history.TitleOf(was), strings.TrimSpace(text) == ""
	if text == was.Text || empty && was.Version == 0 {
		return "#mem-" + title + " was not changed", transcript.Plain, false
	}
	version, err := m.Write(ctx, title, text, &was.Version)
	switch {
	case err != nil:
		return format.Sentence(err) + ". Your text is kept in " + path, transcript.Bad, true
	case empty:
		return removed(title), transcript.Good, false
	}
	return fmt.Sprintf("#mem-%s is at version %d, %s", title, version, transcript.Size(len(text))), transcript.Good, false
}
