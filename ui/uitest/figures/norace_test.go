//go:build !race

package figures

// raced is explained where it is true.
const raced = false
