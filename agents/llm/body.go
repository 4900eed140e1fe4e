package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"fantail/tools/validjson"
)

// Body is a request's body, in pieces that are sent one after the other. The pieces are not
// copied, so a long conversation is in memory once. They must not be changed: a connection
// may still read them after the response has come.
type Body [][]byte

// BodyWithList returns a JSON object: a list with that name, and then the members of rest. rest is
// an object with other members and without that one.
func BodyWithList(name string, items [][]byte, rest []byte) Body {
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
func (b Body) reader() io.ReadCloser { return io.NopCloser(&bodyReader{pieces: b}) }

// bodyReader reads a body.
type bodyReader struct {
	pieces Body
	offset int // in the first piece
}

func (r *bodyReader) Read(to []byte) (n int, err error) {
	for n < len(to) && len(r.pieces) > 0 {
		more := copy(to[n:], r.pieces[0][r.offset:])
		n, r.offset = n+more, r.offset+more
		if r.offset == len(r.pieces[0]) {
			r.pieces, r.offset = r.pieces[1:], 0
		}
	}
	if n == 0 && len(to) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// setBody puts the call's body into the request. It is read again from its beginning if the
// connection breaks before a response, or if the server redirects.
func (k *HTTPCall) setBody(req *http.Request) {
	if k.body == nil {
		return
	}
	req.ContentLength = k.body.size()
	req.GetBody = func() (io.ReadCloser, error) { return k.body.reader(), nil }
	req.Body = k.body.reader()
}

// Encode encodes v, which holds only texts, numbers and valid JSON. Unlike
// [json.Marshal] it does not escape <, > and &: code is full of them, and each
// would take six bytes.
func Encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // never fails
	return CleanText(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// CleanText returns valid JSON without what a strict server refuses, such as a zero character.
func CleanText(text []byte) []byte {
	if bytes.Contains(text, []byte(`\u`)) {
		text, _ = validjson.Make(text)
	}
	return text
}
