package wire

import (
	"bytes"
	"errors"
	"io"
)

// Event is one server-sent event. Both slices are valid until the next one.
type Event struct {
	Name []byte // of its event field; may be empty
	Data []byte // never empty
}

var (
	errEventSize = errors.New("one event is larger than 16 MB")
	errReplySize = errors.New("the reply is larger than 64 MB")
)

// decoder reads events as the HTML standard describes them: lines end in LF, CR
// or CRLF, an event ends at an empty line, and what the end of the stream cuts
// is dropped.
type decoder struct {
	src   io.Reader
	buf   []byte
	r, w  int // buf[r:w] is read and not used
	feed  int // where the next LF stands in buf, if >= r; buf[r:feed] has none
	total int
	begun bool // the place of a byte order mark has passed
	half  bool // the last line ended in CR; an LF right after it is part of that end
	err   error
	name  []byte
	data  []byte
}

// next returns the next event that holds data.
func (d *decoder) next() (Event, error) {
	d.name, d.data = d.name[:0], d.data[:0]
	has := false
	for {
		line, err := d.line()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if has && len(d.data) > 0 {
				return Event{Name: d.name, Data: d.data}, nil
			}
			d.name, d.data, has = d.name[:0], d.data[:0], false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
		switch string(field) {
		case "event":
			d.name = append(d.name[:0], value...)
		case "data":
			if len(d.data)+len(value) > eventLimit {
				return Event{}, errEventSize
			}
			if has {
				d.data = append(d.data, '\n')
			}
			d.data, has = append(d.data, value...), true
		}
	}
}

// line returns the next line without its end.
func (d *decoder) line() ([]byte, error) {
	for {
		if d.half && d.r < d.w {
			if d.buf[d.r] == '\n' {
				d.r++
			}
			d.half = false
		}
		if line, ok := d.cut(); ok {
			if !d.begun {
				d.begun = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		}
		if d.w-d.r > eventLimit {
			return nil, errEventSize
		}
		if err := d.fill(); err != nil {
			return nil, err
		}
	}
}

// cut takes one line off the buffer. The place of the next LF is kept between
// calls: without that, a stream of CR lines would be searched again and again.
func (d *decoder) cut() ([]byte, bool) {
	if d.feed < d.r {
		d.feed = d.r
	}
	if d.feed == d.w || d.buf[d.feed] != '\n' {
		if i := bytes.IndexByte(d.buf[d.feed:d.w], '\n'); i >= 0 {
			d.feed += i
		} else {
			d.feed = d.w
		}
	}
	end := bytes.IndexByte(d.buf[d.r:d.feed], '\r')
	switch {
	case end >= 0:
		end += d.r
		d.half = true
	case d.feed < d.w:
		end = d.feed
	default:
		return nil, false
	}
	line := d.buf[d.r:end]
	d.r = end + 1
	return line, true
}

// fill reads once. The bytes of a line not yet complete move to the front.
func (d *decoder) fill() error {
	if d.err != nil {
		return d.err
	}
	if d.r > 0 {
		copy(d.buf, d.buf[d.r:d.w])
		d.w, d.feed, d.r = d.w-d.r, max(d.feed-d.r, 0), 0
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
