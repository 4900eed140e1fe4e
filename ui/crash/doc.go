// Package crash catches panics and signals, ends commands, and restores the terminal.
package crash
