package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/themes"
	"fantail/ui/cells"
)

const retryDiff = `--- retry.go
+++ retry.go
@@ -18,10 +18,12 @@
 func (c *Client) Get(req *http.Request) (*http.Response, error) {
-	for i := 0; i < c.Retries; i++ {
+	var last error
+	for i := range c.Retries + 1 {
 		res, err := c.do(req)
 		if err == nil {
 			return res, nil
 		}
-		time.Sleep(c.Wait)
+		last = err
+		time.Sleep(Backoff(i, c.Wait))
 	}
-	return nil, errors.New("gave up")
+	return nil, fmt.Errorf("gave up after %d tries: %w", c.Retries+1, last)
 }
@@ -48,2 +50,3 @@
 // Close ends it.
+// It waits.
 func (c *Client) Close() {}
`

// drawDiff returns the plain rows of a diff, and fails when one is wider than it may be.
func drawDiff(t *testing.T, text string, width int) []string {
	t.Helper()
	r := NewDiff(text).Lay(width, theme(t, "dark"))
	rows := r.Rows(0, r.Len())
	for i, s := range rows {
		if n := cells.Width(s); n > width {
			t.Errorf("row %d has %d cells, want at most %d: %q", i, n, width, s)
		}
		rows[i] = strings.TrimRight(ansi.Strip(s), " ")
	}
	return rows
}

func TestDiff_rows(t *testing.T) {
	t.Parallel()
	want := `18   func (c *Client) Get(req *http.Request) (*http.Response, error) {
19 -     for i := 0; i < c.Retries; i++ {
19 +     var last error
20 +     for i := range c.Retries + 1 {
21           res, err := c.do(req)
22           if err == nil {
23               return res, nil
24           }
24 -         time.Sleep(c.Wait)
25 +         last = err
26 +         time.Sleep(Backoff(i, c.Wait))
27       }
26 -     return nil, errors.New("gave up")
28 +     return nil, fmt.Errorf("gave up after %d tries: %w", c.Retries+1, last)
29   }
⋯ 20 unchanged lines
50   // Close ends it.
51 + // It waits.
52   func (c *Client) Close() {}`
	if got := strings.Join(drawDiff(t, retryDiff, 100), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	d := NewDiff(retryDiff)
	if got := ansi.Strip(d.Counts(theme(t, "dark"))); d.Name != "retry.go" || got != "+6 −3" {
		t.Errorf("it is of %q and counts %q", d.Name, got)
	}
	r := d.Lay(100, theme(t, "dark"))
	if got := string([]byte{r.Sign(0), r.Sign(1), r.Sign(2), r.Sign(14)}); got != " -+ " {
		t.Errorf("the signs are %q", got)
	}
}

func TestDiff_sideBySide(t *testing.T) {
	t.Parallel()
	rows := drawDiff(t, retryDiff, 160)
	for i, want := range []string{
		"18   func (c *Client) Get(req *http.Request) (*http.Response, error) {",
		"19 -     for i := 0; i < c.Retries; i++ {",
		"",
		"20           res, err := c.do(req)",
	} {
		left, right, ok := strings.Cut(rows[i], "│")
		if !ok || strings.TrimRight(left, " ") != want || cells.Width(left) != 79 {
			t.Errorf("row %d has at the left %q, want %q", i, left, want)
		}
		if i == 2 && right != "20 +     for i := range c.Retries + 1 {" {
			t.Errorf("row %d has at the right %q", i, right)
		}
	}
	for _, s := range drawDiff(t, "--- a\n+++ a\n@@ -0,0 +1 @@\n+all of it is new\n", 160) {
		if strings.Contains(s, "│") {
			t.Errorf("a new file is shown beside nothing: %q", s)
		}
	}
}

// A row's bytes are the line's, whatever is in it and however narrow the row is.
func TestDiff_hidesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"a tab that indents":    {"\t\tx", "        x"},
		"a tab at the end":      {"x\t", "x␉  "},
		"a tab inside":          {"x\ty", "x␉  y"},
		"a tab after a space":   {"\t \tx", cells.Reveal("\t \tx")},
		"tabs alone":            {"\t", cells.Reveal("\t")},
		"an escape sequence":    {"a\x1b[2Kb", "a␛[2Kb"},
		"a carriage return":     {"evil\rgood", "evil␍good"},
		"a sign of direction":   {"a\u202eb", cells.Reveal("a\u202eb")},
		"what looks like heads": {"-- a", "-- a"},
		"bytes that are no text": {
			"\xff", `\xff`,
		},
	} {
		for _, sign := range []string{"+", "-", " "} {
			text := "--- f\n+++ f\n@@ -1 +1 @@\n" + sign + c.line + "\n"
			for _, width := range []int{1, 3, 9, 40} {
				got := ""
				d := NewDiff(text)
				r := d.Lay(width, theme(t, "dark"))
				for i, row := range r.rows {
					l := d.lines[row.left.line]
					piece := l.text[row.left.from:row.left.to]
					if got += piece; !strings.Contains(ansi.Strip(r.Row(i)), piece) {
						t.Errorf("%s: row %q lacks %q", name, ansi.Strip(r.Row(i)), piece)
					}
				}
				if got != c.want {
					t.Errorf("%s after %q at width %d: %q, want %q", name, sign, width, got, c.want)
				}
			}
		}
	}
}

