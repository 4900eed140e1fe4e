package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

const (
	maxPages  = 200      // of a list
	maxEmpty  = 10       // of those with nothing on them, one after the other
	maxList   = 32 << 20 // bytes of a list
	maxCursor = 64 << 10 // bytes of what names its next page
)

// readPages reads a list, page by page: at most so many items. A page that was read before, as far as its
// name says, ends it. What was read before an error is returned with it.
func readPages[T any](most int, page func(cursor string) (items []*T, next string, err error)) (all []*T, err error) {
	seen, cursor, size, empty := map[[sha256.Size]byte]bool{}, "", 0, 0
	for range maxPages {
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
			if size += len(b); size > maxList {
				return all, fmt.Errorf("the list has more than %d MiB", maxList>>20)
			}
			all = append(all, item)
		}
		if empty++; len(items) > 0 {
			empty = 0
		}
		sum := sha256.Sum256([]byte(next))
		switch {
		case len(next) > maxCursor:
			return all, fmt.Errorf("the name of the list's next page has %d bytes", len(next))
		case next == "" || seen[sum] || len(all) == most || empty == maxEmpty:
			return all, nil
		}
		seen[sum], cursor = true, next
	}
	return all, nil
}
