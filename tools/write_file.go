package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"fantail/tools/content"
	"fantail/tools/permit"
	"fantail/tools/workspace"
)

//go:embed write_file.md
var writeFileText string

func writeFile() tool {
	return tool{
		name: "write_file", text: writeFileText, writes: true,
		schema: `{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace"},` +
			`"content":{"type":"string","description":"The whole new content"}},` +
			`"required":["path","content"],"additionalProperties":false}`,
		parse: parseWrite,
		title: func(a loose) string { return "write " + a.word("path") },
	}
}

func parseWrite(c call) (*Call, error) {
	a, err := decode[struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}](c)
	if err == nil {
		err = need("path", a.Path)
	}
	if err == nil && a.Content == nil {
		err = errors.New(`the argument "content" is missing`)
	}
	if err != nil {
		return nil, err
	}
	t, err := c.env.tree().Target(a.Path, permit.Write)
	if err != nil {
		return nil, err
	}
	act := t.Touch(c.action(permit.Write))
	refuse := func(err error) (*Call, error) {
		return &Call{Action: act, Run: func(context.Context) Result { return fail("write %s: %v", t.Show(), err) }}, nil
	}
	if err := t.Refused(); err != nil {
		return refuse(err)
	}
	before, was, err := c.env.beforeWrite(t)
	if err != nil {
		return nil, err
	}
	if was != nil || t.Inside {
		act.Diff = content.Diff(t.Show(), string(before), *a.Content)
	} else {
		act.Diff = content.Diff(t.Show(), "", *a.Content)
	}
	content := []byte(*a.Content)
	return &Call{Action: act, Run: func(context.Context) Result { return c.env.write(t, content, before, was, act.Diff) }}, nil
}

// Writing is what writing that file would be for the gate, whatever is in it. Nothing is written.
func (e *Env) Writing(path string) (permit.Action, error) {
	t, err := e.tree().Target(path, permit.Write)
	if err != nil {
		return permit.Action{}, err
	}
	return t.Touch(permit.Action{Tool: "write_file", Kind: permit.Write, Title: "write " + path, Dir: e.Root}), nil
}

// beforeWrite returns the content that a write would replace. It must have been
// read, and be as it was then.
func (e *Env) beforeWrite(t workspace.Target) ([]byte, fs.FileInfo, error) {
	err := t.Regular()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !e.Seen.Has(t.Abs) {
		return nil, nil, fmt.Errorf("%s exists: read it with read_file before you overwrite it, or change it with edit_file", t.Show())
	}
	data, fi, err := e.tree().Load(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Show(), err)
	}
	if !e.Seen.Same(t.Abs, fi, data) {
		return nil, nil, fmt.Errorf("%s changed since it was read: read it again, then write", t.Show())
	}
	return data, fi, nil
}

// write carries a write out if the file still is what the diff showed.
func (e *Env) write(t workspace.Target, content, before []byte, was fs.FileInfo, shown string) Result {
	old := was
	if was != nil {
		now, fi, err := e.tree().Load(t)
		if err != nil {
			return fail("write %s: %v", t.Show(), err)
		}
		if string(now) != string(before) {
			return fail("write %s: the file changed since it was shown; read it again, then write", t.Show())
		}
		old = fi
	}
	fi, err := e.save(t, content, old)
	if err != nil {
		return fail("write %s: %v", t.Show(), err)
	}
	e.Seen.Put(t.Abs, fi, content)
	verb := "replaced"
	if was == nil {
		verb = "created"
	}
	return Result{Text: fmt.Sprintf("%s %s, %d bytes", verb, t.Show(), len(content)), Diff: shown}
}
