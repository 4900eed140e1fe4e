package instructions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// hash returns a short hash of a file's text.
func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:6])
}

// least is how many bytes of a cut file are still useful.
const least = 512

// Fit cuts files so that their texts have at most that many bytes together. The workspace's own have priority, the
// nearest first, then the user's, then rules. The order of the files stays.
func Fit(files []File, room int) (fit []File, notes []Note) {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	rank := func(f File) int {
		switch {
		case f.Rule:
			return 2
		case f.Kind == User:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ra, rb := rank(files[a]), rank(files[b])
		if ra == 0 && rb == 0 {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(ra, rb)
	})
	texts := make([]string, len(files))
	for _, i := range order {
		f := files[i]
		switch {
		case len(f.Text) <= room:
			texts[i] = f.Text
		case room >= least:
			head := string(trim([]byte(f.Text[:room])))
			if n := strings.LastIndexByte(head, '\n'); n > room/2 {
				head = head[:n]
			}
			texts[i] = head + "\n[cut here: there is no room for more]"
			notes = append(notes, Note{Name: f.Name, Why: Cut, Text: "cut: all together have too many bytes"})
		default:
			notes = append(notes, Note{Name: f.Name, Why: Cut, Text: "left out: all together have too many bytes"})
		}
		room = max(0, room-len(texts[i]))
	}
	for i, f := range files {
		if f.Text = texts[i]; f.Text != "" {
			fit = append(fit, f)
		}
	}
	return fit, notes
}

// Render writes files for a model. A file's text can't end the marks around it.
func Render(files []File) string {
	all := sha256.New()
	for _, f := range files {
		fmt.Fprintf(all, "%d %s", len(f.Text), f.Text)
	}
	mark := hex.EncodeToString(all.Sum(nil)[:4])
	var b strings.Builder
	for i, f := range files {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "<file name=%q of=%q", f.Name, f.Kind)
		if f.By != "" {
			fmt.Fprintf(&b, " imported-by=%q", f.By)
		}
		if f.Paths != nil {
			fmt.Fprintf(&b, " speaks-of=%q", strings.Join(f.Paths, ", "))
		}
		fmt.Fprintf(&b, " mark=%q>\n%s\n</file mark=%q>", mark, f.Text, mark)
	}
	return b.String()
}
