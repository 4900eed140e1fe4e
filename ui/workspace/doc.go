// Package workspace is the workspace on disk: its directories, its lock and socket, its sandbox, its rules, and
// changes of its files.
package workspace
