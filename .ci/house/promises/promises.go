// Package promises holds the source to what Fantail promises, one line each in spec.md.
//
// Does: find promises that no test names, and numbers that a test names and no line has.
//
// Does not: run a test, or judge whether it tests what the line says.
package promises

import (
	"go/ast"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"fantail/.ci/house"
	"fantail/.ci/house/tree"
)

// File holds the promises, under a heading for each letter.
const File = ".ci/house/promises/spec.md"

// most is how long a line may be, in bytes.
const most = 140

var (
	heading = regexp.MustCompile(`^## ([A-Z]): .`)
	promise = regexp.MustCompile("^- (([A-Z])-[1-9][0-9]*): [A-Z0-9`].*[.]$")
	named   = regexp.MustCompile(`Spec: ([^.]*)\.`)
	number  = regexp.MustCompile(`^[A-Z]-[1-9][0-9]*$`)
)

// Rule checks both directions.
func Rule() house.Rule {
	const (
		one  = "-- " + File + " --\n# Title\n\nProse.\n\n## Q: queues\n\n- Q-1: You queue.\n"
		two  = one + "- Q-2: You wait.\n"
		test = "-- a_test.go --\npackage a\n// Spec: Q-1.\nfunc TestA() {}\n"
	)
	return house.Rule{Name: "promises have a line and a test", Check: check, Bad: []string{
		test, // no spec.md
		two + test,
		one + test + "// Spec: Q-1, Q-2.\nfunc TestB() {}\n",
		one + test + "// Spec: Q1.\nfunc TestB() {}\n",
		one + test + "// Spec: Q-1.\nfunc b() {}\n",
		one + test + "-- a.go --\npackage a\n// Spec: Q-1.\nfunc TestB() {}\n",
		one + "- Q-1: You queue again.\n" + test,
		one + "Q-2: You wait.\n" + test,
		one + "- Q2: You wait.\n" + test,
		one + "- Q-1 You wait.\n" + test,
		one + "- Q-2: You wait\n" + test,
		one + "- M-1: You wait.\n" + test + "// Spec: M-1.\nfunc TestB() {}\n",
		one + "- Q-2: You wait" + strings.Repeat(" and wait", 20) + ".\n" + test + "// Spec: Q-2.\nfunc TestB() {}\n",
	}, Good: []string{
		one + test,
		two + test + "// TestB waits.\n//\n// Spec: Q-1,\n// Q-2.\nfunc TestB() {}\n",
		one + test + "// Specs: Q-9 and so on\nfunc TestB() {}\n",
	}}
}

// check finds lines that are wrong or that no test names, and numbers without a line.
func check(t *tree.Tree) tree.Findings {
	held, f := Held(t)
	lines := read(t, &f)
	there := map[string]bool{}
	for _, id := range lines {
		if there[id] {
			f.Add("%s: %s has two lines; keep one", File, id)
		} else if len(held[id]) == 0 {
			f.Add("%s: no test names %s; write one, or name it in the comment of the test that holds it (Spec: %s)", File, id, id)
		}
		there[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(held)) {
		if !there[id] {
			f.Add("%s has no line for %s, which %s names; write what you promise there", File, id, strings.Join(held[id], " and "))
		}
	}
	return f
}

// read returns the numbers of spec.md.
func read(t *tree.Tree, f *tree.Findings) (ids []string) {
	text, err := fs.ReadFile(t.FS, File)
	if err != nil {
		f.Add("read the promises: %v", err)
		return nil
	}
	letter := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := heading.FindStringSubmatch(line); m != nil {
			letter = m[1]
			continue
		}
		if letter == "" || line == "" {
			continue // the text above the first heading describes the file
		}
		if m := promise.FindStringSubmatch(line); m == nil || m[2] != letter || len(line) > most {
			f.Add("%s: %q is no promise; write \"- %s-1: A sentence.\" in at most %d bytes", File, line, letter, most)
		} else {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// Held returns which promises the comments of tests name, and the tests that do.
func Held(t *tree.Tree) (table map[string][]string, f tree.Findings) {
	table = map[string][]string{}
	for _, s := range t.Files {
		for _, d := range s.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, m := range named.FindAllStringSubmatch(fn.Doc.Text(), -1) {
				for _, id := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
					switch {
					case !s.Test || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz"):
						f.Add("%s: %s is named at %s, which is no test; name it where it is tested", t.At(fn), id, fn.Name.Name)
					case !number.MatchString(id):
						f.Add("%s: %q is no number of a promise; write it as in Spec: Q-1", t.At(fn), id)
					default:
						table[id] = append(table[id], fn.Name.Name)
					}
				}
			}
		}
	}
	return table, f
}
