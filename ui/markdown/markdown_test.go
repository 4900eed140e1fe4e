package markdown

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"fantail/.ci/long"
	"fantail/themes"
	"fantail/ui/cells"
)

func theme(t testing.TB, name string) *themes.Theme {
	t.Helper()
	th, err := themes.Load(name, false)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func sample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// reply returns a markdown reply of about n bytes.
func reply(t testing.TB, n int) string {
	s := sample(t)
	return strings.Repeat(s+"\n", n/len(s)+1)
}

// sources returns sources of all sorts, many of them odd.
func source(r *rand.Rand) string {
	parts := []string{
		"# Head\n", "text\n", "text", " ", "\n", "\n\n", "- item\n", "  more\n", "1. one\n", "2. two\n", "10) ten\n", "```go\n", "```\n", "~~~\n", "    code\n",
		"> quote\n", ">\n", "| a | b |\n", "|---|---|\n", "---\n", "===\n", "***\n", "<div>\n", "<!-- c\n", "-->\n", "[a]: http://x\n", "[a] [b][a]\n",
		"**bold** `code`", "\t", "\r\n", "\x1b[31m", "日本", "&#27;[8m", "&amp;", "\\", strings.Repeat("long ", 700), strings.Repeat("x", 5000), strings.Repeat("line\n", 600), strings.Repeat("| c | d |\n", 900), strings.Repeat("- i\n", 300),
	}
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestSplit_losesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3_000 {
		src := source(r)
		var got strings.Builder
		for _, b := range Split(src) {
			if b.Source == "" {
				t.Fatalf("Split(%q) has an empty block", src)
			}
			if len(b.Source) > maxTable+maxLine+4 {
				t.Fatalf("Split has a block of %d bytes", len(b.Source))
			}
			got.WriteString(b.Source)
		}
		if got.String() != src {
			t.Fatalf("Split(%q) holds %q", src, got.String())
		}
	}
}

func TestStream_isSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range long.Times(300, 1_500) {
		src := source(r)
		want := Split(src)
		var s Stream
		done := 0
		for rest := src; rest != ""; {
			n := min(len(rest), 1+r.IntN(1+r.IntN(400)))
			s.Write(rest[:n])
			rest = rest[n:]
			if len(s.Done()) < done {
				t.Fatalf("Done shrinks from %d to %d", done, len(s.Done()))
			}
			done = len(s.Done())
			tail, line := s.Tail()
			if !strings.HasSuffix(src[:len(src)-len(rest)], tail.Source+line) {
				t.Fatalf("Tail is %q and %q", tail.Source, line)
			}
		}
		if got := s.Close(); !reflect.DeepEqual(got, want) {
			t.Fatalf("the stream of %q has the blocks\n%+v\nwant\n%+v", src, got, want)
		}
	}
}

// Every top-level node of a source without oversized ones is in one block.
func TestSplit_atTopLevelNodes(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	src := sample(t)
	doc := md.Parser().Parse(text.NewReader([]byte(src)))
	var ends []int // of the blocks
	at := 0
	for _, b := range Split(src) {
		at += len(b.Source)
		ends = append(ends, at)
	}
	nodes := 0
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Lines() == nil || n.Lines().Len() == 0 || n.Kind().String() == "List" {
			continue
		}
		nodes++
		from, to := n.Lines().At(0).Start, n.Lines().At(n.Lines().Len()-1).Stop
		for _, e := range ends {
			if from < e && e < to {
				t.Errorf("a %s at %d to %d is cut at %d", n.Kind(), from, to, e)
			}
		}
	}
	if nodes < 8 {
		t.Errorf("the sample has only %d nodes with lines", nodes)
	}
	kinds := map[Kind]int{}
	for _, b := range Split(src) {
		kinds[b.Kind]++
	}
	for k, n := range map[Kind]int{Heading: 3, Code: 3, Quote: 1, Item: 6, Table: 1, Rule: 1} {
		if kinds[k] != n {
			t.Errorf("the sample has %d blocks of kind %d, want %d", kinds[k], k, n)
		}
	}
}

