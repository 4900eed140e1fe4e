package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// The bytes are frozen: a test that has to change here breaks every host that runs somewhere.
func TestFrames_asTheyAreForEver(t *testing.T) {
	var f Fields
	f.Add(Arg, "--model")
	f.Add(Env, "A=b=c")
	b := Append([]byte(Magic), Hello, f.Bytes())
	b = AppendSize(b, 120, 300)
	b = Append(b, Keys, []byte("q"))
	b = Append(b, Leave, nil)
	want := "fantail screen 1\n" + "H\x00\x00\x00\x15arg=--model\x00env=A=b=c" + "S\x00\x00\x00\x04\x00\x78\x01\x2c" + "K\x00\x00\x00\x01q" + "L\x00\x00\x00\x00"
	if string(b) != want {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

func TestFramesComeThroughInAnyPieces(t *testing.T) {
	b := AppendSize(Append(Append(nil, Paint, []byte("abc")), Bye, Fields{"code=3", "say=x"}.Bytes()), 1, 65535)
	var pending []byte
	var got []string
	for _, c := range b {
		pending = append(pending, c)
		for {
			k, body, rest, ok, err := Cut(pending, MaxFrame)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, string(k)+string(body))
			pending = rest
		}
	}
	want := []string{"Pabc", "Bcode=3\x00say=x", "S\x00\x01\xff\xff"}
	if !slices.Equal(got, want) || len(pending) > 0 {
		t.Errorf("cut: %q, %d bytes left", got, len(pending))
	}
	got = nil
	r := iotest.OneByteReader(bytes.NewReader(b))
	var buf []byte
	for {
		k, body, grown, err := Read(r, MaxFrame, buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		buf = grown
		got = append(got, string(k)+string(body))
	}
	if !slices.Equal(got, want) {
		t.Errorf("read: %q", got)
	}
}

func TestFrames_malformed(t *testing.T) {
	huge := "K\xff\xff\xff\xff" + strings.Repeat("x", 100)
	if _, _, _, _, err := Cut([]byte(huge), MaxFrame); !errors.Is(err, errMalformed) {
		t.Errorf("cut a huge one: %v", err)
	}
	if _, _, _, err := Read(strings.NewReader(huge), MaxFrame, nil); !errors.Is(err, errMalformed) {
		t.Errorf("read a huge one: %v", err)
	}
	for _, cut := range []string{"K", "K\x00\x00\x00\x05ab"} {
		if _, _, _, err := Read(strings.NewReader(cut), MaxFrame, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read %q: %v", cut, err)
		}
	}
	// A size that is only announced takes no memory.
	_, _, grown, err := Read(strings.NewReader("H\x00\x3f\xff\xffx"), MaxHello, nil)
	if err == nil || cap(grown) > 64<<10 {
		t.Errorf("a frame that never came: %v, %d bytes", err, cap(grown))
	}
	for _, body := range []string{"", "abc"} {
		if _, _, err := SizeOf([]byte(body)); !errors.Is(err, errMalformed) {
			t.Errorf("a size of %q: %v", body, err)
		}
	}
}

func TestFields(t *testing.T) {
	f := FieldsOf([]byte("arg=-a\x00later=what nobody knows yet\x00arg=b\x00env=X="))
	if got := f.All(Arg); !slices.Equal(got, []string{"-a", "b"}) {
		t.Errorf("arguments %q", got)
	}
	if f.Get(Env) != "X=" || f.Get(Say) != "" || FieldsOf(nil) != nil {
		t.Errorf("fields %q", f)
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("K\x00\x00\x00\x01q"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			k, body, rest, ok, err := Cut(b, 1<<10)
			if !ok || err != nil {
				return
			}
			if again := Append(nil, k, body); !bytes.HasPrefix(b, again) || len(rest) != len(b)-len(again) {
				t.Fatalf("%q: %q and %q", b, again, rest)
			}
			b = rest
		}
	})
}
