package mcp

import (
	"fmt"
	"net/url"
	"strings"
)

const maxAddress = 2000 // bytes of one

// BrowserURL parses an address that a human is to visit. It must be the complete address of a web
// page, without invisible or look-alike characters and without a user name before the host.
func BrowserURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	odd := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || len(text) > maxAddress || strings.ContainsFunc(text, odd) {
		return nil, fmt.Errorf("%.100q is no address that can be visited", text)
	}
	return u, nil
}
