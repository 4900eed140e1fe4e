//go:build !linux

package guard

import (
	"errors"
	"os"
)

// NeedRoom is not known here.
func NeedRoom() error { return nil }

// narrow is not known here.
func narrow() string { return "" }

// redirect is for where limits are known.
func redirect(*os.File, int) error { return errors.ErrUnsupported }
