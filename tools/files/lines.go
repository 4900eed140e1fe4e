package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

const sniff = 8 << 10 // bytes for telling text from binary

// Binary describes content that is not text, by its beginning; "" if it is text. It consumes nothing.
func Binary(r *bufio.Reader) (what string, err error) {
	head, err := r.Peek(sniff)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return "", err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text (convert it with iconv)", nil
	case bytes.IndexByte(head, 0) >= 0:
		return "a binary file (" + http.DetectContentType(head[:min(len(head), 512)]) + ")", nil
	}
	return "", nil
}

// ReadLine returns the first keep bytes of the next line without its end, and how many bytes it left out. At the end of
// the file err is io.EOF, with the last bytes.
func ReadLine(ctx context.Context, r *bufio.Reader, keep int) (text []byte, rest int64, err error) {
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
