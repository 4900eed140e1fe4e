package front

// Simple and Strict are the two ways to read.
var (
	Simple = simple
	Strict = strict
)
