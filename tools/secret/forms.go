package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// formsOf lists the ways to write a key's value: as it is, in JSON (once and in JSON within JSON), in a URL, quoted for
// a shell, in hexadecimal, and the part of it in base64 that is the same wherever it begins in the encoded text. None
// is short.
func formsOf(value string) []string {
	if len(value) < shortest {
		return nil
	}
	once := inJSON(value, false)
	all := []string{
		value, once, inJSON(value, true), inJSON(once, false), inJSON(inJSON(value, true), true), strings.ReplaceAll(once, "/", `\/`),
		inShell(value), strings.ReplaceAll(value, "'", `'\''`),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), inURL(value), inEncoded(value)} {
		all = append(all, escaped, lowerPercent(escaped))
	}
	for shift := range 3 {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, within(e, value, shift))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(form string) bool {
		// Line breaks don't count in the search.
		return len(form)-strings.Count(form, "\n")-strings.Count(form, "\r") < shortest
	})
}

// inJSON is s between JSON's quotes; html: with <, > and & escaped.
func inJSON(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// inURL is s with everything but letters, digits, dash, underscore, dot and tilde as %XX.
func inURL(s string) string { return percent(s, plain+"~") }

// inEncoded is s as encodeURIComponent writes it.
func inEncoded(s string) string { return percent(s, plain+"~!*'()") }

// inShell is s with a backslash before each character that a shell would not take literally.
func inShell(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x80 && !strings.ContainsRune(plain+"/%+:=@,", rune(c)) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// percent is s with each byte that is not in kept as %XX.
func percent(s, kept string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(kept, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{s[i]})))
		}
	}
	return b.String()
}

// lowerPercent is s with the digits after its percent signs in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// within is the part that is the same in every encoded text that holds value shift bytes after a group of three begins:
// all but the letters at its ends, which also hold bits of their neighbours.
func within(e *base64.Encoding, value string, shift int) string {
	coded := e.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	first := (shift*8 + 5) / 6
	last := (shift + len(value)) * 8 / 6
	return coded[first:last]
}
