package files

import (
	"bytes"
	"fmt"
	"strings"
)

// Edit is one replacement.
type Edit struct {
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all"`
}

// ApplyEdits makes all edits, each on the result of those before it. In a file whose lines all end in CRLF, line ends
// in the edits mean CRLF too; if only some lines do, only if old matches that way.
func ApplyEdits(text string, edits []Edit, name string) (string, error) {
	crlf, some := allCRLF(text), strings.Contains(text, "\r\n")
	for i, ed := range edits {
		if crlf || some && !strings.Contains(text, ed.Old) && strings.Contains(text, toCRLF(ed.Old)) {
			ed.Old, ed.New = toCRLF(ed.Old), toCRLF(ed.New)
		}
		n := strings.Count(text, ed.Old)
		which := ""
		if len(edits) > 1 {
			which = fmt.Sprintf(" (edit %d)", i+1)
		}
		switch {
		case n == 0:
			return "", fmt.Errorf("old%s does not stand in %s%s. Nothing was changed", which, name, hint(text, ed.Old))
		case n > 1 && !ed.ReplaceAll:
			return "", fmt.Errorf("old%s stands %d times in %s, at lines %s: add lines around it to make it unique, or set replace_all. Nothing was changed",
				which, n, name, places(text, ed.Old))
		case ed.ReplaceAll:
			text = strings.ReplaceAll(text, ed.Old, ed.New)
		default:
			text = strings.Replace(text, ed.Old, ed.New, 1)
		}
	}
	return text, nil
}

// bom is the byte order mark of UTF-8.
const bom = "\ufeff"

// Replacing returns text in the form of before, which it replaces: with its byte order mark, and with CRLF if all its
// lines end so. kept names what it added to text; "": nothing.
func Replacing(before, text string) (as, kept string) {
	as = text
	if allCRLF(before) {
		if as = toCRLF(as); as != text {
			kept = "its line ends (CRLF)"
		}
	}
	if strings.HasPrefix(before, bom) && !strings.HasPrefix(as, bom) {
		as = bom + as
		if kept != "" {
			kept = " and " + kept
		}
		kept = "its byte order mark" + kept
	}
	return as, kept
}

// IsUTF16 reports whether data is UTF-16, which code for UTF-8 must not change: it begins with a mark, or every second
// byte of its beginning is mostly zero.
func IsUTF16(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return true
	}
	var zeros [2]int
	data = data[:min(len(data), sniff)]
	for i, b := range data {
		if b == 0 {
			zeros[i%2]++
		}
	}
	most := max(zeros[0], zeros[1])
	return len(data) >= 4 && len(data)%2 == 0 && min(zeros[0], zeros[1]) == 0 && most*4 > len(data)
}

// allCRLF reports whether a text has lines and all of them end in CRLF.
func allCRLF(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && n == strings.Count(text, "\r\n")
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// places lists the lines at which sub begins.
func places(text, sub string) string {
	var at []string
	ln, pos := 1, 0
	for {
		i := strings.Index(text[pos:], sub)
		if i < 0 {
			break
		}
		ln += strings.Count(text[pos:pos+i], "\n")
		if len(at) == 10 {
			return strings.Join(append(at, "…"), ", ")
		}
		at = append(at, fmt.Sprint(ln))
		ln += strings.Count(sub, "\n")
		pos += i + len(sub)
	}
	return strings.Join(at, ", ")
}

// hint describes text that is similar to old.
func hint(text, old string) string {
	have, want := strings.Split(text, "\n"), strings.Split(strings.Trim(old, "\r\n"), "\n")
	var same, first []string
	for i := range have {
		if strings.TrimSpace(have[i]) != strings.TrimSpace(want[0]) {
			continue
		}
		first = append(first, fmt.Sprint(i+1))
		all := i+len(want) <= len(have)
		for k := 0; all && k < len(want); k++ {
			all = strings.TrimSpace(have[i+k]) == strings.TrimSpace(want[k])
		}
		if all {
			same = append(same, fmt.Sprint(i+1))
		}
	}
	cut := func(l []string) string {
		if len(l) > 5 {
			l = append(l[:5:5], "…")
		}
		return strings.Join(l, ", ")
	}
	switch {
	case strings.TrimSpace(old) == "":
		return ""
	case len(same) > 0:
		return "; at line " + cut(same) + " it does but for white space: copy it exactly"
	case len(first) > 0 && len(want) > 1 && strings.TrimSpace(want[0]) != "":
		return "; its first line stands at line " + cut(first) + ", what follows differs: read the file again"
	}
	return "; read the file and copy the text exactly, without the line numbers"
}
