package llm

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// events reads all events of r as "name=data".
func events(r io.Reader) ([]string, error) {
	d := &sseDecoder{src: r}
	var all []string
	for {
		e, err := d.next()
		if err != nil {
			return all, err
		}
		all = append(all, string(e.Name)+"="+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"data: a\n\n":                    {"=a"},
		"data:a\n\n":                     {"=a"},
		"data:  a\n\n":                   {"= a"},
		"event: x\ndata: a\ndata: b\n\n": {"x=a\nb"},
		"data\n\n":                       nil,
		"data\ndata\n\n":                 {"=\n"},
		"event: x\n\ndata: a\n\n":        {"=a"},
		": note\nid: 1\nretry: 5\nother: z\ndata: a\n\n": {"=a"},
		"data: a\r\n\r\ndata: b\r\rdata: c\n\n":          {"=a", "=b", "=c"},
		"\ufeffdata: a\n\n":                              {"=a"},
		"data: a\n\n\ufeffdata: b\n\n":                   {"=a"},
		"\n\n\ndata: a\n\n\n\ndata: b\n\n":               {"=a", "=b"},
		"":                                               nil,
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(in), "bytewise": iotest.OneByteReader(strings.NewReader(in)), "with its end": iotest.DataErrReader(strings.NewReader(in)),
		} {
			got, err := events(r)
			if err != io.EOF || !reflect.DeepEqual(got, want) {
				t.Errorf("%q %s: %q, want %q (%v)", in, name, got, want, err)
			}
		}
	}
	// The last event needs no empty line if its data is whole; what is cut is no end in order.
	for in, want := range map[string]int{
		`data: {"a":1}`: 1, "data: {\"a\":1}\n": 1, "data: [DONE]": 1, "data: {}\n\n: bye": 1, "data: {}\n: bye": 1,
		"data: {}\n\ndata: [DON": -1, "data: {}\n\ndata": -1, "data: {}\n\nid": -1, "data: {}\n\ndata: b\n": -1, "data: {}\n\ndata: {\"a\":": -1,
	} {
		got, err := events(strings.NewReader(in))
		if len(got) != 1 && want > 0 || (err == io.EOF) != (want > 0) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestEventSizes(t *testing.T) {
	fits := strings.Repeat("x", eventLimit-16)
	if got, err := events(strings.NewReader("data: " + fits + "\n\n")); len(got) != 1 || err != io.EOF {
		t.Errorf("an event of the limit: %d events, %v", len(got), err)
	}
	if _, err := events(strings.NewReader("data: " + fits + strings.Repeat("y", 64))); err != errEventSize {
		t.Errorf("a line above the limit: %v", err)
	}
	if _, err := events(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 17))); err != errEventSize {
		t.Errorf("lines above the limit: %v", err)
	}
	if _, err := events(io.MultiReader(strings.NewReader("data: a\n\n"), endless{})); err != errReplySize {
		t.Errorf("an endless reply: %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	n := copy(b, bytes.Repeat([]byte(": tick\n"), len(b)/7+1))
	return n, nil
}

// The cost of a byte does not depend on how lines end or how long they are.
func BenchmarkEvents(b *testing.B) {
	for name, in := range map[string]string{
		"LF":   strings.Repeat("data: {\"x\":1}\n\n", 20000),
		"CR":   strings.Repeat("data: {\"x\":1}\r\r", 20000),
		"long": "data: " + strings.Repeat("x", 300000) + "\n\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := events(strings.NewReader(in)); err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzEvents holds the decoder against itself: pieces do not matter, and
// neither do line ends.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\ndata: a\n\n"))
	f.Add([]byte("\ufeffdata: a\r\r\n\ndata\rdata:b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, _ := events(bytes.NewReader(in))
		pieces, _ := events(iotest.OneByteReader(bytes.NewReader(in)))
		if !reflect.DeepEqual(whole, pieces) {
			t.Fatalf("%q\n%q", whole, pieces)
		}
		plain := bytes.ReplaceAll(bytes.ReplaceAll(in, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		if same, _ := events(bytes.NewReader(plain)); !reflect.DeepEqual(whole, same) {
			t.Fatalf("%q\n%q", whole, same)
		}
	})
}
