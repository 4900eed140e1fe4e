package markdown

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"fantail/.ci/long"
)

// shapes are the kinds of very long replies.
func shapes() map[string]string {
	return map[string]string{
		"tiny items": "- a\n", "paragraphs": "Some words.\n\n", "one paragraph": "Some words in a line of it.\n", "quotes": "> said\n\n", "headings": "# H\n",
		"rules": "---\n", "one line": "abcdefg ", "no space": "abcdefg", "blank": "\n", "spaces": "   \n", "characters": "日本語 €\n", "definitions": "[a]: http://x\n\n[a]\n\n",
		"html": "<div>\n\n", "table": "| c | d |\n",
	}
}

// A source too long to be a page has few blocks, whatever its content, and the same ones however it is split (torture
// T17, L4).
func TestSplit_aLongSourceHasFewBlocks(t *testing.T) {
	const size = 3 << 19
	r := rand.New(rand.NewPCG(1, 2))
	for name, unit := range shapes() {
		heads := []string{""}
		if len(unit) > 6 && long.Wanted() {
			heads = []string{"", "```go\n", "| a | b |\n|---|---|\n", "- "}
		}
		for _, head := range heads {
			t.Run(fmt.Sprintf("%s after %.3q", name, head), func(t *testing.T) {
				src := head + strings.Repeat(unit, size/len(unit))
				want := Split(src)
				var all strings.Builder
				raw := 0
				for _, b := range want {
					all.WriteString(b.Source)
					if b.Kind == Raw {
						raw++
					}
				}
				if all.String() != src {
					t.Fatal("the blocks are not the source")
				}
				if most := maxBlocks + size/maxBlock; len(want) > most {
					t.Errorf("%d blocks, at most %d", len(want), most)
				}
				if raw == 0 && name != "blank" && name != "spaces" {
					t.Error("all of it is markdown")
				}
				var s Stream
				for rest := src; rest != ""; {
					n := min(len(rest), 1+r.IntN(100_000))
					s.Write(rest[:n])
					rest = rest[n:]
				}
				if got := s.Close(); !reflect.DeepEqual(got, want) {
					t.Fatal("it has other blocks when it is streamed")
				}
			})
		}
	}
}

// Raw text has every line, cleaned and wrapped.
func TestRender_textAsItIs(t *testing.T) {
	b := Block{Source: "# not a heading\n\n\tx := 1 \x1b[31m\n- **no** item\n", Kind: Raw}
	got := strings.Join(NewRenderer().Render(b, 40, theme(t, "dark")), "\n")
	if want := "# not a heading\n\n    x := 1\n- **no** item"; strings.ReplaceAll(got, " \n", "\n") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