func plain(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

// render renders a whole source.
func render(t testing.TB, r *Renderer, src string, width int, th *themes.Theme) []string {
	var out []string
	for _, b := range Split(src) {
		lines := r.Render(b, width, th)
		if b.Gap && len(out) > 0 && len(lines) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func TestSplit_whenOversized(t *testing.T) {
	r, th := NewRenderer(), theme(t, "dark")
	code := "```go\n" + strings.Repeat("x := \"a string\" // and a comment\n\n", 300) + "```\n"
	if n := len(Split(code)); n < 4 {
		t.Errorf("10 KB of code are %d blocks", n)
	}
	lines := render(t, r, code, 80, th)
	if len(lines) != 599 && len(lines) != 600 {
		t.Errorf("600 lines of code are %d lines", len(lines))
	}
	for i, l := range lines {
		if i%2 == 0 && (ansi.Strip(l) != `  x := "a string" // and a comment` || !strings.Contains(l, "\x1b[")) {
			t.Fatalf("line %d of the code is %q", i, l)
		}
	}

	table := "| Name | Value |\n|---|---|\n" + strings.Repeat("| a name | a value |\n", 800)
	bs := Split(table)
	if len(bs) < 2 {
		t.Fatalf("16 KB of a table are %d blocks", len(bs))
	}
	for i, b := range bs {
		if got := plain(r.Render(b, 60, th)); !strings.HasPrefix(strings.TrimSpace(got), "Name") {
			t.Errorf("part %d of the table begins %.40q", i, got)
		}
	}

	var list strings.Builder
	for i := range 500 {
		fmt.Fprintf(&list, "1. item %d with some words\n", i+1)
	}
	lines = render(t, r, list.String(), 80, th)
	for i, l := range lines {
		if want := fmt.Sprintf("%d. item %d with some words", i+1, i+1); ansi.Strip(l) != want {
			t.Fatalf("line %d of the list is %q, want %q", i, ansi.Strip(l), want)
		}
	}

	item := "1. Do\n   ```sh\n" + strings.Repeat("   echo hello\n", 400) + "   ```\n   done\n2. Next\n"
	got := plain(render(t, r, item, 80, th))
	if n := strings.Count(got, "\n     echo hello"); n != 400 {
		t.Errorf("%d of the 400 lines of code in an item are code", n)
	}
	if !strings.HasSuffix(got, "\n   done\n2. Next") {
		t.Errorf("the list ends %q", got[len(got)-40:])
	}
	if strings.Contains(got, "```") {
		t.Error("a fence shows")
	}
}

func TestDefinitions_travel(t *testing.T) {
	src := "See [ref] now.\n\n- or [That One][REF]\n\n> [no] [ref]: not one\n\n[ref]: https://example.com/x 'T'\n"
	r, th := NewRenderer(), theme(t, "dark")
	got := plain(render(t, r, src, 80, th))
	if strings.Count(got, "https://example.com/x") < 2 {
		t.Errorf("the links are not resolved:\n%s", got)
	}
	for _, b := range Split("[a] and [b]\n\n[a]: http://a\n[b]: http://b\n[c]: http://c\n")[:1] {
		if b.defs != "[a]: http://a\n[b]: http://b\n" {
			t.Errorf("the definitions %q travel", b.defs)
		}
	}
}

// check reports sequences in rendered lines that must not reach a terminal.
func check(lines []string, width int) error {
	for _, l := range lines {
		if w := cells.Width(l); w > width {
			return fmt.Errorf("%q has %d cells, want %d", l, w, width)
		}
		style := false
		for rest := l; rest != ""; {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				i = len(rest)
			}
			if clean := cells.Clean(rest[:i]); clean != rest[:i] || strings.Contains(clean, "\n") {
				return fmt.Errorf("%q is not clean", l)
			}
			if rest = rest[i:]; rest == "" {
				break
			}
			end := strings.IndexByte(rest, 'm')
			if !strings.HasPrefix(rest, "\x1b[") || end < 0 || strings.Trim(rest[2:end], "0123456789;:") != "" {
				return fmt.Errorf("%q holds another sequence than SGR", l)
			}
			for _, p := range strings.Split(rest[2:end], ";") {
				if p == "5" && !strings.Contains(rest[:end], "8;5") || p == "8" && !strings.Contains(rest[:end], "8;2") {
					return fmt.Errorf("%q conceals or blinks", l)
				}
			}
			style = rest[:end] != "\x1b["
			rest = rest[end+1:]
		}
		if style {
			return fmt.Errorf("%q leaves its style on", l)
		}
	}
	return nil
}

var hostile = []string{
	"&#27;]52;c;eA==&#7; &#x1b;[8mhidden", "`&#27;[8m`", "&#155;31m &#x202e;abc", "&shy;&zwj;&lrm;&ZeroWidthSpace;&NewLine;x&Tab;y",
	"[x](javascript:alert(1))", "[good.example](https://evil.example)", "<https://a.example/\x1b]52;c;x\a>", "[a](http://x/&#27;[2J)", "![i](http://x/&#x9b;)",
	"# \x1b[2J head", "- \x1b]0;t\a item", "| \x1b[8ma | b |\n|---|---|\n| &#27;[5m | c |", "```\x1b]52;c;x\a\n\x1b[2J\n```", "> \x1b[8m\n> x", "&#27", "&#x1b", "&amp;#27;[8m", "&amp;amp;#27;",
	"<script>\x1b[8m</script>", "~~&#27;[31m~~", "**&#x1b;[8m**", "http://x.example/&#27;[8m", "[a]: http://x/\x1b[8m\n\n[a]", strings.Repeat("> ", 200) + "deep", strings.Repeat("- ", 200) + "deep", strings.Repeat("*", 3000), strings.Repeat("[", 2000), "`" + strings.Repeat("``", 900),
	"|a|\n|-|\n|b|c|d|e|\n", "| a | b |\n|---|---|\n|\n||||||\n", "\x00\xff", "日本" + strings.Repeat("語", 900), "&;&;&&&", "- [x] &#27;[8m", "1. \n2.\n3. x", "&lt;&gt;&quot;&nbsp;x", "a  \nb\\\nc",
}

func TestRender_isSafe(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	srcs := append([]string{sample(t)}, hostile...)
	for range long.Times(12, 60) {
		srcs = append(srcs, source(rnd))
	}
	for range long.Times(20, 100) {
		srcs = append(srcs, hostile[rnd.IntN(len(hostile))]+hostile[rnd.IntN(len(hostile))])
	}
	for _, name := range themes.Names() {
		r, th := NewRenderer(), theme(t, name)
		for _, src := range srcs {
			if len(src) > 6_000 {
				continue
			}
			for _, width := range []int{1, 7, 24, 80} {
				for _, b := range Split(src) {
					if err := check(r.Render(b, width, th), width); err != nil {
						t.Fatalf("%s at %d: block %.200q: %v", name, width, b.Source, err)
					}
					if err := check(Plain(b, width), width); err != nil {
						t.Fatalf("plain at %d: block %.200q: %v", width, b.Source, err)
					}
				}
			}
		}
	}
}

func TestRender_keepsText(t *testing.T) {
	r, th := NewRenderer(), theme(t, "dark")
	for src, want := range map[string]string{
		"a Vec<String> and <b>x</b>":       "a Vec<String> and <b>x</b>",
		"a &lt; b &amp; c &copy;":          "a < b & c ©",
		"write `&lt;` for it":              "write &lt; for it",
		"`a && b`":                         "a && b",
		"&#27;[31m stays":                  "&#27;[31m stays",
		"[label](https://x.example/y)":     "label https://x.example/y",
		"https://x.example/y":              "https://x.example/y",
		"one  \ntwo":                       "one\ntwo",
		"one\\\ntwo":                       "one\ntwo",
		"one\ntwo":                         "one two",
		"# A `b` c":                        "A b c",
		"~~gone~~":                         "gone",
		"- [ ] todo":                       "[ ] todo",
		"- a\n- b\n\n- c":                  "• a\n• b\n\n• c",
		"3. a\n4. b":                       "3. a\n4. b",
		"```\ncode\n```":                   "  code",
		"1. x\n   ```go\n   \ty()\n   ```": "1. x\n\n         y()",
		"<div>\n<b>x</b>":                  "  <div>\n  <b>x</b>",
		"> a\n>\n> b":                      "│ a\n│\n│ b",
		"_\x1b[31mred_ \x00":               "red ␀",
	} {
		if got := plain(render(t, r, src, 60, th)); got != want {
			t.Errorf("%q shows as %q, want %q", src, got, want)
		}
	}
}

// Text that skips Glamour looks as Glamour would render it.
func TestOrdinary_isGlamour(t *testing.T) {
	r, th := NewRenderer(), theme(t, "dark")
	src := "A plain paragraph, with some words (and more): enough to wrap; twice, even - here.\nSecond line!"
	if !ordinary(src) {
		t.Fatal("a plain paragraph is not ordinary")
	}
	want := render(t, r, src, 40, th)
	if got := r.glamour(src, "", 40); !reflect.DeepEqual(got, want) {
		t.Errorf("Glamour: %q, want %q", got, want)
	}
	for _, src := range hostile {
		if ordinary(cells.Clean(src)) && strings.ContainsAny(src, "*_`[<&") {
			t.Errorf("%q is not ordinary", src)
		}
	}
}

func TestSample(t *testing.T) {
	for _, width := range []int{40, 80} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			golden.RequireEqual(t, []byte(plain(render(t, NewRenderer(), sample(t), width, theme(t, "dark")))+"\n"))
		})
	}
}

