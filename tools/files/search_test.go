package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// The slowest patterns on the longest lines: a search that would take more than half a minute ends when it is
// cancelled.
func TestFile_whenThePatternIsSlow_stops(t *testing.T) {
	q := SearchQuery{Pattern: `(\pL?\pL?\pL?){300}x`, Limit: 10}
	if err := q.Compile(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"one long line": strings.Repeat("a", 1<<20), "short lines": strings.Repeat(strings.Repeat("a", 4000)+"\n", 300),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := q.File(ctx, strings.NewReader(text), "a.txt", nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFile_missed: a long line shows the match, and the result names files that were not searched.
func TestFile_missed(t *testing.T) {
	mega := strings.Repeat("a", maxLine)
	utf16 := "\xff\xfeN\x00E\x00"
	for _, c := range []struct{ name, text, shows, misses string }{
		{"middle", strings.Repeat("a", 5000) + "NEEDLE" + strings.Repeat("b", 5000), "f:1:[…] " + strings.Repeat("a", ahead) + "NEEDLE" + strings.Repeat("b", SearchLineWidth-ahead-6) + " […]\n", ""},
		{"beginning", "NEEDLE" + strings.Repeat("b", 5000), "f:1:NEEDLE" + strings.Repeat("b", SearchLineWidth-6) + " […]\n", ""},
		{"end", strings.Repeat("a", 5000) + "NEEDLE", "f:1:[…] " + strings.Repeat("a", SearchLineWidth-6) + "NEEDLE\n", ""},
		{"short", "a NEEDLE b", "f:1:a NEEDLE b\n", ""},
		{"characters cut", strings.Repeat("é", 3000) + "NEEDLE" + strings.Repeat("é", 3000), "NEEDLE", ""},
		{"behind the first MiB", mega + "NEEDLE", "", "f (of line 1 only the first of 2 MiB)"},
		{"within it", "NEEDLE" + mega, "f:1:NEEDLE", ""},
		{"a second such line", mega + "x\n" + mega + "x\nNEEDLE\n", "f:3:NEEDLE\n", "f (of line 1 only the first of 2 MiB)"},
		{"UTF-16", utf16, "", "f (UTF-16 text (convert it with iconv))"},
		{"NUL", "a\x00NEEDLE", "", "1 binary file"},
		{"nothing", "", "", ""},
	} {
		q := SearchQuery{Pattern: "NEEDLE", Limit: 10}
		if err := q.Compile(); err != nil {
			t.Fatal(err)
		}
		h, err := q.File(t.Context(), strings.NewReader(c.text), "f", nil)
		if err != nil || h.Missed != c.misses || !strings.Contains(h.Text, c.shows) || c.shows == "" && h.Text != "" || !utf8.ValidString(h.Text) {
			t.Errorf("%s: %v, shown %q, missed %q", c.name, err, h.Text, h.Missed)
		}
	}
}

// TestFound_misses: many files are counted, the first few named.
func TestFound_misses(t *testing.T) {
	f := &found{query: &SearchQuery{}}
	for i := range maxMissed + 2 {
		f.miss(string(rune('a'+i)), "why")
	}
	f.binary = 3
	if got := f.misses(); got != "a (why), b (why), c (why), d (why), e (why), 2 more such files, 3 binary files" {
		t.Error(got)
	}
}

func TestFile_findsEachLineInALargeFile(t *testing.T) {
	var text, want strings.Builder
	for n := 1; n <= 3000; n++ {
		line := strings.Repeat("x", n*37%200)
		if n%500 == 0 {
			line = strings.Repeat("y", 70<<10) // more than is read at once
		}
		if n%7 == 0 {
			line = "needle" + fmt.Sprint(n%10)
			fmt.Fprintf(&want, "f:%d:%s\n", n, line)
		} else if n%11 == 0 {
			line += "needle" // only the beginning of the pattern
		}
		text.WriteString(line + "\r\n")
	}
	for _, pattern := range []string{"needle[0-9]$", "^needle[0-9]", "(?i)NEEDLE[0-9]"} {
		q := SearchQuery{Pattern: pattern, Limit: 3000}
		if err := q.Compile(); err != nil {
			t.Fatal(err)
		}
		got, err := q.File(t.Context(), strings.NewReader(text.String()), "f", nil)
		if err != nil || got.Text != want.String() {
			t.Errorf("%s: %d matches and %v, want the %d lines of the text", pattern, got.Matches, err, strings.Count(want.String(), "\n"))
		}
	}
}
