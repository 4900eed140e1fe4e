package inbox

import (
	"strings"
	"testing"
)

// TestUnmarked: a line that shows the first words of an answer shows no mark of Markdown, and keeps signs that are none.
func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{
		"**Done.** All `go test` pass":                                "Done. All go test pass",
		"## Why the *test* failed\n\n`Get` ended":                     "Why the test failed Get ended",
		"Two are open:\n\n- `a.go:9` — **one**\n* two\n  + [ ] three": "Two are open: - a.go:9 — one - two - three",
		"- **first**\n- second":                                       "first - second",
		"> quoted **`x`**":                                            "quoted x",
		"see [the **notes**](https://a.b/c_(d)":                       "see [the notes](https://a.b/c_(d)",
		"see [the **notes**](https://a.b/c) now, ![logo](x.png)":      "see the notes now, logo",
		"| Case | After |\n| --- | ---: |\n| down | **4** |":          "| Case | After | | down | 4 |",
		"Title\n=====\ntext\n\n---\n\n```go\nx := **p\n```":           "Title text x := **p",
		"***both*** and ~~gone~~":                                     "both and gone",
		"rm *.go *.md, 2**3**4, a*b*c, __init__.py, f[i](x), 5 * 6":   "rm *.go *.md, 2**3**4, a*b*c, __init__.py, f[i](x), 5 * 6",
		"``a ` b`` and `**p`":                                         "a ` b and **p",
		"open **bold and `code":                                       "open **bold and `code",
		"**Ergebnis:** läuft, **日本語**です":                              "Ergebnis: läuft, 日本語です",
		"--- FAIL: TestX (0.00s)":                                     "--- FAIL: TestX (0.00s)",
		"-v and --all":                                                "-v and --all",
		"#12 is fixed":                                                "#12 is fixed",
		strings.Repeat("é", 3000):                                     strings.Repeat("é", 100),
		strings.Repeat("\n", 5000) + "**late**":                       "late",
		"\x80" + strings.Repeat("\x80", 3000):                         strings.Repeat("\uFFFD", 100),
	} {
		if got := Line(text); got != want {
			t.Errorf("%.60q shows as %q, want %q", text, got, want)
		}
	}
	m := Message{Subject: "**Phase 1** is `done`", Body: "x"}
	if got, want := m.Gist(), "Phase 1 is done"; got != want {
		t.Errorf("the subject shows as %q, want %q", got, want)
	}
}
