package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	PageLineWidth = 2000     // bytes shown of a line
	MaxPage       = 96 << 10 // bytes of a page
)

// Page reads at most limit lines of a text from line offset on. It returns them numbered, with notes for the reader.
func Page(ctx context.Context, r *bufio.Reader, offset, limit int) (string, error) {
	p := page{offset: offset, limit: limit}
	if err := p.fill(ctx, r); err != nil {
		return "", err
	}
	if p.total < offset && !p.more && (p.total > 0 || offset > 1) {
		return "", fmt.Errorf("offset %d is behind the end: the file has %d lines", offset, p.total)
	}
	return p.text(), nil
}

// page is a part of a text to show.
type page struct {
	offset, limit int
	out           strings.Builder
	shown, total  int  // lines shown; lines seen
	more          bool // the file continues
	crlf, odd     bool // lines end in CRLF; bytes are not UTF-8
	cut           int  // lines that were cut
	full          bool // the next line does not fit
}

// fill reads until the page is full. It discards lines before the page, and the rest of cut lines: memory does not grow
// with the file.
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
		text, rest, err := ReadLine(ctx, r, PageLineWidth)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
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
	if p.shown > 0 && p.out.Len()+len(s) > MaxPage {
		p.full, p.total = true, p.total-1
		return
	}
	fmt.Fprintf(&p.out, "%d\t%s\n", p.total, s)
	p.shown++
}

// text is the page with notes for the reader.
func (p *page) text() string {
	if p.total == 0 {
		return "[the file is empty]"
	}
	var notes []string
	if p.more {
		notes = append(notes, fmt.Sprintf("lines %d to %d; the file goes on: read on with offset %d", p.offset, p.total, p.total+1))
	}
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("long lines are cut after %d bytes", PageLineWidth))
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
