// Package frame turns text into lines of cells.
//
// Does: make any text safe for the terminal (the one sanitiser), measure, wrap,
// cut and pad lines that may hold our own styles, splice a box over lines.
//
// Does not: know colours, agents or layout.
//
// Imports: nothing of ours.
package frame

// Clean makes text from anywhere safe and displayable: the result holds only
// printable characters and newlines. Escape sequences are removed; other
// control characters, bidi controls, tag characters and invalid bytes become visible tokens; tabs become spaces; a
// lone CR overwrites its line; at most eight combining marks follow a character.
func Clean(s string) string { panic("contract") }

// CleanLine is Clean on one line: newlines become ⏎.
func CleanLine(s string) string { panic("contract") }

// Reveal is for what a human approves: nothing is removed or overwritten, every byte that is not
// plainly printable shows as a visible token; newlines stay.
func Reveal(s string) string { panic("contract") }

// Width is the number of cells of a line, styles not counted.
func Width(s string) int { panic("contract") }

// Wrap breaks clean text into lines of at most w cells, at spaces where it can.
func Wrap(s string, w int) []string { panic("contract") }

// Cut shortens a line (styles allowed) to w cells, ending in … if it was longer.
func Cut(s string, w int) string { panic("contract") }

// Fit cuts or pads a line to exactly w cells.
func Fit(s string, w int) string { panic("contract") }

// Overlay splices box over base with its upper left corner at x, y; it returns new lines.
func Overlay(base, box []string, x, y int) []string { panic("contract") }
