// Package mcp lets agents use the tools of other programs, which speak the Model Context Protocol.
//
// Does: say how a server is reached, start it when it is first needed, keep one for a workspace, and know how it is.
//
// Does not: read configurations, decide whether a server may start or a call may run, ask anybody.
//
// Imports: tools, tools/content, tools/mcp/form, tools/mcp/login, tools/mcp/signin, tools/ownfile, tools/permit,
// tools/picture, tools/proc, tools/sandbox, tools/secret.
package mcp

import "time"

// Server is how a server is reached: a program that it starts, or an address. Which of both is said by Command and URL: one
// of them is empty.
type Server struct {
	Name  string
	Place string // where that is said, for people: ".mcp.json:3:5"
	Own   bool   // by the user's own configuration, and not by what the workspace brings

	Command string
	Args    []string
	Env     map[string]string // beside what commands get

	URL     string // of a streamable HTTP server
	Headers map[string]string
	Client  string // the OAuth client that was registered for us; "": none was
	Secret  string // that client's

	Timeout time.Duration // of one call; 0: as long as usual
	Honest  bool          // the user trusts it to say which of its tools only read
}
