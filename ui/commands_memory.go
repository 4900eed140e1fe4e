package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/memory"
	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/frame"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Memory documents: what the human does with them.

// wantDocuments lists the documents when a `#` is typed, or the arguments of
// /memory begin.
func (a *App) wantDocuments(k tea.KeyPressMsg, box *composer.Box) tea.Cmd {
	if a.pool == nil || k.Text != "#" && (k.Text != " " || !strings.HasPrefix(box.Value(), "/memory ")) {
		return nil
	}
	return a.readDocuments
}

func (a *App) readDocuments() tea.Msg {
	ds, err := a.pool.Documents(a.ctx)
	if err != nil {
		return done{text: words.Sentence(err), tone: transcript.Bad}
	}
	return known{ds}
}

// mention yields the documents that a word behind a `#` may come to; a number is
// none.
func (a *App) mention(trigger, _, word string) []composer.Item {
	const prefix = "mem-"
	if trigger != "#" || !strings.HasPrefix(word, prefix) && !strings.HasPrefix(prefix, word) {
		return nil
	}
	items := make([]composer.Item, len(a.texts))
	for i, d := range a.texts {
		items[i] = composer.Item{Insert: prefix + memory.Title(d), Label: "#" + prefix + memory.Title(d), Help: documentFacts(d, a.o.Now())}
	}
	return items
}

// memoryArguments are candidates behind /memory and these words.
func (a *App) memoryArguments(words []string) []composer.Item {
	var items []composer.Item
	switch {
	case len(words) == 0:
		for _, s := range []string{"list", "show ", "edit ", "log ", "rm "} {
			items = append(items, composer.Item{Insert: s})
		}
	case len(words) == 1 && words[0] != "list":
		for _, d := range a.texts {
			items = append(items, composer.Item{Insert: memory.Title(d), Help: documentFacts(d, a.o.Now())})
		}
	}
	return items
}

// documentFacts are a document's size, age and author.
func documentFacts(d agents.Document, now time.Time) string {
	by := "you"
	if d.By != "" {
		by = frame.CleanLine(inbox.Label(d.By))
	}
	return fmt.Sprintf("%s · %s ago · by %s", transcript.Size(d.Size), words.Age(now.Sub(d.Created)), by)
}

func runMemory(a *App, in input) (tea.Cmd, error) {
	words := strings.Fields(in.rest)
	if len(words) == 0 {
		words = []string{"list"}
	}
	switch verb := words[0]; {
	case verb == "list" && len(words) == 1:
		return a.act(in.here, in.text, a.listDocuments), nil
	case verb == "show" && (len(words) == 2 || len(words) == 3):
		version := 0
		if len(words) == 3 {
			var err error
			if version, err = strconv.Atoi(words[2]); err != nil || version < 1 {
				return nil, in.wrong("%q is no version", words[2])
			}
		}
		return a.openDocument(in, words[1], version), nil
	case verb == "edit" && len(words) == 2:
		return a.editDocument(in, words[1]), nil
	case verb == "log" && len(words) == 2:
		return a.act(in.here, in.text, func() (string, error) { return a.documentLog(words[1]) }), nil
	case verb == "rm" && len(words) == 2:
		return a.act(in.here, in.text, func() (string, error) { return a.removeDocument(words[1]) }), nil
	case verb == "show" || verb == "edit" || verb == "log" || verb == "rm":
		return nil, in.wrong("%s needs the name of a document", verb)
	}
	return nil, in.wrong("%q is not understood", in.rest)
}

// listDocuments prints the list of them.
func (a *App) listDocuments() (string, error) {
	ds, err := a.pool.Documents(a.ctx)
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
		fmt.Fprintf(&b, "\n  #mem-%-*s  %s", wide, memory.Title(d), documentFacts(d, a.o.Now()))
	}
	return b.String(), nil
}

