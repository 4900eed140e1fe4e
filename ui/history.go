package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/composer"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

const (
	// pastKept is how many entries of the history come back at the next start.
	pastKept = 500
	// pastLongest is the size in bytes above which a text is not kept for then.
	pastLongest = 64 << 10
)

// past is what was typed into the prompt boxes, commands too: a file of one JSON string
// a line, the oldest first. Nothing is written before it was read, so that what is
// typed meanwhile stands behind what was typed before.
type past struct {
	path  string // "": it is not kept
	read  bool
	typed []string // until then
	texts []string // what it held, for the boxes of helpers
}

// recalled is what the file held.
type recalled struct {
	texts []string
	err   error
}

// recall reads the history.
func (a *App) recall() tea.Cmd {
	path := a.past.path
	if path == "" {
		return nil
	}
	return func() tea.Msg {
		texts, err := readPast(path)
		return recalled{texts, err}
	}
}

// takeRecalled puts what was typed at earlier starts before what was typed since.
func (a *App) takeRecalled(m recalled) tea.Cmd {
	typed := a.past.typed
	a.past.read, a.past.typed = true, nil
	t := a.tabs.Main()
	if m.err != nil {
		a.tell(t, words.Sentence(m.err), transcript.Bad)
	}
	t.Box.SetHistory(append(m.texts[:len(m.texts):len(m.texts)], typed...))
	a.past.texts = m.texts
	for _, x := range a.tabs.All {
		if x != t && x.Box != nil {
			x.Box.SetHistory(m.texts)
		}
	}
	return a.write(typed...)
}

// remember makes a text the newest entry of a box's history.
func (a *App) remember(box *composer.Box, text string) tea.Cmd {
	box.AddHistory(text)
	if !a.past.read {
		a.past.typed = append(a.past.typed, text)
		return nil
	}
	return a.write(text)
}

func (a *App) write(texts ...string) tea.Cmd {
	path := a.past.path
	if path == "" || len(texts) == 0 {
		return nil
	}
	return func() tea.Msg {
		if err := appendPast(path, texts); err != nil {
			return done{text: words.Sentence(err), tone: transcript.Bad}
		}
		return nil
	}
}

// readPast reads the newest entries and, once far more have gathered, leaves only
// them in the file. A line that is no entry, as a crash may leave one, is skipped.
func readPast(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the prompt history: %w", err)
	}
	var texts []string
	for line := range bytes.Lines(b) {
		var text string
		if json.Unmarshal(line, &text) == nil {
			texts = append(texts, text)
		}
	}
	if len(texts) <= pastKept {
		return texts, nil
	}
	texts = texts[len(texts)-pastKept:]
	if bytes.Count(b, []byte("\n")) > 4*pastKept {
		err = errors.Join(appendPast(path+".new", texts), os.Rename(path+".new", path))
	}
	return texts, err
}

// appendPast adds entries to the file, each call with one write.
func appendPast(path string, texts []string) error {
	var b bytes.Buffer
	for _, text := range texts {
		if len(text) > pastLongest {
			continue
		}
		line, err := json.Marshal(text)
		if err != nil {
			return fmt.Errorf("keep the prompt history: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep the prompt history: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep the prompt history: %w", err)
	}
	return nil
}
