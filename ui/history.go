package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

const (
	// pastKept is how many entries of the history are read at the next start.
	pastKept = 500
	// pastLongest limits the size in bytes of a text that is kept.
	pastLongest = 64 << 10
)

// past is the history of the prompt boxes, including commands: a file with one JSON string a line,
// oldest first. It writes nothing before it has read the file, so that texts typed meanwhile come
// after the older ones.
type past struct {
	path  string // "": there is no file
	shut  bool   // nothing is added to it
	read  bool
	typed []string // texts typed before it was read
	texts []string // texts that it held, for the boxes of helpers
	added int      // texts typed since the start
}

// below reports whether the history has fewer than n texts. Without a file it is not known.
func (p *past) below(n int) bool {
	return p.path != "" && p.read && len(p.texts)+p.added < n
}

// Load reads the history and puts it before what was typed since the start.
func (d *Drafts) Load() intent.Intent {
	path := d.past.path
	if path == "" {
		return nil
	}
	return intent.Run{F: func(context.Context) intent.Intent {
		texts, err := readPast(path)
		return intent.Call(func() intent.Intent { return d.loaded(texts, err) })
	}}
}

func (d *Drafts) loaded(texts []string, err error) intent.Intent {
	var all intent.All
	typed := d.past.typed
	d.past.read, d.past.typed = true, nil
	t := d.Tabs.Main()
	if err != nil {
		all = append(all, intent.Tell{Agent: t.Info.ID, Text: format.Sentence(err), Tone: transcript.Bad})
	}
	t.Box.SetHistory(append(texts[:len(texts):len(texts)], typed...))
	d.past.texts = texts
	for _, x := range d.Tabs.All {
		if x != t && x.Box != nil {
			x.Box.SetHistory(texts)
		}
	}
	return append(all, d.past.write(typed...))
}

// Remember adds a text as the newest entry of a box's history.
func (d *Drafts) Remember(box *composer.Box, text string) intent.Intent {
	box.AddHistory(text)
	if len(text) > pastLongest {
		return nil
	}
	return d.past.add(text)
}

// add adds a text to the file, after the file was read.
func (p *past) add(text string) intent.Intent {
	p.added++
	if !p.read {
		p.typed = append(p.typed, text)
		return nil
	}
	return p.write(text)
}

// write adds texts to the file.
func (p *past) write(texts ...string) intent.Intent {
	path := p.path
	if path == "" || p.shut || len(texts) == 0 {
		return nil
	}
	return intent.Run{F: func(context.Context) intent.Intent {
		if err := appendPast(path, texts); err != nil {
			return intent.Said{Text: format.Sentence(err), Tone: transcript.Bad}
		}
		return nil
	}}
}

// readPast reads the newest entries. If the file holds many more, it is cut down to them. A broken
// line, which a crash may leave, is skipped.
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

// appendPast adds entries to the file, with one write per call.
func appendPast(path string, texts []string) error {
	var b bytes.Buffer
	for _, text := range texts {
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