// removeDocument makes an empty version of a document: none is there any more, and all
// it was stays readable.
func (a *App) removeDocument(title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	was, ok, err := a.pool.Document(a.ctx, title, 0)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", a.absent(title, 0)
	}
	if _, err := a.pool.Remember(a.ctx, title, "", &was.Version); err != nil {
		return "", err
	}
	return removed(title), nil
}

func removed(title string) string {
	return "#mem-" + title + " was removed; /memory log " + title + " lists what it was"
}

// absent is the error of who asks for a document that is not there.
func (a *App) absent(title string, version int) error {
	ds, err := a.pool.Documents(a.ctx)
	switch {
	case err != nil:
		return err
	case version > 0:
		return fmt.Errorf("#mem-%s has no version %d with a text; /memory log %s lists them", title, version, title)
	}
	return errors.New(memory.NoDocument(title, ds) + " /memory edit " + title + " writes it")
}

// openDocument shows a document in the tab.
func (a *App) openDocument(in input, title string, version int) tea.Cmd {
	title = strings.TrimPrefix(title, "#mem-")
	id := in.here.Info.ID
	return a.then(in.here, in.text, func() (tea.Msg, error) {
		d, ok, err := a.pool.Document(a.ctx, title, version)
		if err == nil && !ok {
			err = a.absent(title, version)
		}
		return opened{id, d}, err
	})
}

func (a *App) showDocument(m opened) {
	t := a.tabs.ByID(m.agent)
	if t == nil {
		return
	}
	d := m.document
	t.View.Document(agents.Recall{Title: memory.Title(d), Version: d.Version, Size: d.Size, By: d.By}, d.Text)
	t.Panes.At = tabs.Transcript
}

// documentLog prints the versions of a document.
func (a *App) documentLog(title string) (string, error) {
	title = strings.TrimPrefix(title, "#mem-")
	ds, err := a.pool.Versions(a.ctx, title)
	if err != nil {
		return "", err
	}
	if len(ds) == 0 {
		return "", a.absent(title, 0)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#mem-%s, newest first; /memory show %s VERSION shows one:", title, title)
	for _, d := range ds {
		what := documentFacts(d, a.o.Now())
		if d.Size == 0 {
			what = "removed · " + what
		}
		fmt.Fprintf(&b, "\n  %3d  %s", d.Version, what)
	}
	return b.String(), nil
}

// editDocument opens the external editor on a document and writes what comes of it,
// unless it was changed meanwhile: then the human's text is kept where it lies.
func (a *App) editDocument(in input, title string) tea.Cmd {
	title = strings.TrimPrefix(title, "#mem-")
	id := in.here.Info.ID
	return func() tea.Msg {
		d, ok, err := a.pool.Document(a.ctx, title, 0)
		if err != nil {
			return done{agent: id, text: words.Sentence(err), tone: transcript.Bad, command: in.text}
		}
		if !ok {
			d.Version, d.Text = 0, ""
		}
		return a.edit(strings.ReplaceAll(memory.Title(d), "/", "-")+".md", d.Text, func(text, path string, err error) (tea.Msg, bool) {
			if err != nil {
				return done{agent: id, text: words.Sentence(err), tone: transcript.Bad}, false
			}
			m, keep := a.keepDocument(d, text, path)
			m.agent = id
			return m, keep
		})
	}
}

// keepDocument writes what the human made of a document, which lies in a file too;
// keep says that it is to stay there. An empty text removes the document.
func (a *App) keepDocument(was agents.Document, text, path string) (m done, keep bool) {
	title, empty := memory.Title(was), strings.TrimSpace(text) == ""
	if text == was.Text || empty && was.Version == 0 {
		return done{text: "#mem-" + title + " was not changed"}, false
	}
	version, err := a.pool.Remember(a.ctx, title, text, &was.Version)
	switch {
	case err != nil:
		return done{text: words.Sentence(err) + ". Your text is kept in " + path, tone: transcript.Bad}, true
	case empty:
		return done{text: removed(title), tone: transcript.Good}, false
	}
	return done{text: fmt.Sprintf("#mem-%s is at version %d, %s", title, version, transcript.Size(len(text))), tone: transcript.Good}, false
}
