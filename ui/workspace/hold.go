package workspace

import (
	"errors"
	"fmt"
	"os"
)

// HoldGround returns a function that returns an error unless the workspace's root is still the same directory: it may
// be moved away while a host runs, or replaced by another one.
func HoldGround(root string) (func() error, error) {
	was, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("look at the workspace: %w", err)
	}
	return func() error {
		switch is, err := os.Stat(root); {
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("the workspace %s was moved or deleted since the host started", root)
		case err != nil:
			return fmt.Errorf("the workspace can't be looked at any more (%w)", err)
		case !os.SameFile(was, is):
			return fmt.Errorf("the workspace %s is another directory than when the host started", root)
		}
		return nil
	}, nil
}
