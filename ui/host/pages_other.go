//go:build !linux

package host

// givePages does nothing: only Linux is asked to.
func givePages() {}
