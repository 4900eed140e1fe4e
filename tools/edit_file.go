package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
)

//go:embed edit_file.md
var editFileText string

func editFile() tool {
	return tool{
		name: "edit_file", text: editFileText, writes: true,
		schema: `{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace"},` +
			`"edits":{"type":"array","minItems":1,"description":"Replacements, applied in order, all or none","items":{"type":"object","properties":{` +
			`"old":{"type":"string","description":"Text that stands in the file exactly once"},` +
			`"new":{"type":"string","description":"What replaces it"},` +
			`"replace_all":{"type":"boolean","description":"Replace every occurrence of old; default false"}},` +
			`"required":["old","new"],"additionalProperties":false}}},` +
			`"required":["path","edits"],"additionalProperties":false}`,
		parse: parseEdit,
		title: func(a loose) string { return "edit " + a.word("path") },
	}
}

func parseEdit(c call) (*Call, error) {
	a, err := decode[struct {
		Path  string       `json:"path"`
		Edits []files.Edit `json:"edits"`
	}](c)
	if err == nil {
		err = need("path", a.Path)
	}
	if err == nil && len(a.Edits) == 0 {
		err = errors.New(`the argument "edits" is empty; give at least one {"old","new"}`)
	}
	for i, ed := range a.Edits {
		switch {
		case err != nil:
		case ed.Old == "":
			err = fmt.Errorf("edit %d: old is empty; to create or replace a whole file use write_file", i+1)
		case ed.Old == ed.New:
			err = fmt.Errorf("edit %d: old and new are the same", i+1)
		}
	}
	if err != nil {
		return nil, err
	}
	t, err := c.env.tree().Target(a.Path, permission.Write)
	if err != nil {
		return nil, err
	}
	act := t.Touch(c.action(permission.Write))
	seen := c.env.Seen.Has(t.Abs)
	// A file that the human did not allow to be read is not read for a diff either.
	if t.Refused() != nil || (!t.Inside || shell.Sensitive(t.Show()) != "" || t.Sensitive != "" && !seen) && !seen {
		act.Diff = files.SketchEdits(t.Show(), a.Edits)
		return &Call{Action: act, Run: func(context.Context) Result { return c.env.edit(t, a.Edits, nil) }}, nil
	}
	before, after, _, err := c.env.edited(t, a.Edits)
	if err != nil {
		return nil, err
	}
	act.Diff = files.Diff(t.Show(), string(before), after)
	return &Call{Action: act, Run: func(context.Context) Result { return c.env.edit(t, a.Edits, &before) }}, nil
}

// edited returns the file's content before and after the edits.
func (e *Runtime) edited(t files.Target, edits []files.Edit) (before []byte, after string, fi fs.FileInfo, err error) {
	before, fi, err = e.load(t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil, fmt.Errorf("%s does not exist%s; to create it use write_file", t.Show(), e.nearby(t))
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", t.Show(), err)
	}
	if e.Seen.Has(t.Abs) && !e.Seen.Same(t.Abs, fi, before) {
		return nil, "", nil, fmt.Errorf("%s changed since it was read: read it again, then edit", t.Show())
	}
	after, err = files.ApplyEdits(string(before), edits, t.Show())
	return before, after, fi, err
}

// edit makes the edits. shown is the content that the diff was made from, nil if none was shown.
func (e *Runtime) edit(t files.Target, edits []files.Edit, shown *[]byte) Result {
	if err := t.Refused(); err != nil {
		return fail("edit %s: %v", t.Show(), err)
	}
	before, after, fi, err := e.edited(t, edits)
	if shown != nil && (err != nil || string(before) != string(*shown)) && !errors.Is(err, fs.ErrPermission) {
		return fail("edit %s: the file changed since it was shown; read it again, then edit", t.Show())
	}
	if err != nil {
		return fail("edit: %v", err)
	}
	now, err := e.save(t, []byte(after), fi)
	if err != nil {
		return fail("edit %s: %v", t.Show(), err)
	}
	if e.Seen.Has(t.Abs) {
		e.Seen.Put(t.Abs, now, []byte(after))
	}
	d := files.Diff(t.Show(), string(before), after)
	return Result{Text: fmt.Sprintf("edited %s (%s lines)", t.Show(), files.DiffCounts(d)), Diff: d}
}
