package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadPages(t *testing.T) {
	item, broken := "x", errors.New("broken")
	long := strings.Repeat("y", maxList/4)
	for name, c := range map[string]struct {
		page  func(n int) ([]*string, string, error)
		items int
		pages int
		says  string
	}{
		"one":      {func(int) ([]*string, string, error) { return []*string{&item, nil}, "", nil }, 1, 1, ""},
		"circle":   {func(int) ([]*string, string, error) { return []*string{&item}, "again", nil }, 2, 2, ""},
		"endless":  {func(n int) ([]*string, string, error) { return []*string{&item}, fmt.Sprint(n), nil }, maxPages, maxPages, ""},
		"empty":    {func(n int) ([]*string, string, error) { return nil, fmt.Sprint(n), nil }, 0, maxEmpty, ""},
		"many":     {func(n int) ([]*string, string, error) { return make10(&item), fmt.Sprint(n), nil }, 300, 30, ""},
		"breaks":   {func(n int) ([]*string, string, error) { return []*string{&item}, "next", pick(n > 0, broken) }, 1, 2, "broken"},
		"big":      {func(n int) ([]*string, string, error) { return []*string{&long}, fmt.Sprint(n), nil }, 3, 4, "more than 32 MiB"},
		"far away": {func(int) ([]*string, string, error) { return []*string{&item}, strings.Repeat("z", maxCursor+1), nil }, 1, 1, "next page"},
	} {
		n := 0
		all, err := readPages(300, func(string) ([]*string, string, error) {
			n++
			return c.page(n - 1)
		})
		if len(all) != c.items || n != c.pages || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d items on %d pages, %v", name, len(all), n, err)
		}
	}
}

func make10(s *string) (all []*string) {
	for range 10 {
		all = append(all, s)
	}
	return all
}

func pick(fails bool, err error) error {
	if fails {
		return err
	}
	return nil
}
