package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostPairs  = 400    // removed lines times added ones that are compared
	mostTokens = 40_000 // tokens times tokens that are compared
	alike      = 0.4    // how much two lines must share to be one line that changed
)

// markRun finds the changed words in a run of changed lines: it pairs removed lines with the added ones that they most
// likely became, in order.
func markRun(lines []diffLine) {
	var old, now []int
	for i, l := range lines {
		if l.sign == '-' {
			old = append(old, i)
		} else {
			now = append(now, i)
		}
	}
	if len(old) == 0 || len(now) == 0 || len(old)*len(now) > mostPairs {
		return
	}
	a, b := make([][]string, len(old)), make([][]string, len(now))
	for i, at := range old {
		a[i] = tokensOf(lines[at].text)
	}
	for i, at := range now {
		b[i] = tokensOf(lines[at].text)
	}
	for _, p := range pairUp(a, b) {
		lines[old[p[0]]].words, lines[now[p[1]]].words = changedWords(a[p[0]], b[p[1]])
	}
}

// pairUp returns the pairs of lines with the largest sum of likeness.
func pairUp(a, b [][]string) [][2]int {
	n, m := len(a), len(b)
	same := make([]float64, n*m)
	best := make([]float64, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			s := likeness(a[i], b[j])
			same[i*m+j] = s
			take := 0.0
			if s >= alike {
				take = s + best[(i+1)*(m+1)+j+1]
			}
			best[i*(m+1)+j] = max(take, best[(i+1)*(m+1)+j], best[i*(m+1)+j+1])
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < n && j < m; {
		here := best[i*(m+1)+j]
		switch s := same[i*m+j]; {
		case s >= alike && here == s+best[(i+1)*(m+1)+j+1]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case here == best[(i+1)*(m+1)+j]:
			i++
		default:
			j++
		}
	}
	return out
}

// likeness is how much of two lines is the same at their ends, or anywhere as words: 0 to 1.
func likeness(a, b []string) float64 {
	count := map[string]int{}
	total, shared := 0, 0
	for _, t := range a {
		if !blankToken(t) {
			count[t]++
			total += len(t)
		}
	}
	for _, t := range b {
		if !blankToken(t) {
			total += len(t)
			if count[t] > 0 {
				count[t]--
				shared += 2 * len(t)
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(shared) / float64(total)
}

func blankToken(t string) bool { return strings.TrimSpace(t) == "" }

// tokensOf splits a line into words, runs of spaces, and single signs.
func tokensOf(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		from := i
		first := kindOf(s, &i)
		for first != 0 && i < len(s) {
			next := i
			if kindOf(s, &next) != first {
				break
			}
			i = next
		}
		out = append(out, s[from:i])
	}
	return out
}

// kindOf returns the kind of the character at *i and moves *i past it: 1 for a word's, 2 for a space, 0 for any other,
// which is a part by itself.
func kindOf(s string, i *int) int {
	r, n := utf8.DecodeRuneInString(s[*i:])
	*i += n
	switch {
	case r == ' ':
		return 2
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return 1
	}
	return 0
}

// changedWords returns what of two lines the other does not have. Lines with little in common have none.
func changedWords(a, b []string) (old, now []span) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	inA, inB := common(a[head:len(a)-tail], b[head:len(b)-tail])
	return spansOf(a, head, inA), spansOf(b, head, inB)
}

// common returns which tokens of each side belong to a longest common subsequence; none if there are too many.
func common(a, b []string) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	n, m := len(a), len(b)
	if n*m > mostTokens {
		return inA, inB
	}
	best := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*(m+1)+j] = best[(i+1)*(m+1)+j+1] + 1
			} else {
				best[i*(m+1)+j] = max(best[(i+1)*(m+1)+j], best[i*(m+1)+j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case best[(i+1)*(m+1)+j] >= best[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// spansOf returns the bytes of the tokens after the first head ones that are not the same. A space or a single sign
// between two of them is marked too, so that the eye sees one change.
func spansOf(tokens []string, head int, same []bool) []span {
	at := 0
	for _, t := range tokens[:head] {
		at += len(t)
	}
	var out []span
	gap := 0 // tokens since the last span
	for i, s := range same {
		t := tokens[head+i]
		switch n := len(out); {
		case s:
			if gap++; len(t) > 1 && !blankToken(t) {
				gap = 2
			}
		case n > 0 && gap <= 1:
			out[n-1].to, gap = at+len(t), 0
		default:
			out, gap = append(out, span{at, at + len(t)}), 0
		}
		at += len(t)
	}
	return out
}
