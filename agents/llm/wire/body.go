package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Body is a request's body, in pieces that are sent one after the other. None is copied
// before, so a long conversation stands in memory once, and none may be changed any
// more: a connection may still read them when the call has its answer.
type Body [][]byte

// List returns an object in JSON: a list of that name, and then the members of rest, an
// object that has some, and none of that name.
func List(name string, items [][]byte, rest []byte) Body {
	comma := []byte(",")
	b := make(Body, 0, 2*len(items)+2)
	b = append(b, fmt.Appendf(nil, "{%q:[", name))
	for n, item := range items {
		if n > 0 {
			b = append(b, comma)
		}
		b = append(b, item)
	}
	return append(b, []byte("],"), bytes.TrimPrefix(rest, []byte("{")))
}

// size is the length of b in bytes.
func (b Body) size() (n int64) {
	for _, piece := range b {
		n += int64(len(piece))
	}
	return n
}

// reader reads b from its beginning.
func (b Body) reader() io.ReadCloser { return io.NopCloser(&reader{left: b}) }

// reader reads a body.
type reader struct {
	left Body
	at   int // in the first piece that is left
}

func (r *reader) Read(to []byte) (n int, err error) {
	for n < len(to) && len(r.left) > 0 {
		more := copy(to[n:], r.left[0][r.at:])
		n, r.at = n+more, r.at+more
		if r.at == len(r.left[0]) {
			r.left, r.at = r.left[1:], 0
		}
	}
	if n == 0 && len(to) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Carry gives the call its body, in place of one that a vendor's library would encode.
func (k *Call) Carry(b Body) { k.body = b }

// load puts the call's body into the request. It is read from its beginning again where a
// connection breaks before anything was answered, or the server redirects.
func (k *Call) load(req *http.Request) {
	if k.body == nil {
		return
	}
	req.ContentLength = k.body.size()
	req.GetBody = func() (io.ReadCloser, error) { return k.body.reader(), nil }
	req.Body = k.body.reader()
}

// JSON encodes what holds nothing but texts, numbers and valid JSON. Unlike
// [json.Marshal] it leaves <, > and & as they are: code is full of them, and each
// would take six bytes.
func JSON(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // never fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
