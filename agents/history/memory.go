package history

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"fantail/inbox"
	"fantail/store"
)

// Document is one version of a memory document, in Markdown. `#mem-NAME` or `#mem-NAME/PART` names it in any text, code
// included.
type Document = store.Memory

// TitleOf returns a document's name and part, as they follow `#mem-`.
func TitleOf(d Document) string { return titled(d.Name, d.Part) }

func titled(name, part string) string {
	if part == "" {
		return name
	}
	return name + "/" + part
}

const (
	maxWord = 40 // characters of a name, and of a part
	word    = `([A-Za-z](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?)`
)

var (
	memoryName = regexp.MustCompile(`^` + word + `(?:/` + word + `)?$`)
	memoryMark = regexp.MustCompile(`#mem-([A-Za-z][A-Za-z0-9._-]*(?:/[A-Za-z][A-Za-z0-9._-]*)?)`)
)

// ParseTitle splits the name of a document, with or without its `#mem-`.
func ParseTitle(title string) (name, part string, err error) {
	m := memoryName.FindStringSubmatch(strings.TrimPrefix(strings.TrimSpace(title), "#mem-"))
	if m == nil {
		return "", "", fmt.Errorf("%q names no memory document: it is NAME or NAME/PART, each of at most %d "+
			"letters, digits, dots, dashes and underscores, a letter first and a letter or digit last",
			inbox.Label(title), maxWord)
	}
	return m[1], m[2], nil
}

// NamedIn returns the documents that texts name, without duplicates, in order. Punctuation that ends a sentence is not
// part of a name.
func NamedIn(texts ...string) (titles []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		for _, at := range memoryMark.FindAllStringSubmatchIndex(text, -1) {
			if at[0] > 0 && wordly(text[at[0]-1]) {
				continue // part of a link, or of another word
			}
			title := strings.TrimRight(text[at[2]:at[3]], "._-")
			if !seen[title] {
				seen[title] = true
				titles = append(titles, title)
			}
		}
	}
	return titles
}

func wordly(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '/' || c == '#'
}

// ErrChanged is returned to a writer that expected another version.
var ErrChanged = errors.New("it was changed meanwhile")

// WriteDocument writes a document on behalf of an agent (0: the human), whatever its version.
func WriteDocument(tx *store.Tx, agent int64, name, text string) error {
	_, err := WriteDocumentAs(tx, Document{Agent: agent, Text: text}, name, nil)
	return err
}

// WriteDocumentAs writes the next version of the document of that title and returns its number. expect, if not nil, is the
// version the writer knows (0: no document). An empty text, which only the human may write, removes the document.
func WriteDocumentAs(tx *store.Tx, d Document, title string, expect *int) (version int, err error) {
	if d.Name, d.Part, err = ParseTitle(title); err != nil {
		return 0, err
	}
	empty := strings.TrimSpace(d.Text) == ""
	switch {
	case len(d.Text) > inbox.MaxBody:
		return 0, fmt.Errorf("#mem-%s would have %d bytes; a memory document has at most 1 MiB: "+
			"divide it into parts (%s/PART)", TitleOf(d), len(d.Text), d.Name)
	case !utf8.ValidString(d.Text):
		return 0, fmt.Errorf("#mem-%s: the text is no UTF-8", TitleOf(d))
	case empty && d.Agent != 0:
		return 0, fmt.Errorf("#mem-%s: the text is empty; only the user removes a document", TitleOf(d))
	}
	if empty {
		d.Text = ""
	}
	now, ok, err := tx.Memory(d.Name, d.Part, 0)
	if err != nil {
		return 0, err
	}
	there := now.Version
	if now.Text == "" { // never there, or removed
		there = 0
	}
	switch {
	case expect != nil && *expect != there && (!ok || *expect != now.Version):
		return 0, fmt.Errorf("#mem-%s: %w: %s, not at version %d; read it and write what joins both",
			TitleOf(d), ErrChanged, stands(tx, now, there), *expect)
	case empty && there == 0:
		return 0, fmt.Errorf("#mem-%s: the text is empty, and there is no such document", TitleOf(d))
	}
	return tx.Remember(d)
}

// stands returns a text about the version of a document and its author.
func stands(tx *store.Tx, d Document, version int) string {
	if version == 0 {
		return "it is not there"
	}
	return fmt.Sprintf("it is at version %d, by %s, %s ago", version, DocumentAuthor(d), inbox.Age(tx.Now().Sub(d.Created)))
}

// DocumentAuthor returns the name of a document's author for readers.
func DocumentAuthor(d Document) string {
	if d.By == "" {
		return "the user"
	}
	return inbox.Label(d.By)
}

// Documents gives the human and other processes access to the memory documents of a workspace.
type Documents struct{ DB *store.DB }

// maxVersions limits how many versions one look at a history shows.
const maxVersions = 50

// List returns the documents, without their texts.
func (d Documents) List(ctx context.Context) (ds []Document, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		ds, err = rx.Memories("")
		return err
	})
	return ds, err
}

// Get returns the document of that title; version 0 is the newest. ok is false if there is none or it was removed; in
// that case the document has the last version's number.
func (d Documents) Get(ctx context.Context, title string, version int) (doc Document, ok bool, err error) {
	name, part, err := ParseTitle(title)
	if err != nil {
		return doc, false, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		doc, ok, err = rx.Memory(name, part, version)
		return err
	})
	doc.Name, doc.Part = name, part
	return doc, ok && doc.Text != "", err
}

// Versions returns the newest versions of a document, newest first, without their texts.
func (d Documents) Versions(ctx context.Context, title string) (ds []Document, err error) {
	name, part, err := ParseTitle(title)
	if err != nil {
		return nil, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		ds, err = rx.MemoryLog(name, part, maxVersions)
		return err
	})
	return ds, err
}

// Write writes a document for the human; expect is as in WriteAs. An empty text removes the document; its versions
// stay.
func (d Documents) Write(ctx context.Context, title, text string, expect *int) (version int, err error) {
	err = d.DB.Write(ctx, "write a memory document", func(tx *store.Tx) error {
		version, err = WriteDocumentAs(tx, Document{Text: text}, title, expect)
		return err
	})
	return version, err
}

// Parts returns the parts of the document of that name.
func Parts(v *store.View, name string) (parts []Document, err error) {
	ds, err := v.Memories(name)
	for _, d := range ds {
		if d.Part != "" {
			parts = append(parts, d)
		}
	}
	return parts, err
}

// NoDocument says that there is no document of that title, and which there are.
func NoDocument(title string, known []Document) string {
	s := fmt.Sprintf("There is no memory document #mem-%s.", strings.TrimPrefix(inbox.Label(title), "#mem-"))
	if len(known) == 0 {
		return s + " None was written yet."
	}
	return s + " Known: " + Titles(known) + "."
}

// Titles returns the documents' titles as people write them.
func Titles(ds []Document) string {
	const most = 20
	var names []string
	for i, d := range ds {
		if i == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(ds)-most)
		}
		names = append(names, "#mem-"+TitleOf(d))
	}
	return strings.Join(names, ", ")
}
