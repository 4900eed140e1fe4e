//go:build !linux

package storetest

import "testing"

// Dir is a directory that ends with the test.
func Dir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}

// Memory does nothing here; it is for systems with a file system in memory.
func Memory() {}
