package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/ui/shell"
)

// jDocument is a memory document as a line of JSON.
type jDocument struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Bytes   int    `json:"bytes"`
	By      string `json:"by,omitempty"` // "": the user
	Written string `json:"written"`
	Text    string `json:"text,omitempty"`
}

func documentJSON(d history.Document) jDocument {
	return jDocument{history.TitleOf(d), d.Version, d.Size, d.By, d.Created.UTC().Format(time.RFC3339), d.Text}
}

// runMemory lists the memory documents or prints one.
func runMemory(e *Errand, c *caller) (int, error) {
	switch {
	case len(e.words) == 0, len(e.words) == 1 && e.words[0] == "list":
	case len(e.words) == 2 && e.words[0] == "show":
		return c.document(e.words[1])
	default:
		return shell.ExitUsage, shell.Misused("memory: %q is not understood; it is fantail memory [list | show NAME]", strings.Join(e.words, " "))
	}
	ds, err := c.docs().List(c.ctx)
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case len(ds) == 0 && c.out.json:
		return shell.ExitNothing, nil
	case len(ds) == 0:
		return shell.ExitNothing, c.out.text("No memory documents.")
	}
	c.out.unread = &Unread{Code: shell.ExitFailed}
	for _, d := range ds {
		if c.out.json {
			err = c.out.line(documentJSON(d))
		} else {
			by := "the user"
			if d.By != "" {
				by = inbox.Label(d.By)
			}
			err = c.out.text(fmt.Sprintf("#mem-%s  %d bytes, version %d, by %s, %s ago", history.TitleOf(d), d.Size, d.Version, by, inbox.Age(time.Since(d.Created))))
		}
		if err != nil {
			return shell.ExitFailed, err
		}
	}
	return shell.ExitOK, nil
}

func (c *caller) docs() history.Documents { return history.Documents{DB: c.door.DB} }

// document prints a document byte for byte.
func (c *caller) document(title string) (int, error) {
	d, there, err := c.docs().Get(c.ctx, title, 0)
	if err != nil {
		return shell.ExitFailed, err
	}
	if !there {
		known, err := c.docs().List(c.ctx)
		if err != nil {
			return shell.ExitFailed, err
		}
		return shell.ExitFailed, errors.New(strings.TrimSuffix(history.NoDocument(title, known), "."))
	}
	return c.says(shell.ExitOK, Unread{Code: shell.ExitFailed}, func() error {
		if c.out.json {
			return c.out.line(documentJSON(d))
		}
		return c.out.text(d.Text)
	})
}
