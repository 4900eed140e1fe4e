// Package paging reads lists that come page by page.
//
// Does: read one until it ends, or goes round in circles; bound its items, its pages and its size.
//
// Does not: know what is in it.
//
// Imports: .
package paging

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

const (
	mostPages  = 200      // of a list
	mostEmpty  = 10       // of those with nothing on them, one after the other
	mostList   = 32 << 20 // bytes of a list
	mostCursor = 64 << 10 // bytes of what names its next page
)

// Read reads a list, page by page: at most so many items. A page that was read before, as far as its
// name says, ends it. What was read before an error is returned with it.
func Read[T any](most int, page func(cursor string) (items []*T, next string, err error)) (all []*T, err error) {
	seen, cursor, size, empty := map[[sha256.Size]byte]bool{}, "", 0, 0
	for range mostPages {
		items, next, err := page(cursor)
		if err != nil {
			return all, err
		}
		for _, item := range items {
			if item == nil || len(all) == most {
				continue
			}
			b, err := json.Marshal(item)
			if err != nil {
				return all, err
			}
			if size += len(b); size > mostList {
				return all, fmt.Errorf("the list has more than %d MiB", mostList>>20)
			}
			all = append(all, item)
		}
		if empty++; len(items) > 0 {
			empty = 0
		}
		sum := sha256.Sum256([]byte(next))
		switch {
		case len(next) > mostCursor:
			return all, fmt.Errorf("the name of the list's next page has %d bytes", len(next))
		case next == "" || seen[sum] || len(all) == most || empty == mostEmpty:
			return all, nil
		}
		seen[sum], cursor = true, next
	}
	return all, nil
}
