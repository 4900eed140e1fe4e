//go:build race

package figures

// raced is whether the race detector watches this program.
const raced = true
