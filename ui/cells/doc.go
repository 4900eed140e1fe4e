// Package cells measures, cleans, cuts and wraps text for the cells of a terminal.
package cells
