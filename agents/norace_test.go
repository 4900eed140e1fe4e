//go:build !race

package agents_test

// maxGrowth is how many times its text a long reply may take.
const maxGrowth = 3

// lifetimes is how many agents live at random in a long run.
const lifetimes = 2000
