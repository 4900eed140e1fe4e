//go:build race

package agents_test

// maxGrowth is how many times its text a long reply may take: the race detector
// keeps notes of its own about memory.
const maxGrowth = 6

// lifetimes is how many agents live at random in a long run: the race detector makes them slow.
const lifetimes = 150
