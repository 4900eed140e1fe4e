package screen

import "syscall"

// selects waits for one of the descriptors below n; t is how long at most, nil: for ever.
func selects(n int, in, out *syscall.FdSet, t *syscall.Timeval) error {
	return syscall.Select(n, in, out, nil, t)
}
