package tools

import "context"

// SampleRequest is a program's request to the model. The program wrote all of it.
type SampleRequest struct {
	From   string // the program
	System string
	Said   []SampleMessage
	Most   int      // tokens of the answer
	Stops  []string // texts before which the answer ends
}

// SampleMessage is a part of the conversation in the request.
type SampleMessage struct {
	ByModel bool // false: the program wrote it
	Text    string
}

// SampleReply is the model's answer.
type SampleReply struct {
	Text    string
	Model   string
	Cut     bool // at the most tokens
	Stopped bool // before one of Stops
}

// Sampler asks the model of the agent whose call the program is working on.
type Sampler func(ctx context.Context, call string, q SampleRequest) (SampleReply, error)
