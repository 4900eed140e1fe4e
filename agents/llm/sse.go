package llm

import (
	"bytes"
	"errors"
	"io"
)

// SSEEvent is one server-sent event. Both slices are valid until the next one.
type SSEEvent struct {
	Name []byte // of its event field; may be empty
	Data []byte // never empty
}

var (
	errEventSize = errors.New("one event is larger than 16 MB")
	errReplySize = errors.New("the reply is larger than 64 MB")
)

// sseDecoder reads events as the HTML standard describes them: lines end in LF, CR
// or CRLF, and an event ends at an empty line. Unlike there, an event that the end of the
// stream cuts counts if its data is whole; else the stream did not end in order.
type sseDecoder struct {
	src        io.Reader
	buf        []byte
	r, w       int // buf[r:w] is read and not used
	nextLF     int // the next LF in buf, if >= r; buf[r:nextLF] has none
	total      int
	bomChecked bool // a byte order mark can't come any more
	afterCR    bool // the last line ended in CR; an LF right after it is part of that end
	err        error
	name       []byte
	data       []byte
	hasData    bool // data of the event being read
}

// next returns the next event that holds data.
func (d *sseDecoder) next() (SSEEvent, error) {
	d.name, d.data, d.hasData = d.name[:0], d.data[:0], false
	for {
		line, err := d.line()
		if errors.Is(err, io.EOF) && (d.hasData || d.r < d.w) {
			if d.r < d.w && d.buf[d.r] != ':' { // the beginning of a line that says something
				err = d.field(d.trimBOM(d.buf[d.r:d.w]))
				if !d.hasData {
					err = io.ErrUnexpectedEOF
				}
			}
			d.r = d.w
			if last := (SSEEvent{Name: d.name, Data: d.data}); d.hasData && (IsObject(d.data) || last.Done()) {
				return last, nil
			} else if d.hasData {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return SSEEvent{}, err
		}
		if len(line) == 0 {
			if d.hasData && len(d.data) > 0 {
				return SSEEvent{Name: d.name, Data: d.data}, nil
			}
			d.name, d.data, d.hasData = d.name[:0], d.data[:0], false
			continue
		}
		if err := d.field(line); err != nil {
			return SSEEvent{}, err
		}
	}
}

// field reads a line that is not empty.
func (d *sseDecoder) field(line []byte) error {
	field, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "event":
		d.name = append(d.name[:0], value...)
	case "data":
		if len(d.data)+len(value) > eventLimit {
			return errEventSize
		}
		if d.hasData {
			d.data = append(d.data, '\n')
		}
		d.data, d.hasData = append(d.data, value...), true
	}
	return nil
}

// trimBOM removes a byte order mark from the first line.
func (d *sseDecoder) trimBOM(line []byte) []byte {
	if !d.bomChecked {
		d.bomChecked = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line
}

// line returns the next line without its end.
func (d *sseDecoder) line() ([]byte, error) {
	for {
		if d.afterCR && d.r < d.w {
			if d.buf[d.r] == '\n' {
				d.r++
			}
			d.afterCR = false
		}
		if line, ok := d.takeLine(); ok {
			return d.trimBOM(line), nil
		}
		if d.w-d.r > eventLimit {
			return nil, errEventSize
		}
		if err := d.fill(); err != nil {
			return nil, err
		}
	}
}

// takeLine takes one line off the buffer. It keeps the place of the next LF between
// calls, because else it would search a stream of CR lines again and again.
func (d *sseDecoder) takeLine() ([]byte, bool) {
	if d.nextLF < d.r {
		d.nextLF = d.r
	}
	if d.nextLF == d.w || d.buf[d.nextLF] != '\n' {
		if i := bytes.IndexByte(d.buf[d.nextLF:d.w], '\n'); i >= 0 {
			d.nextLF += i
		} else {
			d.nextLF = d.w
		}
	}
	end := bytes.IndexByte(d.buf[d.r:d.nextLF], '\r')
	switch {
	case end >= 0:
		end += d.r
		d.afterCR = true
	case d.nextLF < d.w:
		end = d.nextLF
	default:
		return nil, false
	}
	line := d.buf[d.r:end]
	d.r = end + 1
	return line, true
}

// fill reads once. The bytes of a line not yet complete move to the front.
func (d *sseDecoder) fill() error {
	if d.err != nil {
		return d.err
	}
	if d.r > 0 {
		copy(d.buf, d.buf[d.r:d.w])
		d.w, d.nextLF, d.r = d.w-d.r, max(d.nextLF-d.r, 0), 0
	}
	if d.w == len(d.buf) {
		d.buf = append(d.buf, make([]byte, max(32<<10, len(d.buf)))...)
	}
	n, err := d.src.Read(d.buf[d.w:])
	d.w += n
	d.total += n
	if d.total > replyLimit {
		err = errReplySize
	}
	d.err = err
	if n > 0 && err != errReplySize {
		return nil
	}
	return err
}
