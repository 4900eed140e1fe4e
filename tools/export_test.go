package tools

// Simple and Strict are the two ways to read.
var (
	Simple = simple
	Strict = strict
)
