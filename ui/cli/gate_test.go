package cli_test

import (
	"strconv"
	"strings"
	"testing"
)

// The start gate is initialised before nearly all of what the libraries and our own tables
// initialise: on a terminal nothing waits for that. The gate has its place by the order of import
// paths once what it imports is ready, and would lose it without a word.
func TestStartGateComesFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t).with("GODEBUG=inittrace=1")
	_, traced, code := s.run(t, "", "--help")
	if code != ok {
		t.Fatalf("exit code %d: %s", code, traced)
	}
	gate, before, all := false, 0, 0 // bytes
	for line := range strings.Lines(traced) {
		// init PATH @0.5 ms, 0.01 ms clock, 96 bytes, 2 allocs
		words := strings.Fields(line)
		if len(words) < 9 || words[0] != "init" {
			continue
		}
		path := words[1]
		if path == "fantail/ui/screen" {
			gate, before = true, all
			continue
		}
		host, _, _ := strings.Cut(path, "/")
		if strings.Contains(host, ".") || host == "fantail" {
			n, err := strconv.Atoi(words[7])
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			all += n
		}
		if !gate && (path == "net" || path == "modernc.org/sqlite/lib") {
			t.Errorf("%s is initialised before the start gate: something that it imports asks for it", path)
		}
	}
	if !gate || all < 1<<20 {
		t.Fatalf("seen: the gate %v, %d bytes:\n%s", gate, all, traced)
	}
	if before > all/20 {
		t.Errorf("%d of %d bytes are initialised before the start gate:\n%s", before, all, traced)
	}
}
