package place

import (
	"errors"
	"fmt"
	"os"
)

// Ground returns a function that says whether the workspace's root is still the directory it is now:
// it may be moved away under a host that stays, or another one put in its place.
func Ground(root string) (func() error, error) {
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
