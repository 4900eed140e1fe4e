package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// canaries are keys in common shapes, and some unusual ones.
func canaries(t testing.TB) (keys []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/canaries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var key string
		if err := json.Unmarshal(line, &key); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

func keysOf(values ...string) *Keys {
	var names []string
	env := map[string]string{}
	for i, v := range values {
		n := fmt.Sprintf("K%d", i)
		names, env[n] = append(names, n), v
	}
	return New(names, func(n string) string { return env[n] })
}

// written are the ways to write value, made by other packages.
func written(value string) map[string]string {
	js, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(js))
	user := []byte("user:" + value)
	ways := map[string]string{
		"plain": value, "JSON": string(js), "JSON in JSON": string(twice), "query": url.QueryEscape(value), "path": url.PathEscape(value),
		"lower percent": lowerPercent(url.QueryEscape(value)), "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"base64": base64.StdEncoding.EncodeToString([]byte(value)), "raw base64": base64.RawStdEncoding.EncodeToString([]byte(value)),
		"base64url": base64.URLEncoding.EncodeToString([]byte(value)), "basic": base64.StdEncoding.EncodeToString(user), "basic 2": base64.StdEncoding.EncodeToString(append([]byte("x"), user...)),
		"line": base64.StdEncoding.EncodeToString([]byte(value + "\n")),
	}
	for way, s := range ways {
		if way == "basic" || strings.Contains(way, "base64") || strings.Contains(strings.ToLower(way), "hex") {
			ways[way+", wrapped"] = wrap(s, 20)
		}
	}
	return ways
}

func wrap(s string, n int) string {
	var b strings.Builder
	for i, r := range []byte(s) {
		if i > 0 && i%n == 0 {
			b.WriteByte('\n')
		}
		b.WriteByte(r)
	}
	return b.String()
}

// core is the part that must not be left of a text: its middle, without the letters that share bits in base64.
func core(s string) string {
	if len(s) < 12 {
		return s
	}
	return s[len(s)/4 : 3*len(s)/4]
}

// Sixty shapes of keys, in each encoding, leave nothing of the key.
func TestText_everyCanaryInEveryForm(t *testing.T) {
	all := canaries(t)
	if len(all) < 60 {
		t.Fatalf("only %d canaries", len(all))
	}
	for i, value := range all {
		k := keysOf(all[i])
		value = strings.TrimSpace(value)
		for way, s := range written(value) {
			if len(value) < 11 && strings.HasPrefix(way, "basic") {
				continue // the part of eight bytes in base64 may be too short
			}
			for _, text := range []string{s, "x" + s + "x", "key: " + s + "\n", `{"a":"` + s + `"}`} {
				got := k.Text(text)
				if !strings.Contains(got, "[redacted: K0]") || strings.Contains(got, core(s)) {
					t.Errorf("%q as %s in %q: %q", value, way, text, got)
				}
			}
		}
	}
}

