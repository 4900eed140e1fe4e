package tools

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
)

//go:embed read_file.md
var readFileText string

const (
	readLines = 2000     // lines of a call without a limit
	wholeFile = 16 << 20 // a file up to this size is read whole, for its hash
)

func readFile() tool {
	return tool{
		name: "read_file", text: readFileText, readOnly: true,
		schema: `{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace"},` +
			`"offset":{"type":"integer","description":"The first line to read, from 1; default 1"},` +
			`"limit":{"type":"integer","description":"How many lines; default 2000"}},` +
			`"required":["path"],"additionalProperties":false}`,
		parse: parseRead,
		title: func(a loose) string {
			s := "read " + a.word("path")
			from, n := a.number("offset"), a.number("limit")
			switch {
			case n > 0:
				return fmt.Sprintf("%s:%d-%d", s, max(from, 1), max(from, 1)+n-1)
			case from > 1:
				return fmt.Sprintf("%s:%d-", s, from)
			}
			return s
		},
	}
}

func parseRead(c call) (*Call, error) {
	a, err := decode[struct {
		Path   string `json:"path"`
		Offset *int   `json:"offset"`
		Limit  *int   `json:"limit"`
	}](c)
	if err == nil {
		err = need("path", a.Path)
	}
	if err != nil {
		return nil, err
	}
	offset, limit := 1, readLines
	if a.Offset != nil {
		offset = max(*a.Offset, 1)
		err = between("offset", *a.Offset, 0, 1<<40)
	}
	if a.Limit != nil && err == nil {
		limit = *a.Limit
		err = between("limit", limit, 1, 1<<20)
	}
	if err != nil {
		return nil, err
	}
	t, err := c.env.tree().Target(a.Path, permission.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.Touch(c.action(permission.Read)), Run: func(ctx context.Context) Result {
		text, err := c.env.read(ctx, t, offset, limit)
		if errors.Is(err, fs.ErrNotExist) {
			return fail("%s does not exist%s", t.Show(), c.env.nearby(t))
		}
		if err != nil {
			return fail("read %s: %v", t.Show(), err)
		}
		return Result{Text: text}
	}}, nil
}

// read returns the lines of a file, numbered.
func (e *Runtime) read(ctx context.Context, t files.Target, offset, limit int) (string, error) {
	f, fi, err := e.tree().Open(t)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var src io.Reader = f
	var whole []byte
	if fi.Size() <= wholeFile {
		// A file that grows meanwhile is cut; later it will count as changed.
		if whole, err = io.ReadAll(io.LimitReader(f, wholeFile+1)); err != nil {
			return "", files.PlainError(err)
		}
		src = bytes.NewReader(whole)
	}
	r := bufio.NewReaderSize(e.Keys.Reader(src), 64<<10)
	what, err := files.Binary(r)
	if err != nil {
		return "", files.PlainError(err)
	}
	if what != "" {
		return fmt.Sprintf("%s is %s, %d bytes; it is not shown as text", t.Show(), what, fi.Size()), nil
	}
	text, err := files.Page(ctx, r, offset, limit)
	if err != nil {
		return "", files.PlainError(err)
	}
	e.Seen.Put(t.Abs, fi, whole)
	return text, nil
}

// nearby lists names in the directory of a missing file.
func (e *Runtime) nearby(t files.Target) string {
	if !t.Inside || t.Rel == t.Abs {
		return ""
	}
	dir, base := filepath.Dir(t.Rel), filepath.Base(t.Rel)
	names, err := os.ReadDir(e.Root + "/" + dir)
	if err != nil {
		return "; the directory " + dir + " does not exist either"
	}
	var like []string
	for _, n := range names {
		a, b := strings.ToLower(n.Name()), strings.ToLower(base)
		if len(like) < 5 && (strings.Contains(a, strings.TrimSuffix(b, filepath.Ext(b))) || strings.Contains(b, strings.TrimSuffix(a, filepath.Ext(a)))) {
			like = append(like, strings.TrimPrefix(dir+"/"+n.Name(), "./"))
		}
	}
	if len(like) == 0 {
		return ""
	}
	return "; there is " + strings.Join(like, ", ")
}
