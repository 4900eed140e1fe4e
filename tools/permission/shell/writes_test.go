package shell

import (
	"strings"
	"testing"
)

// Programs that only read, and the options that make them write.
func TestWrites(t *testing.T) {
	for command, want := range map[string]bool{
		"git diff --output=x":           true,
		"git log --output x":            true,
		"git show --outp=x":             true,
		"git log -p --ext-diff":         true,
		"git grep -Osh x":               true,
		"git log --oneline -p":          false,
		"git diff --output-indicator=x": false,
		"sort a":                        false,
		"sort -k2 -to a":                false,
		"sort -uo x a":                  true,
		"sort --outp=x a":               true,
		"sort --compress-program=x a":   true,
		"uniq a":                        false,
		"uniq -f 1 a":                   false,
		"uniq a b":                      true,
		"uniq -c -- a b":                true,
		"xxd -l 16 a":                   false,
		"xxd -r a b":                    true,
		"tree -L 2 src":                 false,
		"tree -o x":                     true,
		"tree -ao x":                    true,
		"sed -n 5p a":                   false,
		"sed s/a/b/ a":                  false,
		"sed s/we/they/ a":              false,
		"sed -ne s/we/they/p a":         false,
		"sed -i s/a/b/ a":               true,
		"sed -Ei s/a/b/ a":              true,
		"sed --in-pl s/a/b/ a":          true,
		"sed s/a/b/wx a":                true,
		"sed -n wx a":                   true,
		"sed -newx a":                   true,
		"sed -e p -e wx a":              true,
		"sed --expression=wx a":         true,
		"sed --exp wx a":                true,
		"sed 1e a":                      true,
		"sed -f x a":                    true,
		"find . -name x":                false,
		"find . -fprintf x y":           true,
		"find . -delete":                true,
		"fd -e go x":                    false,
		"fd -Hx rm":                     true,
		"rg -e pre x":                   false,
		"rg --pretty x":                 false,
		"rg --pre x y":                  true,
		"rg --pre=x y":                  true,
		"less -o x a":                   true,
		"file -C -m x":                  true,
		"cat a b c":                     false,
		"/usr/bin/sort -o x a":          true,
	} {
		if got := Writes(strings.Fields(command)); got != want {
			t.Errorf("%s writes: %t", command, got)
		}
	}
}
