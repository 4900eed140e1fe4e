package markdown

import (
	"strings"
)

// define gives every block the link reference definitions that it uses, from anywhere in the source.
func define(blocks []Block) {
	var defs map[string]string
	for _, b := range blocks {
		if b.Kind == Paragraph || b.Kind == Item || b.Kind == Quote {
			for line := range strings.Lines(b.Source) {
				if label, ok := definition(line); ok {
					if defs == nil {
						defs = map[string]string{}
					}
					if _, twice := defs[label]; !twice { // the first one counts
						defs[label] = strings.TrimSpace(line) + "\n"
					}
				}
			}
		}
	}
	if defs == nil {
		return
	}
	for i := range blocks {
		if b := &blocks[i]; b.Kind != Code && b.Kind != Raw {
			b.defs = used(b.Source, defs)
		}
	}
}

// definition returns the label a line defines.
func definition(line string) (string, bool) {
	line = strings.TrimLeft(line, " \t>")
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[^") {
		return "", false
	}
	i := strings.Index(line, "]:")
	if i < 2 || strings.ContainsAny(line[1:i], "[]") || strings.TrimSpace(line[i+2:]) == "" {
		return "", false
	}
	return fold(line[1:i]), true
}

// used returns the definitions of the labels in brackets in src.
func used(src string, defs map[string]string) string {
	var out strings.Builder
	var seen map[string]bool
	for {
		i := strings.IndexByte(src, '[')
		if i < 0 {
			return out.String()
		}
		src = src[i+1:]
		j := strings.IndexAny(src, "[]")
		if j < 0 {
			return out.String()
		}
		if src[j] == ']' {
			label := fold(src[:j])
			if d, ok := defs[label]; ok && !seen[label] && !strings.HasPrefix(src[j+1:], ":") {
				if seen == nil {
					seen = map[string]bool{}
				}
				seen[label] = true
				out.WriteString(d)
			}
		}
		src = src[j:]
		if src[0] == ']' {
			src = src[1:]
		}
	}
}

// fold makes labels comparable.
func fold(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}
