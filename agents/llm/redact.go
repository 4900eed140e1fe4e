package llm

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const redactedKey = "[key]"

// maxShownKey is how many characters in a row of a key may be shown: servers repeat
// parts of a wrong key.
const maxShownKey = 7

var escapes = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\^_])")

var secretNames = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password`)

// Secrets returns the values in h that must never be shown, judged by the names of the headers.
func Secrets(h http.Header) []string {
	var found []string
	for name, values := range h {
		if secretNames.MatchString(name) {
			found = append(found, values...)
		}
	}
	return found
}

// clean returns a server's text for the screen: one line without escape sequences,
// control characters, direction marks and keys.
func (p *Endpoint) clean(s string) string {
	if len(s) > errorLimit {
		s = s[:errorLimit]
	}
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, ""), "")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for _, secret := range p.Secrets {
		s = redact(s, secret)
	}
	return s
}

// redact removes secret from s: as it is, in the encodings that a server's answer may
// hold, and in parts.
func redact(s, secret string) string {
	if len(secret) < 4 { // too short for a key, and part of many words
		return s
	}
	quoted, _ := json.Marshal(secret) // of a string never fails
	raw := []byte(secret)
	for _, form := range []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), html.EscapeString(secret),
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	} {
		s = strings.ReplaceAll(s, form, redactedKey)
		s = strings.ReplaceAll(s, strings.ToLower(form), redactedKey)
	}
	if len(secret) > maxShownKey {
		s = redactParts(s, secret)
	}
	return s
}

// redactParts removes each part of secret from s that is longer than maxShownKey.
func redactParts(s, secret string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		n := 0
		for i+maxShownKey+n < len(s) && strings.Contains(secret, s[i:i+maxShownKey+n+1]) {
			n++
		}
		if n == 0 {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(redactedKey)
		i += maxShownKey + n
	}
	return out.String()
}
