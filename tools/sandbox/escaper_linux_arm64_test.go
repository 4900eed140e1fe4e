package sandbox_test

import "golang.org/x/sys/unix"

func compat() error { return unix.ENOSYS }
func port() error   { return unix.ENOSYS }
