package validjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMake: invalid input becomes JSON that strict readers take, and valid input stays byte for byte.
func TestMake(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\ud83d"}`:                         `{"a":"` + "\uFFFD" + `"}`,
		`{"a":"\ude00"}`:                         `{"a":"` + "\uFFFD" + `"}`,
		`{"a":"\ude00\ud83d"}`:                   `{"a":"` + "\uFFFD\uFFFD" + `"}`,
		`{"a":"\ud83d\ud83d\ude00"}`:             `{"a":"` + "\uFFFD" + `\ud83d\ude00"}`,
		`{"a":"\ud83d\n"}`:                       `{"a":"` + "\uFFFD" + `\n"}`,
		`{"a":"\ud83dude00"}`:                    `{"a":"` + "\uFFFD" + `ude00"}`,
		`{"a":"\uD83D x"}`:                       `{"a":"` + "\uFFFD" + ` x"}`,
		`["\ud83d","\ude00"]`:                    `["` + "\uFFFD" + `","` + "\uFFFD" + `"]`,
		`{"\ud83d":1}`:                           `{"` + "\uFFFD" + `":1}`,
		`{"\ud83d":1,"\ud83e":2}`:                `{"` + "\uFFFD" + `":2}`,
		`{"a":"x\u0000y"}`:                       `{"a":"x` + "\uFFFD" + `y"}`,
		`{"a\u0000":1}`:                          `{"a` + "\uFFFD" + `":1}`,
		"{\"a\":\"\xff\"}":                       `{"a":"` + "\uFFFD" + `"}`,
		"{\"a\":\"\xf0\x9f\x98\"}":               `{"a":"` + "\uFFFD\uFFFD\uFFFD" + `"}`,
		"{\"a\":\"\xed\xa0\xbd\"}":               `{"a":"` + "\uFFFD\uFFFD\uFFFD" + `"}`,
		"{\"\xc3\x28\":1}":                       `{"` + "\uFFFD" + `(":1}`,
		`{"a":1,"a":2}`:                          `{"a":2}`,
		`{ "a" : 1 , "b" : 2 , "a" : 3 }`:        `{ "b" : 2,"a" : 3}`,
		`{"a":{"b":1,"b":2},"a":{"c":1,"c":[]}}`: `{"a":{"c":[]}}`,
		`{"a":1,"\u0061":2}`:                     `{"\u0061":2}`,
		`{"a":1e999}`:                            `{"a":1.7976931348623157e+308}`,
		`[-1E+999]`:                              `[-1.7976931348623157e+308]`,
		strings.Repeat("9", 400):                 `1.7976931348623157e+308`,
	} {
		got, is := Make([]byte(in))
		if !is || string(got) != want {
			t.Errorf("%q: %q %v", in, got, is)
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Errorf("%q: %q is not valid", in, got)
		}
	}
	for _, fine := range []string{
		`{}`, ` { } `, `[]`, `""`, `0`, `-0.0`, `1e-999`, `1e308`, `12345678901234567890`, `true`, `false`, `null`, `[true,false,null,[],{}]`,
		`{"a":"\ud83d\ude00"}`, `{"a":"😀\"\\u0000\\ud83d\/"}`, `{"a":"` + "\uFFFD\u2028" + `"}`, `{"a":1,"A":2,"b":{"a":1}}`, "\n{\"a\" :\t[1 , 2]}\r\n",
		`{"":1}`, `{"\"":1,"\\":2}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		got, is := Make([]byte(fine))
		if !is || string(got) != fine {
			t.Errorf("%.100q: %.100q %v", fine, got, is)
		}
	}
	for _, none := range []string{``, ` `, `{`, `{"a":`, `{"a":"`, `nul`, `{"a":"\x"}`, "{\"a\":\"\n\"}", `{} {}`, `NaN`, strings.Repeat("[", 20000)} {
		if got, is := Make([]byte(none)); is || string(got) != none {
			t.Errorf("%.100q: %.100q %v", none, got, is)
		}
	}
}

func FuzzMake(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d","a":1e999}`, "[\"\xff\", \"\\u0000\"]", `{"\ud83d":{"b":[{}]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, is := Make(bytes.Clone(raw))
		if is != json.Valid(raw) {
			t.Fatalf("%q: %v", raw, is)
		}
		if !is {
			return
		}
		var v any
		if err := json.Unmarshal(got, &v); err != nil || !utf8.Valid(got) {
			t.Fatalf("%q: %q: %v", raw, got, err)
		}
		if again, _ := Make(got); !bytes.Equal(again, got) {
			t.Fatalf("%q: %q, then %q", raw, got, again)
		}
	})
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{"": "", "ä😀": "ä😀", "a\x00b": "a\uFFFDb", "a\xffb": "a\uFFFDb"} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