func TestRenderer_followsTheTheme(t *testing.T) {
	r := NewRenderer()
	b := Split("```go\nfunc f() {}\n```\n")[0]
	dark := r.Render(b, 40, theme(t, "dark"))
	light := r.Render(b, 40, theme(t, "light"))
	if reflect.DeepEqual(dark, light) {
		t.Error("code looks the same in the dark and the light theme")
	}
	none, err := themes.Load("dark", true)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Render(b, 40, none)[0]; got != "  func f() {}" {
		t.Errorf("without colours code is %q", got)
	}
}

func TestRenderer_whenConcurrent(t *testing.T) {
	r, th := NewRenderer(), theme(t, "dark")
	bs := Split(sample(t))
	want := make([][]string, len(bs))
	for i, b := range bs {
		want[i] = r.Render(b, 50, th)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, b := range bs {
				if got := r.Render(b, 50, th); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("block %d: %q, want %q", i, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func FuzzStream(f *testing.F) {
	f.Add(sample(f), uint8(7))
	for _, s := range hostile {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, src string, step uint8) {
		want := Split(src)
		var s Stream
		var all strings.Builder
		for rest := src; rest != ""; {
			n := min(len(rest), 1+int(step))
			s.Write(rest[:n])
			rest = rest[n:]
		}
		got := s.Close()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("stream: %+v, split: %+v", got, want)
		}
		for _, b := range got {
			all.WriteString(b.Source)
		}
		if all.String() != src {
			t.Fatalf("%q is split into %q", src, all.String())
		}
	})
}

func BenchmarkSplit80KB(b *testing.B) {
	src := reply(b, 80<<10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Split(src)
	}
}

func BenchmarkStream80KB(b *testing.B) {
	src := reply(b, 80<<10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		var s Stream
		for i := 0; i < len(src); i += 4 {
			s.Write(src[i:min(i+4, len(src))])
		}
		s.Close()
	}
}

func BenchmarkRenderSample(b *testing.B) {
	src := sample(b)
	r, th := NewRenderer(), theme(b, "dark")
	bs := Split(src)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		for _, bl := range bs {
			r.Render(bl, 100, th)
		}
	}
}

func BenchmarkNewGlamour(b *testing.B) {
	th := theme(b, "dark")
	for b.Loop() {
		newGlamour(th, 100)
	}
}
