package sqlite

import (
	"errors"
	"strings"
	"testing"
)

// TestExplain_memory: an allocation failure in the driver is reported as ErrMemory, once.
func TestExplain_memory(t *testing.T) {
	for said, memory := range map[string]bool{
		"CString: cannot allocate 262145 bytes":      true,
		"sqlite: cannot allocate 16 bytes of memory": true,
		"no such table: cannot":                      false,
	} {
		err := explain(explain(errors.New(said)))
		if errors.Is(err, ErrMemory) != memory || !strings.HasSuffix(err.Error(), said) || memory && strings.Count(err.Error(), "ulimit -d") != 1 {
			t.Errorf("%q is told as %q", said, err)
		}
	}
}
