// Package cli is the sub-commands: flags, one-shot prompts (-p), doctor, deposits, models, and the
// MCP server.
package cli
