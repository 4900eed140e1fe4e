package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"fantail/tools/validjson"
)

// TestList: the pieces are one object in JSON, however they are read.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringN(0, 40, -1), 0, 8).Draw(t, "words")
		items := make([][]byte, len(words))
		for n, w := range words {
			items[n] = Encode(w)
		}
		b := BodyWithList("words", items, []byte(`{"n":1,"more":"<]>"}`))
		want := fmt.Sprintf(`{"words":[%s],"n":1,"more":"<]>"}`, bytes.Join(items, []byte(",")))
		if b.size() != int64(len(want)) {
			t.Fatalf("%d bytes, it says %d", len(want), b.size())
		}
		if err := iotest.TestReader(b.reader(), []byte(want)); err != nil {
			t.Fatal(err)
		}
		for n := range words {
			words[n] = validjson.Text(words[n])
		}
		var got struct{ Words []string }
		if err := json.Unmarshal([]byte(want), &got); err != nil || !reflect.DeepEqual(got.Words, append([]string{}, words...)) {
			t.Fatalf("%q became %q: %v", words, got.Words, err)
		}
	})
}

// TestCarry: a body of which a server has read only the beginning arrives whole all the
// same: at the place it redirects to, and with the next call.
func TestCarry(t *testing.T) {
	items := make([][]byte, 3000)
	for n := range items {
		items[n] = Encode(strings.Repeat(fmt.Sprint(n), 1000))
	}
	body := BodyWithList("items", items, []byte(`{"n":1}`))
	var got []byte
	var length int64
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch asked {
		case 1:
			_, _ = io.CopyN(io.Discard, r.Body, 100_000)
			panic(http.ErrAbortHandler)
		case 2:
			_, _ = io.CopyN(io.Discard, r.Body, 100_000)
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		default:
			got, _ = io.ReadAll(r.Body)
			length = r.ContentLength
			w.Header().Set("Content-Type", "text/event-stream")
		}
	}))
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n, fails := range []bool{true, false} {
		k := NewClient(Endpoint{Name: "fake", BaseURL: s.URL}, client).Call(t.Context())
		defer k.Close()
		k.body = body
		if err := k.post("", nil); (err != nil) != fails {
			t.Fatalf("call %d: %v", n+1, err)
		}
	}
	if want := bytes.Join(body, nil); asked != 3 || !bytes.Equal(got, want) || length != int64(len(want)) {
		t.Errorf("after %d requests %d bytes of %d have come, %d were told", asked, len(got), len(want), length)
	}
}
