//go:build !linux

package guard

func dumpable() uintptr { return 0 }
