//go:build !linux

package storetest

import "testing"

// Dir is a directory that ends with the test.
func Dir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}

// Memory is for a system that keeps files in memory.
func Memory() {}
