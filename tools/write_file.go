package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"fantail/tools/files"
	"fantail/tools/permission"
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
	t, err := c.env.tree().Target(a.Path, permission.Write)
	if err != nil {
		return nil, err
	}
	act := t.Touch(c.action(permission.Write))
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
	text, kept := files.Replacing(string(before), *a.Content)
	act.Diff = files.Diff(t.Show(), string(before), text)
	return &Call{Action: act, Run: func(context.Context) Result {
		r := c.env.write(t, []byte(text), before, was, act.Diff)
		if kept != "" && !r.Error {
			r.Text += "; the file keeps " + kept
		}
		return r
	}}, nil
}

// Writing returns the action of writing that file, with any content. It writes nothing.
func (e *Runtime) Writing(path string) (permission.Action, error) {
	t, err := e.tree().Target(path, permission.Write)
	if err != nil {
		return permission.Action{}, err
	}
	return t.Touch(permission.Action{Tool: "write_file", Kind: permission.Write, Title: "write " + path, Dir: e.Root}), nil
}

// beforeWrite returns the content that a write would replace. The agent must have read it, and it must be unchanged
// since.
func (e *Runtime) beforeWrite(t files.Target) ([]byte, fs.FileInfo, error) {
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
	data, fi, err := e.load(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Show(), err)
	}
	if !e.Seen.Same(t.Abs, fi, data) {
		return nil, nil, fmt.Errorf("%s changed since it was read: read it again, then write", t.Show())
	}
	return data, fi, nil
}

// load returns the content of a file before a change. It refuses UTF-16: the tools write UTF-8.
func (e *Runtime) load(t files.Target) ([]byte, fs.FileInfo, error) {
	data, fi, err := e.tree().Load(t)
	if err == nil && files.IsUTF16(data) {
		return nil, nil, errors.New("it is UTF-16 text, which only a command can change: convert it with iconv, or delete it first")
	}
	return data, fi, err
}

// write writes the file if it has not changed since the diff was shown.
func (e *Runtime) write(t files.Target, content, before []byte, was fs.FileInfo, shown string) Result {
	old := was
	if was != nil {
		now, fi, err := e.load(t)
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
