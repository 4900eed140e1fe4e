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
	Strong             // names, titles, numbers of a list
	Dim                // secondary text
	Faint              // what is read last
	Accent             // focus: what a key acts on, and what runs
	User               // the human's text
	Answer             // the model's text
	Thinking
	Tool    // a tool call's title
	Message // mail
	Good    // success, added lines
	Bad     // failure, removed lines, urgent
	Danger  // a mode without any guard
	Warn    // only for what needs an answer from the user
	Ask     // the first line of a question
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

	Raised // surfaces, for [Theme.Under]: the human's prompt and a question
	Letter // mail
	Added  // lines of a diff, and the changed words in them
	Removed
	AddedWord
	RemovedWord
	numRoles
)

// roleNames are the roles' names in a theme's file.
var roleNames = [numRoles]string{
	"text", "strong", "dim", "faint", "accent", "user", "answer", "thinking", "tool", "message",
	"good", "bad", "danger", "warn", "ask",
	"tab-active", "tab-idle", "rule", "status", "selection", "code", "hunk", "border",
	"heading", "link", "comment", "keyword", "string", "number", "call", "type",
	"raised", "letter", "added", "removed", "added-word", "removed-word",
}

func (r Role) String() string { return roleNames[r] }

// Look is how a role looks. Color and Background are #rrggbb, the number of one
// of the terminal's colours, or empty for the terminal's own.
type Look struct {
	Color      string `toml:"color"`
	Background string `toml:"background"`
	Color256   string `toml:"color256"` // numbers that take the place of the colours in [Theme.In256]
	Ground256  string `toml:"background256"`
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
	ground     [numRoles]string // On writes it before a text
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

// Under gives line, which may be styled, the background of surface. The caller pads the line to its full width.
func (t *Theme) Under(surface Role, line string) string {
	open := t.open[surface]
	if open == "" {
		return line
	}
	return open + strings.NewReplacer("\x1b[m", "\x1b[m"+open, "\x1b[0m", "\x1b[m"+open).Replace(line) + t.shut[surface]
}

// In256 returns the theme for a terminal that shows 256 colours. Each role has its own number: a colour that is
// converted by distance may get another hue, which greys show most.
func (t *Theme) In256() *Theme {
	looks := t.looks
	for r := range looks {
		l := &looks[r]
		if l.Color256 != "" {
			l.Color = l.Color256
		}
		if l.Ground256 != "" {
			l.Background = l.Ground256
		}
	}
	return newTheme(t.Name, t.Dark, t.background, looks)
}

// On renders s as Paint does, on the surface of another role.
func (t *Theme) On(surface, r Role, s string) string {
	if s == "" || t.ground[surface] == "" {
		return t.Paint(r, s)
	}
	return t.open[r] + t.ground[surface] + s + "\x1b[m"
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
		ground := lipgloss.NewStyle().Underline(l.Underline).Reverse(l.Reverse)
		if l.Background != "" {
			ground = ground.Background(lipgloss.Color(l.Background))
		}
		t.ground[r], _, _ = strings.Cut(ground.Render("x"), "x")
	}
	return t
}

// colourless keeps what a terminal shows without colours. A background becomes reverse, so that what it marked stays
// marked; a surface, which has no colour, is left out. The changed words of a diff are underlined.
func (l Look) colourless(r Role) Look {
	if r == AddedWord || r == RemovedWord {
		return Look{Underline: true}
	}
	return Look{Bold: l.Bold, Underline: l.Underline, Reverse: l.Reverse || l.Background != "" && l.Color != ""}
}
