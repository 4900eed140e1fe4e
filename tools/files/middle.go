package files

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Middle shortens a text of more than that many bytes to its beginning and end, and says how many bytes are left out.
func Middle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/2, len(s)-most/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n… %d bytes are left out …\n%s", strings.ToValidUTF8(s[:head], "�"), tail-head, strings.ToValidUTF8(s[tail:], "�"))
}
