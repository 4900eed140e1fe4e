// Package sample holds the words in which a program that works on a call asks the agent's model.
//
// Does: name what it may ask, and what it is answered.
//
// Does not: let it, ask anybody, send a request.
//
// Imports: .
package sample

import "context"

// Request is what a program asks. All of it is the program's text.
type Request struct {
	From   string // the program
	System string
	Said   []Said
	Most   int      // tokens of the answer
	Stops  []string // texts before which the answer ends
}

// Said is a part of the conversation that it makes up.
type Said struct {
	ByModel bool // else by the program
	Text    string
}

// Reply is what the model answers.
type Reply struct {
	Text    string
	Model   string
	Cut     bool // at the most tokens
	Stopped bool // before one of Stops
}

// Func asks the model of the agent whose call the program works on.
type Func func(ctx context.Context, call string, q Request) (Reply, error)