func TestDiff_whitespaceThatChanged(t *testing.T) {
	t.Parallel()
	rows := drawDiff(t, "--- f\n+++ f\n@@ -1,2 +1,2 @@\n \tsame\n-\tx\n+    x\n", 40)
	if want := []string{"1       same", "1 -", "2 -", "2 +"}; rows[0] != want[0] || rows[1] != "2 - ␉   x" || rows[2] != "2 +     x" {
		t.Errorf("got %q", rows)
	}
}

func TestDiff_whenOdd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no diff at all":         {"nothing to see", "nothing to see"},
		"an unknown beginning":   {"--- f\n+++ f\n(too large to show: 5 bytes become 9)\n", "(too large to show: 5 bytes become 9)"},
		"edits without numbers":  {"--- f\n+++ f\n@@ @@\n---- a\n++++ b\n@@ @@\n-c\n", "- --- a\n+ +++ b\n⋯\n- c"},
		"no newline at the end":  {"--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "1 - a\n\\ No newline at end of file\n1 + a"},
		"a diff that was cut":    {"--- f\n+++ f\n@@ -1,9 +1,9 @@\n-a\n(900 more bytes of the diff are not shown)\n--- g\n+++ g\n@@ -1 +1 @@\n-c\n+d\n", "f +0 −1\n1 - a\n(900 more bytes of the diff are not shown)\ng +1 −1\n1 - c\n1 + d"},
		"a hunk it cannot read":  {"--- f\n+++ f\n@@ what @@\n-a\n", "@@ what @@\n- a"},
		"a head inside a hunk":   {"--- f\n+++ f\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n x\n", "1 - -- a\n1 + ++ b\n2   x"},
		"git's names":            {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +0,0 @@ func f\n-a\n", "diff --git a/x b/x\n⋯ func f\n1 - a"},
		"a model's, without any": {"- old\n+ new\n", "-  old\n+  new"},
	} {
		if got := strings.Join(drawDiff(t, c.text, 60), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestDiff_words(t *testing.T) {
	t.Parallel()
	d := NewDiff(retryDiff)
	d.Lay(100, theme(t, "dark")).Rows(0, 17)
	marked := func(i int) string {
		var out []string
		for _, w := range d.lines[i].words {
			out = append(out, d.lines[i].text[w.from:w.to])
		}
		return strings.Join(out, "|")
	}
	for i, want := range map[int]string{
		2:  "0; i <|; i++", // after the head and an unchanged line
		3:  "",
		4:  "range| 1",
		9:  "",
		11: "Backoff(i, |)",
		13: "errors.New",
		14: "fmt.Errorf| after %d tries: %w\", c.Retries+1, last",
	} {
		if got := marked(i); got != want {
			t.Errorf("%q: marked %q, want %q", d.lines[i].text, got, want)
		}
	}
}

func TestDiff_colours(t *testing.T) {
	t.Parallel()
	for _, name := range themes.Names() {
		for _, plain := range []bool{false, true} {
			th, err := themes.Load(name, plain)
			if err != nil {
				t.Fatal(err)
			}
			row := NewDiff(retryDiff).Lay(100, th).Row(3)
			tinted, words := strings.Contains(row, "\x1b[48;"), strings.Contains(row, "\x1b[4")
			if want := name != "ansi" && !plain; tinted != want {
				t.Errorf("%s, plain %v: tinted %v: %q", name, plain, tinted, row)
			}
			if !words {
				t.Errorf("%s, plain %v: no changed word is marked: %q", name, plain, row)
			}
			if want := name != "ansi" && !plain; want && !strings.HasSuffix(row, "\x1b[m") {
				t.Errorf("%s, plain %v: the row's style does not end with it: %q", name, plain, row)
			}
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(retryDiff, 80)
	f.Add("@@ -1 +1 @@\n-\t\n+ \n", 160)
	th := theme(f, "dark")
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(max(width, 1), 200)
		r := NewDiff(text).Lay(width, th)
		for _, s := range r.Rows(0, r.Len()) {
			if strings.ContainsAny(ansi.Strip(s), "\x1b\n\r\t\a") || width > 8 && cells.Width(s) > width {
				t.Errorf("row %q at width %d", s, width)
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	th := theme(b, "dark")
	var huge strings.Builder
	huge.WriteString("--- a.go\n+++ a.go\n@@ -1,1000 +1,1000 @@\n")
	for i := range 1000 {
		fmt.Fprintf(&huge, "-\tfmt.Println(\"line\", %d, err)\n", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&huge, "+\tslog.Info(\"line\", %d, err)\n", i)
	}
	for name, text := range map[string]string{"edit": retryDiff, "huge": huge.String()} {
		b.Run(name+"/first-screen", func(b *testing.B) {
			for b.Loop() {
				r := NewDiff(text).Lay(100, th)
				for i := range min(r.Len(), 30) {
					r.Row(i)
				}
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			r := NewDiff(text).Lay(100, th)
			for b.Loop() {
				for i := range min(r.Len(), 30) {
					r.Row(i)
				}
			}
		})
	}
}

// A diff in a message or an answer is drawn as everywhere.
func TestDiff_inMarkdown(t *testing.T) {
	t.Parallel()
	var got []string
	for _, b := range Split("Changed:\n\n```diff\n--- a/f.go\n+++ b/f.go\n@@ -7 +7 @@\n-x\n+y\n```\n") {
		for _, s := range NewRenderer().Render(b, 40, theme(t, "dark")) {
			got = append(got, strings.TrimRight(ansi.Strip(s), " "))
		}
	}
	if want := "Changed:\n  f.go +1 −1\n  7 - x\n  7 + y"; strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
