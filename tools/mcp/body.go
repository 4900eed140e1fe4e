package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// limitedBody is a body that fails if it is too long.
type limitedBody struct {
	io.ReadCloser
	remaining int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, fmt.Errorf("it sent more than %d MiB", maxMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// jsonBody is a body with one message. It repairs the message at the first read.
type jsonBody struct {
	io.ReadCloser
	requestID json.RawMessage // id of the request that it answers; nil: none
	log       func(string)
	mended    *bytes.Reader // nil: not read yet
}

func (b *jsonBody) Read(p []byte) (int, error) {
	if b.mended == nil {
		whole, err := io.ReadAll(&limitedBody{ReadCloser: b.ReadCloser, remaining: maxMessage})
		if err != nil {
			return 0, err
		}
		b.mended = bytes.NewReader(b.message(whole))
	}
	return b.mended.Read(p)
}

// message returns the response in a body, repaired. If a request waits for it and the body has no
// response, it returns an error response; else it returns the body unchanged.
func (b *jsonBody) message(whole []byte) []byte {
	line := cleanLine(whole)
	if len(line) > 0 {
		messages, _ := mendMessages(b.withID(line), b.log)
		for _, one := range messages { // a batch may have other messages, but the client takes one
			if m, err := jsonrpc.DecodeMessage(one); err == nil {
				if _, is := m.(*jsonrpc.Response); is {
					return one
				}
			}
		}
	}
	if b.requestID == nil {
		return whole
	}
	why, _ := json.Marshal("it answers with what is no message: " + startOf(line))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, b.requestID, jsonrpc.CodeInternalError, why)
}

// withID adds the id of the request to an error response without one, because nothing else ends the request.
func (b *jsonBody) withID(line []byte) []byte {
	var m map[string]json.RawMessage
	if b.requestID == nil || json.Unmarshal(line, &m) != nil || m["error"] == nil || m["id"] != nil && string(m["id"]) != "null" {
		return line
	}
	m["id"] = b.requestID
	if b, err := json.Marshal(m); err == nil {
		return b
	}
	return line
}

// requestID returns the id of the JSON-RPC request in q, or nil if it has none.
func requestID(q *http.Request) json.RawMessage {
	if q.GetBody == nil {
		return nil
	}
	body, err := q.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(body).Decode(&m) != nil || m.Method == "" {
		return nil
	}
	return m.ID
}

// mendMessages returns the messages of a text, repaired.
func mendMessages(text []byte, told func(string)) (all [][]byte, err error) {
	err = readMessages(text, func(m jsonrpc.Message) error {
		b, err := jsonrpc.EncodeMessage(m)
		all = append(all, b)
		return err
	}, told)
	return all, err
}

// eventBody is an event stream. It repairs each event once the event is complete. An event that is
// too long passes unchanged, and the client refuses it.
type eventBody struct {
	io.ReadCloser
	in    *bufio.Reader
	log   func(string)
	event []byte // the incomplete event
	out   []byte // bytes to be read
	err   error  // how the stream ended
}

func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next reads a piece of the stream.
func (b *eventBody) next() {
	piece, err := b.in.ReadSlice('\n')
	b.event = append(b.event, piece...)
	if !errors.Is(err, bufio.ErrBufferFull) {
		b.err = err
	}
	e := b.event
	switch {
	case len(e) > maxMessage:
		b.out, b.event = e, nil
	case b.err != nil, len(bytes.TrimRight(e, "\r\n")) == 0, bytes.HasSuffix(e, []byte("\n\n")), bytes.HasSuffix(e, []byte("\n\r\n")):
		b.out, b.event = b.mend(e), e[:0]
	}
}

// mend returns an event that the client can read.
func (b *eventBody) mend(event []byte) []byte {
	var head, data []byte
	for line := range bytes.Lines(bytes.TrimPrefix(event, []byte("\xef\xbb\xbf"))) {
		line = bytes.TrimRight(line, "\r\n")
		switch name, value, is := bytes.Cut(line, []byte(":")); {
		case string(name) == "data":
			data = append(append(data, bytes.TrimSpace(value)...), '\n')
		case is: // a line without a colon means nothing, and the client accepts none
			head = append(append(head, line...), '\n')
		}
	}
	if data = cleanLine(data); len(data) == 0 {
		return append(head, '\n')
	}
	messages, err := mendMessages(data, b.log)
	switch {
	case err != nil && isMessage(data):
		messages = [][]byte{bytes.ReplaceAll(data, []byte("\n"), []byte(" "))} // the client reports what is wrong with it
	case err != nil:
		b.log("it sent what is no message: " + startOf(data))
	}
	var out []byte
	for _, one := range messages {
		out = append(append(append(append(out, head...), "data: "...), one...), "\n\n"...)
	}
	if len(messages) == 0 {
		return append(head, '\n')
	}
	return out
}
