package shell

import (
	"path"
	"slices"
	"strings"
)

// writer describes how a program that otherwise only reads can be made to write a file, or to run a program.
type writer struct {
	letters string   // options of one letter that do
	valued  string   // letters that have a value, attached or as the next word
	long    []string // long options that do, which may be abbreviated
	begins  []string // beginnings of words that do
	reads   int      // how many operands are read, if the next one is written; 0: all are read
}

var writers = map[string]writer{
	"sort":   {letters: "o", valued: "kStT", long: []string{"--output", "--compress-program"}},
	"uniq":   {valued: "fsw", reads: 1},
	"xxd":    {valued: "closgnR", reads: 1},
	"tree":   {letters: "oR", valued: "LPIHT", long: []string{"--output"}},
	"sed":    {letters: "i", valued: "efl", long: []string{"--in-place"}},
	"find":   {begins: []string{"-delete", "-fprint", "-fls", "-exec", "-ok"}},
	"fd":     {letters: "xX", valued: "dtoeESc", long: []string{"--exec", "--exec-batch"}},
	"rg":     {valued: "ABCEMTdefgjmrt", begins: []string{"--pre=", "--hostname-bin"}, long: []string{"--pre"}},
	"less":   {letters: "oOkT", valued: "bhjpPtxyz", long: []string{"--log-file", "--LOG-FILE", "--lesskey-file", "--lesskey-src", "--tag-file"}, begins: []string{"+"}},
	"bat":    {long: []string{"--pager"}},
	"file":   {letters: "C", valued: "efFmPS", long: []string{"--compile"}},
	"git":    {begins: []string{"-O"}, long: []string{"--output", "--output-directory", "--ext-diff", "--open-files-in-pager", "--receive-pack", "--exec"}},
	"fdfind": {letters: "xX", long: []string{"--exec", "--exec-batch"}},
}

// Writes reports whether a command's words make it write a file or run a program, though by itself it only reads. For a
// program in no table it returns false. It returns true in doubt.
func Writes(words []string) bool {
	name := path.Base(words[0])
	w, known := writers[name]
	if !known {
		return false
	}
	operands, script, ended := 0, name == "sed", false
	for i := 1; i < len(words); i++ {
		text := words[i]
		switch {
		case text == "--" && !ended:
			ended = true
		case ended || len(text) < 2 || text[0] != '-' && !w.starts(text):
			if operands++; script && operands == 1 && !plainScript(text) {
				return true
			}
		case w.starts(text):
			return true
		case name == "find":
		case text[1] == '-':
			if w.longs(text) || name == "sed" && strings.HasPrefix(text, "--f") {
				return true
			}
			if _, of, is := strings.Cut(text, "="); is && name == "sed" && strings.HasPrefix(text, "--e") {
				if script = false; !plainScript(of) {
					return true
				}
			}
		default:
			letter, value := w.cluster(text[1:])
			if letter == told {
				return true
			}
			if letter == 0 {
				continue
			}
			if value == "" && i+1 < len(words) {
				i++
				value = words[i]
			}
			if name == "sed" && (letter == 'f' || letter == 'e' && !plainScript(value)) {
				return true
			}
			script = script && letter != 'e'
		}
	}
	return w.reads > 0 && operands > w.reads
}

// told marks an option letter that makes a program write.
const told = byte('!')

// cluster reads letters after one dash: it returns told, or the letter whose value is the rest or, if that is empty,
// the next word; 0: none has a value.
func (w writer) cluster(letters string) (letter byte, value string) {
	for i := range len(letters) {
		switch l := letters[i]; {
		case strings.IndexByte(w.letters, l) >= 0:
			return told, ""
		case strings.IndexByte(w.valued, l) >= 0:
			return l, letters[i+1:]
		}
	}
	return 0, ""
}

func (w writer) starts(text string) bool {
	return slices.ContainsFunc(w.begins, func(b string) bool { return strings.HasPrefix(text, b) })
}

// longs reports whether a word is one of the long options, or an abbreviation of one.
func (w writer) longs(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return len(name) > 2 && slices.ContainsFunc(w.long, func(l string) bool { return strings.HasPrefix(l, name) })
}

// plainScript reports whether a script of sed is known to write no file and to run nothing.
func plainScript(text string) bool {
	return !strings.ContainsAny(text, "wWe") || plainSed.MatchString(text)
}
