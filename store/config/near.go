package config

import "strings"

// Nearest returns the word that is most similar to s, the first of equals; "" if none is similar. A third of the
// letters may be wrong, and a prefix of a word counts as one wrong letter.
func Nearest(s string, words []string) string {
	best, least := "", 1+max(1, len(s)/3)
	if s = strings.ToLower(s); s == "" {
		return ""
	}
	for _, w := range words {
		d := distance(s, w)
		if strings.HasPrefix(w, s) {
			d = min(d, 1)
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, change or swap with their neighbour to turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
