// Package address says which addresses people may be sent to.
//
// Does: read an address that a server gives, and refuse one that does not say plainly where it leads.
//
// Does not: open one.
//
// Imports: .
package address

import (
	"fmt"
	"net/url"
	"strings"
)

const most = 2000 // bytes of one

// Visit reads an address that a human is to visit: of a web page, whole, with nothing in it that looks like another letter
// or is not seen, and nobody's name before its host.
func Visit(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	odd := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || len(text) > most || strings.ContainsFunc(text, odd) {
		return nil, fmt.Errorf("%.100q is no address that can be visited", text)
	}
	return u, nil
}
