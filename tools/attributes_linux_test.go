package tools

import "syscall"

// setAttribute reports whether the file system keeps extended attributes.
func setAttribute(path, name, value string) bool {
	return syscall.Setxattr(path, name, []byte(value), 0) == nil
}

func getAttribute(path, name string) string {
	b := make([]byte, 100)
	n, err := syscall.Getxattr(path, name, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}
