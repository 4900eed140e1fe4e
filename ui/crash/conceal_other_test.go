//go:build !linux

package crash

func dumpable() uintptr { return 0 }
