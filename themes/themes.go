// Package themes is colours with meaning.
//
// Does: load the embedded themes, give each role of the screen its style, and
// pick a default for the terminal's background.
//
// Does not: know a region of the screen, ask the terminal anything.
//
// Imports: nothing of ours.
package themes

import "charm.land/lipgloss/v2"

// Role is what a piece of the screen means.
type Role int

const (
	Text   Role = iota // ordinary text
	Dim                // secondary text
	Accent             // the focused thing, names, keys
	User               // what the human wrote
	Answer             // the model's words
	Thinking
	Tool    // a tool call's title
	Message // a card from the inbox
	Good    // success, added lines
	Bad     // failure, removed lines
	Warn    // questions, urgent
	TabActive
	TabIdle
	Rule   // lines between regions
	Status // the status line
	Selection
	Code
	Hunk   // a diff's hunk header
	Border // a box's border
	numRoles
)

// Theme is a set of styles. It is immutable.
type Theme struct {
	Name   string
	Dark   bool
	styles [numRoles]lipgloss.Style
}

// Style returns the role's style.
func (t *Theme) Style(r Role) lipgloss.Style { return t.styles[r] }

// Paint renders s (one line, already clean) in the role's style.
func (t *Theme) Paint(r Role, s string) string { panic("contract") }

// Names lists the themes: "dark", "light", "ansi" and so on.
func Names() []string { panic("contract") }

// Load returns the theme of that name; the error lists the names. With NoColor
// styles keep bold, underline and reverse, and lose colours.
func Load(name string, noColor bool) (*Theme, error) { panic("contract") }
