package event

import (
	"errors"
	"iter"

	"fantail/agents/llm"
	"fantail/tools/secret"
)

// Withhold passes a reply on without keys. It replaces them before anything else is made of the reply, so that the
// command in a question is the one that runs and the one that is stored. A key that comes in pieces is held back until
// it is complete, or turns out not to be one.
func Withhold(keys *secret.Keys, reply iter.Seq2[llm.Part, error]) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		w := withholding{keys: keys, stream: keys.Stream()}
		for part, err := range reply {
			for _, p := range w.take(part, err) {
				if !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, w.failure(err))
				return
			}
		}
	}
}

// withholding is the state of Withhold.
type withholding struct {
	keys   *secret.Keys
	stream *secret.Stream
	block  llm.Part // the Text or Thinking that the held-back piece belongs to; nil: none
	marked bool     // a key was in that block
}

// take returns the parts that can be passed on now.
func (w *withholding) take(part llm.Part, err error) []llm.Part {
	var out []llm.Part
	if w.block != nil && !continues(w.block, part) {
		_, void := part.(llm.Retrying)
		if held := string(w.stream.End()); held != "" && !void {
			out = append(out, withText(w.block, held))
		}
		w.block, w.marked = nil, false
	}
	if err != nil {
		return out
	}
	switch part := part.(type) {
	case llm.Text:
		w.block = llm.Text{From: part.From, Index: part.Index}
		part.Text = w.piece(part.Text)
		return append(out, part)
	case llm.Thinking:
		w.block = llm.Thinking{Index: part.Index}
		part.Text = w.piece(part.Text)
		if part.Opaque != "" {
			// Opaque ends the block, and its signature covers text that may have been changed here.
			part.Text += string(w.stream.End())
			if w.marked || w.keys.Within(part.Opaque) {
				part.Opaque = ""
			}
			w.block, w.marked = nil, false
		}
		return append(out, part)
	case llm.ToolCall:
		part.ID, part.Name, part.Title = w.keys.Text(part.ID), w.keys.Text(part.Name), w.keys.Text(part.Title)
		part.Args = []byte(w.keys.JSON(string(part.Args)))
		return append(out, part)
	case llm.Stop:
		part.Detail = w.keys.Text(part.Detail)
		for i, name := range part.Broken {
			part.Broken[i] = w.keys.Text(name)
		}
		for i, text := range part.Told {
			part.Told[i] = w.keys.Text(text)
		}
		return append(out, part)
	case llm.Retrying:
		part.Err = w.failed(part.Err)
		return append(out, part)
	}
	return append(out, part)
}

// piece returns as much text as can be passed on now.
func (w *withholding) piece(text string) string {
	told := string(w.stream.Write([]byte(text)))
	w.marked = w.marked || w.stream.Replaced()
	return told
}

// continues reports whether part is the next piece of block.
func continues(block, part llm.Part) bool {
	switch b := block.(type) {
	case llm.Text:
		p, ok := part.(llm.Text)
		return ok && p.Index == b.Index
	case llm.Thinking:
		p, ok := part.(llm.Thinking)
		return ok && p.Index == b.Index
	}
	return false
}

func withText(block llm.Part, text string) llm.Part {
	switch b := block.(type) {
	case llm.Text:
		b.Text = text
		return b
	case llm.Thinking:
		b.Text = text
		return b
	}
	return block
}

// failure returns err without keys.
func (w *withholding) failure(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		return w.failed(e)
	}
	if text := err.Error(); w.keys.Within(text) {
		return errors.New(w.keys.Text(text))
	}
	return err
}

func (w *withholding) failed(e *llm.Error) *llm.Error {
	if e == nil || !w.keys.Within(e.Error()) {
		return e
	}
	c := *e
	c.Message = w.keys.Text(c.Message)
	return &c
}
