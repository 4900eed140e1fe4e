package files

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// keepAttributes gives f the extended attributes of the file that it will replace: access lists, the owner's
// capabilities, labels. It ignores attributes that this process may not set.
func keepAttributes(dir *os.Root, base string, f *os.File) error {
	old, err := dir.OpenFile(base, oPath, 0)
	if err != nil {
		return PlainError(err)
	}
	defer old.Close()
	from := "/proc/self/fd/" + strconv.Itoa(int(old.Fd()))
	to := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	n, err := syscall.Listxattr(from, nil)
	if err != nil || n == 0 {
		return nil // none, or a file system without any
	}
	names := make([]byte, n)
	if n, err = syscall.Listxattr(from, names); err != nil {
		return fmt.Errorf("read extended attributes: %w", err)
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		size, err := syscall.Getxattr(from, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, size)
		if size, err = syscall.Getxattr(from, name, value); err != nil {
			continue
		}
		err = syscall.Setxattr(to, name, value[:size], 0)
		if err != nil && !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOTSUP) {
			return fmt.Errorf("keep extended attribute %s: %w", name, err)
		}
	}
	return nil
}
