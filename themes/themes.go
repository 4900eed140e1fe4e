// Package themes has the colour themes: a style for each role of text on the screen.
//
// Does: load the embedded themes, give each role its style, and pick a default for the terminal's background.
//
// Does not: know a region of the screen, ask the terminal anything.
package themes

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Role is the meaning of a piece of text on the screen.
type Role int

const (
	Text   Role = iota // ordinary text
	Dim                // secondary text
	Accent             // the focused item, names, keys
	User               // the human's text
	Answer             // the model's text
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
	Hunk    // a diff's hunk header
	Border  // a box's border
	Heading // in markdown
	Link
	Comment // in code, as the five that follow
	Keyword
	String
	Number
	Call // a function's name
	Type
	numRoles
)

// roleNames are the roles' names in a theme's file.
var roleNames = [numRoles]string{
	"text", "dim", "accent", "user", "answer", "thinking", "tool", "message", "good", "bad", "warn",
	"tab-active", "tab-idle", "rule", "status", "selection", "code", "hunk", "border",
	"heading", "link", "comment", "keyword", "string", "number", "call", "type",
}

func (r Role) String() string { return roleNames[r] }

// Look is how a role looks. Color and Background are #rrggbb, the number of one
// of the terminal's sixteen colours, or empty for the terminal's own.
type Look struct {
	Color      string `toml:"color"`
	Background string `toml:"background"`
	Bold       bool   `toml:"bold"`
	Faint      bool   `toml:"faint"`
	Italic     bool   `toml:"italic"`
	Underline  bool   `toml:"underline"`
	Reverse    bool   `toml:"reverse"`
}

// Theme is a set of styles. It is immutable.
type Theme struct {
	Name       string
	Dark       bool
	background string // for measuring contrast; empty: the terminal's
	looks      [numRoles]Look
	styles     [numRoles]lipgloss.Style
	open       [numRoles]string // Paint writes open and shut around a text
	shut       [numRoles]string
}

// Style returns the role's style.
func (t *Theme) Style(r Role) lipgloss.Style { return t.styles[r] }

// Look returns how the role looks, for renderers with styles of their own.
func (t *Theme) Look(r Role) Look { return t.looks[r] }

// Paint renders s (one line, already clean, without styles) in the role's style.
func (t *Theme) Paint(r Role, s string) string {
	if s == "" || t.open[r] == "" {
		return s
	}
	return t.open[r] + s + t.shut[r]
}

// Default names the theme for a terminal with a dark or a light background.
func Default(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

// newTheme makes the styles of looks.
func newTheme(name string, dark bool, background string, looks [numRoles]Look) *Theme {
	t := &Theme{Name: name, Dark: dark, background: background, looks: looks}
	for r, l := range looks {
		s := lipgloss.NewStyle().Bold(l.Bold).Faint(l.Faint).Italic(l.Italic).Underline(l.Underline).Reverse(l.Reverse)
		if l.Color != "" {
			s = s.Foreground(lipgloss.Color(l.Color))
		}
		if l.Background != "" {
			s = s.Background(lipgloss.Color(l.Background))
		}
		t.styles[r] = s
		t.open[r], t.shut[r], _ = strings.Cut(s.Render("x"), "x")
	}
	return t
}

// colourless keeps what a terminal shows without colours. A background becomes
// reverse, so that what it marked stays marked.
func (l Look) colourless() Look {
	return Look{Bold: l.Bold, Underline: l.Underline, Reverse: l.Reverse || l.Background != ""}
}
