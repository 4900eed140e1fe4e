// Package mcp connects to MCP servers and offers their tools. It logs in where a server asks for
// it.
//
// It does not choose which servers run.
package mcp
