//go:build !linux

package files

// Vigil hears of what is done to the files while nobody looks at them. Here there is none.
type Vigil struct{}

// NewVigil returns nil: the kernel can't be asked.
func NewVigil(func(name string, f func())) *Vigil { return nil }

// Begin has all heard that is done to the files from now on. It is false: nothing is.
func (*Vigil) Begin(*Held) bool { return false }

// News returns a channel that holds a token when something was done since Begin.
func (*Vigil) News() <-chan struct{} { return nil }

// Close ends the vigil.
func (*Vigil) Close() {}
