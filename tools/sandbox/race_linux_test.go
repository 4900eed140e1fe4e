//go:build race && linux

package sandbox_test

const raced = true
