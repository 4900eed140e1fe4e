package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

const (
	maxPages  = 200      // pages of a list
	maxEmpty  = 10       // empty pages in a row
	maxList   = 32 << 20 // bytes of a list
	maxCursor = 64 << 10 // bytes of a cursor
)

// readPages reads a list page by page, at most `most` items. It stops at a page that was read
// before, as its cursor shows. After an error it also returns what was read before.
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
