//go:build race

package mcp

// everyByte is how many bytes further each message is cut: a child starts too slowly here for every one.
const everyByte = 7
