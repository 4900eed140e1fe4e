//go:build !race

package cli_test

// raced is explained where it is true.
const raced = false
