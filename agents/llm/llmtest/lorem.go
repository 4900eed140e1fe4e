package llmtest

import (
	"strings"
	"unicode/utf8"
)

// tokenSize is about how many bytes a model's token has.
const tokenSize = 5

// Tokens cuts text into pieces like a model's: a word with the space before it,
// long words in parts. Joined they are the text.
func Tokens(text string) []string {
	var all []string
	begin, n := 0, 0
	for i, r := range text {
		space := r == ' ' || r == '\n'
		if i > begin && (space || n >= tokenSize) {
			all = append(all, text[begin:i])
			begin, n = i, 0
		}
		n += utf8.RuneLen(r)
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}

var loremLines = []string{
	"## Where the time goes",
	"The queue is *drained* in order, and each item is **marked** before it is shown; see `inbox.Take` for why.",
	"- first, the row is read",
	"- then the mark and the entry go down in one go",
	"- last, the bell is rung: nobody waits for it",
	"```go\nfor _, m := range due {\n\tif err := take(tx, m); err != nil {\n\t\treturn err\n\t}\n}\n```",
	"A reader who comes late finds the same rows, so nothing is lost — not even when the power fails (größer, 日本語, 🙂).",
	"| column | meaning |\n|---|---|\n| seq | order |\n| at | for people |",
	"1. open the file\n2. lock it\n3. write, sync, close",
	"> What is acknowledged is on disk.",
}

// Lorem is markdown of n tokens, the same for the same n.
func Lorem(n int) string {
	page := strings.Join(loremLines, "\n\n") + "\n\n"
	pages := n/len(Tokens(page)) + 2
	return strings.Join(Tokens(strings.Repeat(page, pages))[:max(n, 0)], "")
}
