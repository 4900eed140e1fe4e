package files

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// CheckGlob returns an error for an invalid glob. Matching can't be stopped and tries every combination of braces, so
// their number is limited.
func CheckGlob(name, glob string) error {
	switch {
	case strings.Count(glob, "{") > 4 || strings.Count(glob, ",") > 40 || len(glob) > 1000:
		return fmt.Errorf("the %s has %d bytes, %d {…} and %d commas; at most 1000, 4 and 40 are matched", name, len(glob), strings.Count(glob, "{"), strings.Count(glob, ","))
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("the %s %q is malformed: * and ? match within a name, ** any directories, [a-z] and {a,b} choose", name, glob)
	}
	return nil
}

// matchGlob matches as ripgrep does: a pattern without a slash matches names.
func matchGlob(glob, rel string) bool {
	if glob == "" {
		return true
	}
	if !strings.Contains(glob, "/") {
		rel = path.Base(rel)
	}
	ok, _ := doublestar.Match(strings.TrimPrefix(glob, "/"), rel)
	return ok
}