func TestText_leavesOthersAlone(t *testing.T) {
	k := keysOf("sk-ant-0123456789", "", "short", "1234567", "   ")
	for _, s := range []string{"", "sk-ant-012345678", "short", "1234567 and so on", "sk-ant-\nsk-ant-", "[redacted: K1]", strings.Repeat("sk-ant-01234 ", 1000)} {
		if got := k.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	for _, none := range []*Keys{nil, {}, New(nil, nil), keysOf("")} {
		if got := none.Text("sk-ant-0123456789"); got != "sk-ant-0123456789" || none.Within(got) || none.Marked(got) != "" || none.Row(got) != got {
			t.Errorf("without keys: %q", got)
		}
		s := none.Stream()
		if got := string(s.Write([]byte("abc"))) + string(s.End()); got != "abc" {
			t.Errorf("a stream without keys: %q", got)
		}
	}
	if !k.Named("K1") || k.Named("K9") || keysOf("x").Named("") {
		t.Error("the variables are not those that were named")
	}
	if n, none := k.Marked("see [redacted: K0]"), k.Marked("see [redacted: K3], which is short"); n != "K0" || none != "" {
		t.Errorf("Marked: %q, %q", n, none)
	}
}

// Text that has been redacted is not redacted again, whoever wrote the mark.
func TestText_twiceIsOnce(t *testing.T) {
	for _, value := range canaries(t) {
		k := keysOf(value)
		once := k.Text("a " + value + " b")
		if twice := k.Text(once); twice != once {
			t.Errorf("%q: %q became %q", value, once, twice)
		}
	}
}

// Keys that share bytes leave no part of either, and the longest gives the name.
func TestText_overlapping(t *testing.T) {
	k := keysOf("abcdefgh12", "gh12345678", "abcdefgh12345678zz", "h1234567")
	for text, want := range map[string]string{
		"<abcdefgh12>": "<[redacted: K0]>", "<abcdefgh12345678>": "<[redacted: K0]>", "<abcdefgh12345678zz>": "<[redacted: K2]>",
		"<abcdefgh12345678z>": "<[redacted: K0]z>", "abcdefgh12abcdefgh12": "[redacted: K0][redacted: K0]",
		"abcdef\ngh12\r\n-": "[redacted: K0]\r\n-",
	} {
		if got := k.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// However a text is cut into pieces, the output is the same; no byte of a key appears before it is known to be none,
// and nothing is held back that can't begin a key.
func TestStream_anyPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, value := range canaries(t) {
		k := keysOf(value, "sk-other-0123456789")
		ways := written(strings.TrimSpace(value))
		var names []string
		for way := range ways {
			names = append(names, way)
		}
		slices.Sort(names)
		var text strings.Builder
		for _, way := range names {
			text.WriteString("sk-other-01 " + ways[way][:len(ways[way])/2] + " " + ways[way] + " sk-other-0123456789")
		}
		whole, want := text.String(), k.Text(text.String())
		for range 20 {
			s := k.Stream()
			var got strings.Builder
			for rest := []byte(whole); len(rest) > 0; {
				n := min(len(rest), 1+r.IntN(40))
				got.Write(s.Write(slices.Clone(rest[:n])))
				rest = rest[n:]
				if told := got.String(); !strings.HasPrefix(want, told) {
					t.Fatalf("%q: %q was told, want %q", value, told, want)
				}
			}
			got.Write(s.End())
			if got.String() != want {
				t.Fatalf("%q: %q, want %q", value, got.String(), want)
			}
		}
		if got, err := io.ReadAll(k.Reader(iotest.HalfReader(strings.NewReader(whole)))); err != nil || string(got) != want {
			t.Fatalf("%q read: %q, want %q, %v", value, got, want, err)
		}
	}
	s := keysOf("sk-ant-0123456789").Stream()
	for _, step := range []struct{ in, out string }{{"hello sk", "hello "}, {"y", "sky"}, {" s", " "}, {"k-ant-0123\n45678", ""}, {"9", ""}, {".", "[redacted: K0]."}, {"sk-ant", ""}} {
		if got := string(s.Write([]byte(step.in))); got != step.out {
			t.Errorf("after %q: %q, want %q", step.in, got, step.out)
		}
	}
	if got := string(s.End()); got != "sk-ant" || !s.Replaced() || s.Replaced() {
		t.Errorf("the end: %q", got)
	}
}

func TestRow_keepsJSONAndOwnWords(t *testing.T) {
	for value, rows := range map[string][][2]string{
		"completed":   {{"completed", "completed"}, {`{"outcome":"completed","text":"it completed"}`, `{"outcome":"completed","text":"it [redacted: K0]"}`}},
		"12345678":    {{`{"at":12345678,"t":"12345678"}`, `{"at":12345678,"t":"[redacted: K0]"}`}, {"12345678", "[redacted: K0]"}},
		`a"b\c"d<&>e`: {{`["a\"b\\c\"d\u003c\u0026\u003ee"]`, `["[redacted: K0]"]`}, {`{"a\"b\\c\"d<&>e":1}`, `{"[redacted: K0]":1}`}},
		`":{"x":"yy`:  {{`{"a":{"x":"yyy"}}`, `{"a":{"x":"yyy"}}`}}, // not a key's text: the structure around two others
		"sk-0123456":  {{`{broken sk-0123456`, `{broken [redacted: K0]`}, {`{"big":9007199254740993,"k":["sk-0123456"]}`, `{"big":9007199254740993,"k":["[redacted: K0]"]}`}},
	} {
		k := keysOf(value)
		for _, row := range rows {
			if got := k.Row(row[0]); got != row[1] {
				t.Errorf("%q: %q became %q, want %q", value, row[0], got, row[1])
			}
		}
	}
}

func TestJSON_everyString(t *testing.T) {
	k := keysOf("correct-horse")
	for text, want := range map[string]string{
		`{"body":"correct-horse","n":[1,"a correct-horse"]}`: `{"body":"[redacted: K0]","n":[1,"a [redacted: K0]"]}`,
		`{"body":"none"}`: `{"body":"none"}`, `correct-horse`: "[redacted: K0]",
	} {
		if got := k.JSON(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A key is found as shell tools write it, with their quoting.
func TestText_asShellsWriteIt(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	const script = `printf '%s\n' "$K0"; printf '%q\n' "$K0"; printf '%s' "$K0" | base64; printf '%s' "$K0" | base64 -w 7; printf 'user:%s' "$K0" | base64; printf '%s' "$K0" | od -An -tx1 | tr -d ' \n'; export -p | grep -a K0=; env | grep -a ^K0=`
	for _, value := range canaries(t) {
		if strings.ContainsAny(value, "\n\t\x01") || strings.IndexFunc(value, func(r rune) bool { return r > 127 }) >= 0 {
			continue
		}
		cmd := exec.Command(bash, "--norc", "-c", script)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "K0=" + value}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := keysOf(value).Text(string(out)); strings.Contains(got, core(value)) || strings.Count(got, "[redacted: K0]") < 6 {
			t.Errorf("%q: %s\nof %s", value, got, out)
		}
	}
}

func TestText_allocatesNothingWhereNothingIs(t *testing.T) {
	k := keysOf(canaries(t)...)
	text := strings.Repeat("nothing to be seen here; sk-no ", 1000)
	b, s := []byte(text), k.Stream()
	if n := testing.AllocsPerRun(10, func() { _ = k.Text(text); s.Write(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("the quick brown fox skips over the sky-blue dog 0123456789 \n", 1<<20/60+1)[:1<<20]
	ours := keysOf(canaries(b)[7:12]...)
	for name, k := range map[string]*Keys{"five-keys": ours, "many-keys": keysOf(canaries(b)...)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				k.Text(text)
			}
		})
	}
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(1 << 20)
		b.ReportAllocs()
		all := []byte(text)
		s := ours.Stream()
		for b.Loop() {
			for i := 0; i < len(all); i += 64 << 10 {
				s.Write(all[i:min(len(all), i+64<<10)])
			}
		}
	})
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			keysOf(canaries(b)[7:12]...)
		}
	})
}
