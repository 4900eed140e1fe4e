//go:build !linux

package host

// adopts is for where orphans can be adopted.
func (h *Host) adopts(func(name string, f func()), func(pid int) bool) error { return nil }
