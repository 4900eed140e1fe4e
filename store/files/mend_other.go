//go:build !linux

package files

// SetAside renames nothing.
func (h *Held) SetAside(string) []string { return nil }
