package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"fantail/tools/permit"
)

//go:embed edit_file.md
var editFileText string

// edit is one replacement.
type edit struct {
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all"`
}

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
		Path  string `json:"path"`
		Edits []edit `json:"edits"`
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
	t, err := c.env.target(a.Path, permit.Write)
	if err != nil {
		return nil, err
	}
	act := t.touch(c.action(permit.Write))
	_, seen := c.env.Seen.get(t.abs)
	// What the human did not allow to be read is not read to show a diff either.
	if t.refused() != nil || (!t.inside || permit.Sensitive(t.show()) != "" || t.sensitive != "" && !seen) && !seen {
		act.Diff = sketch(t.show(), a.Edits)
		return &Call{Action: act, Run: func(context.Context) Result { return c.env.edit(t, a.Edits, nil) }}, nil
	}
	before, after, _, err := c.env.edited(t, a.Edits)
	if err != nil {
		return nil, err
	}
	act.Diff = diff(t.show(), string(before), after)
	return &Call{Action: act, Run: func(context.Context) Result { return c.env.edit(t, a.Edits, &before) }}, nil
}

// sketch shows edits without the file they go to.
func sketch(name string, edits []edit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for _, ed := range edits {
		b.WriteString("@@ @@\n")
		for _, l := range strings.Split(strings.TrimSuffix(ed.Old, "\n"), "\n") {
			b.WriteString("-" + l + "\n")
		}
		if ed.New != "" {
			for _, l := range strings.Split(strings.TrimSuffix(ed.New, "\n"), "\n") {
				b.WriteString("+" + l + "\n")
			}
		}
	}
	return b.String()
}

// edited returns the file's content before and after the edits.
func (e *Env) edited(t target, edits []edit) (before []byte, after string, fi fs.FileInfo, err error) {
	before, fi, err = e.load(t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil, fmt.Errorf("%s does not exist%s; to create it use write_file", t.show(), e.nearby(t))
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", t.show(), err)
	}
	if st, ok := e.Seen.get(t.abs); ok && !st.same(fi, before) {
		return nil, "", nil, fmt.Errorf("%s changed since it was read: read it again, then edit", t.show())
	}
	after, err = apply(string(before), edits, t.show())
	return before, after, fi, err
}

// edit carries edits out. shown is the content the diff was made from, nil if none was shown.
func (e *Env) edit(t target, edits []edit, shown *[]byte) Result {
	if err := t.refused(); err != nil {
		return fail("edit %s: %v", t.show(), err)
	}
	before, after, fi, err := e.edited(t, edits)
	if shown != nil && (err != nil || string(before) != string(*shown)) && !errors.Is(err, fs.ErrPermission) {
		return fail("edit %s: the file changed since it was shown; read it again, then edit", t.show())
	}
	if err != nil {
		return fail("edit: %v", err)
	}
	now, err := e.save(t, []byte(after), fi)
	if err != nil {
		return fail("edit %s: %v", t.show(), err)
	}
	if _, ok := e.Seen.get(t.abs); ok {
		e.Seen.put(t.abs, now, []byte(after))
	}
	d := diff(t.show(), string(before), after)
	return Result{Text: fmt.Sprintf("edited %s (%s lines)", t.show(), counts(d)), Diff: d}
}

// apply makes all edits, each on the result of those before it. In a file whose
// lines all end in CRLF the edits' line ends count as CRLF too.
func apply(text string, edits []edit, name string) (string, error) {
	crlf := strings.Contains(text, "\r\n") && strings.Count(text, "\n") == strings.Count(text, "\r\n")
	for i, ed := range edits {
		if crlf {
			ed.Old, ed.New = toCRLF(ed.Old), toCRLF(ed.New)
		}
		n := strings.Count(text, ed.Old)
		which := ""
		if len(edits) > 1 {
			which = fmt.Sprintf(" (edit %d)", i+1)
		}
		switch {
		case n == 0:
			return "", fmt.Errorf("old%s does not stand in %s%s. Nothing was changed", which, name, hint(text, ed.Old))
		case n > 1 && !ed.ReplaceAll:
			return "", fmt.Errorf("old%s stands %d times in %s, at lines %s: add lines around it to make it unique, or set replace_all. Nothing was changed",
				which, n, name, places(text, ed.Old))
		case ed.ReplaceAll:
			text = strings.ReplaceAll(text, ed.Old, ed.New)
		default:
			text = strings.Replace(text, ed.Old, ed.New, 1)
		}
	}
	return text, nil
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// places lists the lines at which sub begins.
func places(text, sub string) string {
	var at []string
	ln, pos := 1, 0
	for {
		i := strings.Index(text[pos:], sub)
		if i < 0 {
			break
		}
		ln += strings.Count(text[pos:pos+i], "\n")
		if len(at) == 10 {
			return strings.Join(append(at, "…"), ", ")
		}
		at = append(at, fmt.Sprint(ln))
		ln += strings.Count(sub, "\n")
		pos += i + len(sub)
	}
	return strings.Join(at, ", ")
}

// hint says what in the text comes close to old.
func hint(text, old string) string {
	have, want := strings.Split(text, "\n"), strings.Split(strings.Trim(old, "\r\n"), "\n")
	var same, first []string
	for i := range have {
		if strings.TrimSpace(have[i]) != strings.TrimSpace(want[0]) {
			continue
		}
		first = append(first, fmt.Sprint(i+1))
		all := i+len(want) <= len(have)
		for k := 0; all && k < len(want); k++ {
			all = strings.TrimSpace(have[i+k]) == strings.TrimSpace(want[k])
		}
		if all {
			same = append(same, fmt.Sprint(i+1))
		}
	}
	cut := func(l []string) string {
		if len(l) > 5 {
			l = append(l[:5:5], "…")
		}
		return strings.Join(l, ", ")
	}
	switch {
	case strings.TrimSpace(old) == "":
		return ""
	case len(same) > 0:
		return "; at line " + cut(same) + " it does but for white space: copy it exactly"
	case len(first) > 0 && len(want) > 1 && strings.TrimSpace(want[0]) != "":
		return "; its first line stands at line " + cut(first) + ", what follows differs: read the file again"
	}
	return "; read the file and copy the text exactly, without the line numbers"
}
