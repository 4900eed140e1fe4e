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
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"fantail/tools/permit"
)

//go:embed read_file.md
var readFileText string

const (
	readLines = 2000     // lines of a call that names no limit
	readWidth = 2000     // bytes of a line that are shown
	readBytes = 96 << 10 // bytes of a result
	wholeFile = 16 << 20 // up to this size a file is read whole, so that it is known by its hash
	sniff     = 8 << 10  // bytes that tell text from binary
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
	t, err := c.env.target(a.Path, permit.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.touch(c.action(permit.Read)), Run: func(ctx context.Context) Result {
		text, err := c.env.read(ctx, t, offset, limit)
		if errors.Is(err, fs.ErrNotExist) {
			return fail("%s does not exist%s", t.show(), c.env.nearby(t))
		}
		if err != nil {
			return fail("read %s: %v", t.show(), err)
		}
		return Result{Text: text}
	}}, nil
}

// read returns the lines of a file, numbered.
func (e *Env) read(ctx context.Context, t target, offset, limit int) (string, error) {
	f, fi, err := e.openFile(t)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var src io.Reader = f
	var whole []byte
	if fi.Size() <= wholeFile {
		// A file that grows meanwhile is cut; it will count as changed.
		if whole, err = io.ReadAll(io.LimitReader(f, wholeFile+1)); err != nil {
			return "", plain(err)
		}
		src = bytes.NewReader(whole)
	}
	r := bufio.NewReaderSize(e.Keys.Reader(src), 64<<10)
	head, err := r.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", plain(err)
	}
	if what := binary(head); what != "" {
		return fmt.Sprintf("%s is %s, %d bytes; it is not shown as text", t.show(), what, fi.Size()), nil
	}
	p := page{offset: offset, limit: limit}
	if err := p.fill(ctx, r); err != nil {
		return "", err
	}
	if p.total < offset && !p.more && (p.total > 0 || offset > 1) {
		return "", fmt.Errorf("offset %d is behind the end: the file has %d lines", offset, p.total)
	}
	e.Seen.put(t.abs, fi, whole)
	return p.text(), nil
}

// binary describes content that is not text; "" if it is.
func binary(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text (convert it with iconv)"
	case bytes.IndexByte(head, 0) >= 0:
		return "a binary file (" + http.DetectContentType(head[:min(len(head), 512)]) + ")"
	}
	return ""
}

// page is the part of a file that a call shows.
type page struct {
	offset, limit int
	out           strings.Builder
	shown, total  int  // lines shown; lines seen
	more          bool // the file goes on
	crlf, odd     bool // lines end in CRLF; bytes are not UTF-8
	cut           int  // lines that were cut
	full          bool // the result has no room for the next line
}

// fill reads on until the page is full. Lines before it, and what is cut from a
// line, are read and forgotten: memory does not grow with the file.
func (p *page) fill(ctx context.Context, r *bufio.Reader) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p.shown == p.limit || p.full {
			_, err := r.Peek(1)
			p.more = p.full || err == nil
			return nil
		}
		text, rest, err := readLine(ctx, r, readWidth)
		if err != nil && !errors.Is(err, io.EOF) {
			return plain(err)
		}
		if err != nil && len(text) == 0 {
			return nil
		}
		p.total++
		if p.total >= p.offset {
			p.add(text, rest)
		}
	}
}

// add shows one line.
func (p *page) add(text []byte, rest int64) {
	if p.total == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	if rest == 0 && bytes.HasSuffix(text, []byte("\r")) {
		text, p.crlf = text[:len(text)-1], true
	}
	if rest > 0 {
		for len(text) > 0 && !utf8.FullRune(text[lastRune(text):]) {
			text = text[:lastRune(text)]
		}
		p.cut++
	}
	s := string(text)
	if !utf8.ValidString(s) {
		s, p.odd = strings.ToValidUTF8(s, "\uFFFD"), true
	}
	if rest > 0 {
		s += fmt.Sprintf(" [… %d more bytes]", rest)
	}
	if p.shown > 0 && p.out.Len()+len(s) > readBytes {
		p.full, p.total = true, p.total-1
		return
	}
	fmt.Fprintf(&p.out, "%d\t%s\n", p.total, s)
	p.shown++
}

// text is the page with what a reader has to know about it.
func (p *page) text() string {
	if p.total == 0 {
		return "[the file is empty]"
	}
	var notes []string
	if p.more {
		notes = append(notes, fmt.Sprintf("lines %d to %d; the file goes on: read on with offset %d", p.offset, p.total, p.total+1))
	}
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("long lines are cut after %d bytes", readWidth))
	}
	if p.crlf {
		notes = append(notes, "lines end in CRLF")
	}
	if p.odd {
		notes = append(notes, "bytes that are not UTF-8 show as \uFFFD; edit_file keeps them")
	}
	if len(notes) > 0 {
		p.out.WriteString("[" + strings.Join(notes, "; ") + "]\n")
	}
	return p.out.String()
}

// lastRune is where the last character of b begins.
func lastRune(b []byte) int {
	i := len(b) - 1
	for i > 0 && i > len(b)-utf8.UTFMax && !utf8.RuneStart(b[i]) {
		i--
	}
	return max(i, 0)
}

// readLine returns the first keep bytes of the next line without its end, and
// how many bytes were left out. At the end of the file err is io.EOF, with what
// stood there.
func readLine(ctx context.Context, r *bufio.Reader, keep int) (text []byte, rest int64, err error) {
	for n := 0; ; n++ {
		if n%64 == 63 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		b, err := r.ReadSlice('\n')
		done := err == nil
		if done {
			b = b[:len(b)-1]
		}
		k := min(keep-len(text), len(b))
		text = append(text, b[:k]...)
		rest += int64(len(b) - k)
		if done {
			if text == nil {
				text = []byte{}
			}
			return text, rest, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, rest, err
		}
	}
}

// nearby names what stands where a missing file was looked for.
func (e *Env) nearby(t target) string {
	if !t.inside || t.rel == t.abs {
		return ""
	}
	dir, base := splitShow(t.rel)
	names, err := os.ReadDir(e.Root + "/" + dir)
	if err != nil {
		return "; the directory " + dir + " does not exist either"
	}
	var like []string
	for _, n := range names {
		a, b := strings.ToLower(n.Name()), strings.ToLower(base)
		if len(like) < 5 && (strings.Contains(a, strings.TrimSuffix(b, pathExt(b))) || strings.Contains(b, strings.TrimSuffix(a, pathExt(a)))) {
			like = append(like, strings.TrimPrefix(dir+"/"+n.Name(), "./"))
		}
	}
	if len(like) == 0 {
		return ""
	}
	return "; there is " + strings.Join(like, ", ")
}
