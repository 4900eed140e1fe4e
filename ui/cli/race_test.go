//go:build race

package cli_test

// raced says that the program under test has the race detector, which makes it several times
// slower.
const raced = true
