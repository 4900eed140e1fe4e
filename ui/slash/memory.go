package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/agents/memory"
	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/frame"
	"fantail/ui/intent"
	"fantail/ui/slash/facets"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Memory documents: what the human does with them.

// mention returns the documents that a word after `#` may name; a number names none.
func (e Env) mention(word string) []composer.Item {
	const prefix = "mem-"
	if !strings.HasPrefix(word, prefix) && !strings.HasPrefix(prefix, word) {
		return nil
	}
	items := make([]composer.Item, len(e.Documents))
	for i, d := range e.Documents {
		items[i] = composer.Item{Insert: prefix + memory.Title(d), Label: "#" + prefix + memory.Title(d), Help: documentFacts(d, e.Now())}
	}
	return items
}

// memoryArguments are candidates for what follows /memory and these words.
func memoryArguments(e Env, args []string, _ string) []composer.Item {
	var items []composer.Item
	switch {
	case len(args) == 0:
		for _, s := range []string{"list", "show ", "edit ", "log ", "rm "} {
			items = append(items, composer.Item{Insert: s})
		}
	case len(args) == 1 && args[0] != "list":
		for _, d := range e.Documents {
			items = append(items, composer.Item{Insert: memory.Title(d), Help: documentFacts(d, e.Now())})
		}
	}
	return items
}

// documentFacts are a document's size, age and author.
func documentFacts(d memory.Document, now time.Time) string {
	by := "you"
	if d.By != "" {
		by = frame.CleanLine(inbox.Label(d.By))
	}
	return fmt.Sprintf("%s · %s ago · by %s", transcript.Size(d.Size), words.Age(now.Sub(d.Created)), by)
}

func runMemory(in input) (intent.Intent, error) {
	args := strings.Fields(in.rest)
	if len(args) == 0 {
		args = []string{"list"}
	}
	switch verb := args[0]; {
	case verb == "list" && len(args) == 1:
		return in.act(in.listDocuments), nil
	case verb == "show" && (len(args) == 2 || len(args) == 3):
		version := 0
		if len(args) == 3 {
			var err error
			if version, err = strconv.Atoi(args[2]); err != nil || version < 1 {
				return nil, in.wrong("%q is no version", args[2])
			}
		}
		return in.openDocument(args[1], version), nil
	case verb == "edit" && len(args) == 2 && in.ReadOnly != nil: // say so before the human writes for an hour
		return in.act(func(context.Context) (string, error) { return "", in.ReadOnly }), nil
	case verb == "edit" && len(args) == 2:
		return in.editDocument(args[1]), nil
	case verb == "log" && len(args) == 2:
		return in.act(func(ctx context.Context) (string, error) { return in.documentLog(ctx, args[1]) }), nil
	case verb == "rm" && len(args) == 2:
		return in.act(func(ctx context.Context) (string, error) { return in.removeDocument(ctx, args[1]) }), nil
	case verb == "show" || verb == "edit" || verb == "log" || verb == "rm":
		return nil, in.wrong("%s needs the name of a document", verb)
	}
	return nil, in.wrong("%q is not understood", in.rest)
}

// listDocuments prints the list of documents.
func (in input) listDocuments(ctx context.Context) (string, error) {
	ds, err := in.Pool.Memory.List(ctx)
	if err != nil {
		return "", err
	}
	if len(ds) == 0 {
		return "No memory documents. /memory edit NAME writes one, and so do agents; #mem-NAME brings it into a conversation", nil
	}
	var b strings.Builder
	b.WriteString("Memory documents:")
	wide := 0
	for _, d := range ds {
		wide = max(wide, len(memory.Title(d)))
	}
	for _, d := range ds {
		fmt.Fprintf(&b, "\n  #mem-%-*s  %s", wide, memory.Title(d), documentFacts(d, in.Now()))
	}
	return b.String(), nil
}

// removeDocument writes an empty version: the document is gone, and its versions stay readable.
func (in input) removeDocument(ctx context.Context, title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	was, ok, err := in.Pool.Memory.Get(ctx, title, 0)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", in.absent(ctx, title, 0)
	}
	if _, err := in.Pool.Memory.Write(ctx, title, "", &was.Version); err != nil {
		return "", err
	}
	return removed(title), nil
}

func removed(title string) string {
	return "#mem-" + title + " was removed; /memory log " + title + " lists what it was"
}

// absent is the error for a document that does not exist.
func (in input) absent(ctx context.Context, title string, version int) error {
	ds, err := in.Pool.Memory.List(ctx)
	switch {
	case err != nil:
		return err
	case version > 0:
		return fmt.Errorf("#mem-%s has no version %d with a text; /memory log %s lists them", title, version, title)
	}
	return errors.New(memory.NoDocument(title, ds) + " /memory edit " + title + " writes it")
}

// openDocument shows a document in the tab.
func (in input) openDocument(title string, version int) intent.Intent {
	title = strings.TrimPrefix(title, "#mem-")
	id := in.here.Info.ID
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		d, ok, err := in.Pool.Memory.Get(ctx, title, version)
		if err == nil && !ok {
			err = in.absent(ctx, title, version)
		}
		return intent.Document{Agent: id, Document: d}, err
	})
}

// documentLog prints the versions of a document.
func (in input) documentLog(ctx context.Context, title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	ds, err := in.Pool.Memory.Versions(ctx, title)
	if err != nil {
		return "", err
	}
	if len(ds) == 0 {
		return "", in.absent(ctx, title, 0)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#mem-%s, newest first; /memory show %s VERSION shows one:", title, title)
	for _, d := range ds {
		what := documentFacts(d, in.Now())
		if d.Size == 0 {
			what = "removed · " + what
		}
		fmt.Fprintf(&b, "\n  %3d  %s", d.Version, what)
	}
	return b.String(), nil
}

// editDocument opens the external editor on a document and writes the result. If the document
// changed meanwhile, the human's text stays in its file.
func (in input) editDocument(title string) intent.Intent {
	title = strings.TrimPrefix(title, "#mem-")
	here := in.here.Info.ID
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		d, ok, err := in.Pool.Memory.Get(ctx, title, 0)
		if err != nil {
			return nil, err
		}
		if !ok {
			d.Version, d.Text = 0, ""
		}
		name := strings.ReplaceAll(memory.Title(d), "/", "-") + ".md"
		return intent.Edit{Name: name, Draft: d.Text, Then: func(ctx context.Context, text, path string, err error) (intent.Intent, bool) {
			said := intent.Tell{Agent: here, Tone: transcript.Bad}
			if err != nil {
				said.Text = words.Sentence(err)
				return said, false
			}
			var keep bool
			said.Text, said.Tone, keep = keepDocument(ctx, in.Pool.Memory, d, text, path)
			return said, keep
		}}, nil
	})
}

// keepDocument writes the edited text of a document, which is in a file too; keep says that the
// file must stay. An empty text removes the document.
func keepDocument(ctx context.Context, m facets.Memory, was memory.Document, text, path string) (says string, tone transcript.Tone, keep bool) {
	title, empty := memory.Title(was), strings.TrimSpace(text) == ""
	if text == was.Text || empty && was.Version == 0 {
		return "#mem-" + title + " was not changed", transcript.Plain, false
	}
	version, err := m.Write(ctx, title, text, &was.Version)
	switch {
	case err != nil:
		return words.Sentence(err) + ". Your text is kept in " + path, transcript.Bad, true
	case empty:
		return removed(title), transcript.Good, false
	}
	return fmt.Sprintf("#mem-%s is at version %d, %s", title, version, transcript.Size(len(text))), transcript.Good, false
}
