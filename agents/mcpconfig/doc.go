// Package mcpconfig reads which MCP servers are configured, and where, and decides which of them may start.
package mcpconfig
