package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// place is where the chain ends: the number and the hash of its last row.
type place struct {
	chain string
	row   int64
	hash  string
}

// form is the format of the file. Each place has the same length, so that one write replaces it whole.
const form = "fantail audit 1\nchain %-26s\nrow %019d\nhash %-64s\n"

// head is the file that records where the chain ends. It may lag behind, if the program ended between a commit and the
// write, and is never ahead.
type head struct {
	path string

	mu  sync.Mutex // a leaf: commit hooks take it
	err error      // why the last write failed
}

// readHead returns the place in the file; the zero place if there is none.
func readHead(path string) (place, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place{}, nil
	case err != nil:
		return place{}, fmt.Errorf("the file audit.head can't be read: %w", err)
	}
	if f := strings.Fields(string(text)); len(f) == 9 && strings.Join(f[:3], " ") == "fantail audit 1" {
		if row, err := strconv.ParseInt(f[6], 10, 64); err == nil {
			return place{chain: f[4], row: row, hash: f[8]}, nil
		}
	}
	return place{}, errors.New("the file audit.head says nothing any more: somebody wrote something else into it")
}

// write records where the chain ends now. A commit hook calls it: it does not sync.
func (h *head) write(p place) {
	err := h.put(fmt.Appendf(nil, form, p.chain, p.row, p.hash))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

func (h *head) put(text []byte) error {
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return errors.Join(err, f.Close())
}

// trouble returns why the last write failed; nil: it did not.
func (h *head) trouble() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return fmt.Errorf("write where the audit ends: %w; free the disk, or mend the rights of the data directory", h.err)
	}
	return nil
}
