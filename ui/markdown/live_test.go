package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// arriving are documents as models write them, with marks of all sorts.
var arriving = []string{
	"## Why the **test** `failed`\n\n`Get` stopped **one try too early**: `Retries: 3` made *three* attempts, not ***four***. See [the **notes**](https://go.dev/doc/a_b) and ~~this~~, ~96 tokens.\n\n### What I changed\n\n",
	"1. The loop runs `Retries + 1` times.\n2. **The wait** grows:\n   100 ms, **200 ms**\n   - nested `code`\n   - [x] done *now*\n10. last **bold**\n\n* star\n* **two**: `x`\n\n- [ ] open\n- closed\n\n",
	"| Case | **Before** | After |\n| --- | ---: | ---: |\n| server down | 3 `tries` | **4 tries**, 0.7 s |\n| `gave up` | | *context* |\n\nAfter **it**.\n",
	"text at once\n- a list **after** it\n> a quote with **bold and `code`**\n> more *words*\n\n~~~text\nin ~ a * fence\n~~~\nend\n\n```go\nfunc F() { x := 2 * 3 } // ** no mark\n```\nAnd ``a ` tick`` in code, \\*escaped\\*, 2 * 3 * 4, **日本語**です and **bold:** more.\n\nTitle `x`\n---\n\n***\n\nA line,\n**bold over\ntwo lines** and `code over\ntwo`.\n",
	"**Done.** All 3 tests pass.",
}

// drawn are the lines of a stream so far, without colours.
func drawn(r *Renderer, s *Stream, done []string, t *testing.T) (lines, kept []string) {
	th := theme(t, "dark")
	for _, b := range s.Done()[len(done):] {
		done = append(done, ansi.Strip(strings.Join(r.Render(b, 60, th), "\n")))
	}
	return append(done[:len(done):len(done)], ansi.Strip(strings.Join(r.Render(s.Live(), 60, th), "\n"))), done
}

// TestLive_closesMarks: however much of a document has come, it draws no mark as a mark that the whole document does not.
// In order, it shows all its words, but for those of a line of marks alone and for addresses.
func TestLive_closesMarks(t *testing.T) {
	r := NewRenderer()
	for _, doc := range arriving {
		whole := ""
		for _, b := range Split(doc) {
			whole += ansi.Strip(strings.Join(r.Render(b, 60, theme(t, "dark")), "\n")) + "\n"
		}
		var s Stream
		var done, lines []string
		for i, c := range doc {
			s.Write(string(c))
			lines, done = drawn(r, &s, done, t)
			got := strings.Join(lines, "\n")
			for _, mark := range []string{"**", "`", "~~", "# ", "|--", "]("} {
				if strings.Count(got, mark) > strings.Count(whole, mark) {
					t.Fatalf("%q draws %s:\n%s", doc[:i+len(string(c))], mark, got)
				}
			}
		}
		if got := strings.Join(lines, "\n"); !strings.HasSuffix(doc, "\n") && strings.TrimSpace(got) != strings.TrimSpace(whole) {
			t.Errorf("in the end it draws\n%s\nwant\n%s", got, whole)
		}
	}
}

// TestLive_keepsWords: Live drops marks and nothing else of a line whose beginning tells what it is.
func TestLive_keepsWords(t *testing.T) {
	for src, want := range map[string]string{
		"a **bo": "a **bo**", "a **bold*": "a **bold**", "a **bold**": "a **bold**", "a **": "a ", "a *i **b": "a *i **b***", "***x": "***x***",
		"`co": "`co`", "``a ` b": "``a ` b``", "``a``": "``a``", "x `": "x ", "**`": "", "**bold `co": "**bold `co`**",
		"**bold, ": "**bold,**", "2 * 3": "2 * 3", "~96": "~96", "~~gone": "~~gone~~", "[a](http://x": "[a](http://x)", "[a": "[a", `\*a`: `\*a`,
		"- item **b": "- item **b**", "> q `c": "> q `c`", "# H *e": "# H *e*", "- a `x\n\n  **b": "- a `x\n\n  **b**",
		"| a | **b": "| a | **b**\n|---|---|", "| a": "| a\n|---|", "| a | b |\n": "| a | b |\n|---|---|", "| a |\n|---|\n| `c": "| a |\n|---|\n| `c`",
		"42": "42", "text\n2": "text\n", "text\n- ": "text\n", "text\n===": "text\n", "-": "", "```": "", "```go": "", "```go\nx ** y": "```go\nx ** y", "```go\nx\n``": "```go\nx\n",
		"text\n<div": "text\n", "日**本": "日**本**",
	} {
		var s Stream
		s.Write(src)
		if got := s.Live().Source; got != want {
			t.Errorf("%q shows as %q, want %q", src, got, want)
		}
	}
}

// TestUnmarked: what was not rendered yet shows its words, and signs that are no marks.
func TestUnmarked(t *testing.T) {
	for src, want := range map[string]string{"**bo": "bo", "ld** and `co": "ld and co", "2 * 3 ~5": "2 * 3 ~5", "| a | b": " a  b", "## H": " H", "C# is": "C# is", "plain": "plain"} {
		if got := Unmarked(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// FuzzLive: whatever comes, Live fails on nothing, and draws lines that fit.
func FuzzLive(f *testing.F) {
	for _, doc := range arriving {
		f.Add(doc, 7)
	}
	f.Add("[**](\n`~*|", 1)
	f.Fuzz(func(t *testing.T, doc string, n int) {
		var s Stream
		n = 1 + max(n, -n)%40
		for rest := doc; rest != "" && len(doc) < 2000; {
			k := min(len(rest), n)
			s.Write(rest[:k])
			rest = rest[k:]
			for _, l := range NewRenderer().Render(s.Live(), 40, theme(t, "dark")) {
				if cells.Width(l) > 40 {
					t.Fatalf("%q draws a line of %d cells", doc, cells.Width(l))
				}
			}
		}
	})
}

// BenchmarkLive is one more token of a paragraph of which so much has come.
func BenchmarkLive(b *testing.B) {
	for name, n := range map[string]int{"200B": 4, "2KB": 40, "20KB": 400} {
		b.Run(name, func(b *testing.B) {
			var s Stream
			s.Write(strings.Repeat("some **bold** words and `code` that follow ", n))
			b.ReportAllocs()
			for b.Loop() {
				t := s
				t.buf = append(t.buf[:len(t.buf):len(t.buf)], " to"...)
				t.Live()
			}
		})
	}
}
