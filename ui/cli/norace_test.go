//go:build !race

package cli

// raced is explained where it is true.
const raced = false
