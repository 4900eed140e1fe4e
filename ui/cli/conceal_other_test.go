//go:build !linux

package cli

func dumpable() uintptr { return 0 }
